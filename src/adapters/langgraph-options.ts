// What a saver is made with. A misspelt `files` would save none, a misspelt `home` would work on another store.
import type { SerializerProtocol } from '@langchain/langgraph-checkpoint'
import {
  type Known,
  Project,
  refuseUnknown,
  SavestateError,
  STORE_OPTIONS,
  type Store,
  type StoreOptions,
} from '../index.js'

export type SaverOptions = {
  readonly store: Store
  /** The folder that the graph works in; needed for `files`. */
  readonly project?: Project
  /** Save the folder with every checkpoint. */
  readonly files?: boolean
  /** Instead of LangGraph's own. A list is then stored as a whole, anew at every put. */
  readonly serde?: SerializerProtocol
}

export type OpenSaverOptions = StoreOptions &
  Omit<SaverOptions, 'store' | 'project'> & { readonly project?: string }

const SAVER_OPTIONS: Known<SaverOptions> = { store: true, project: true, files: true, serde: true }
const { home, ...others } = STORE_OPTIONS
const OPEN_OPTIONS: Known<OpenSaverOptions> = {
  home,
  project: true,
  files: true,
  serde: true,
  ...others,
}

/** Throws BAD_INPUT, as all of these. */
export function checkOptions(options: SaverOptions): void {
  refuseUnknown('SavestateSaver', options, SAVER_OPTIONS)
  const { project, files = false } = options
  if (project !== undefined && !(project instanceof Project)) {
    throw new SavestateError('BAD_INPUT', 'The project of a SavestateSaver is not a path', {
      hint: 'Open it with store.project(path) and pass the result, or use SavestateSaver.open.',
    })
  }
  if (files && project === undefined)
    throw new SavestateError('BAD_INPUT', 'files: true needs a project whose files it can save')
}

export function checkOpenOptions(options: OpenSaverOptions): void {
  refuseUnknown('SavestateSaver.open', options, OPEN_OPTIONS)
}
