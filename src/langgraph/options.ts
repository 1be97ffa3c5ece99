// The options of a saver. Unknown ones are refused: with a misspelt `files` nothing would be saved, and with a misspelt
// `home` the saver would work on another store.
import { types } from 'node:util'
import type { SerializerProtocol } from '@langchain/langgraph-checkpoint'
import { Project, SavestateError, type Store, type StoreOptions } from '../index.js'

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

/** Every option, so that the compiler reports a missing one. */
type Known<Options> = Readonly<Record<keyof Options, true>>
const SAVER_OPTIONS: Known<SaverOptions> = { store: true, project: true, files: true, serde: true }
const OPEN_OPTIONS: Known<OpenSaverOptions> = {
  home: true,
  project: true,
  files: true,
  serde: true,
  durability: true,
  limits: true,
  inProcess: true,
  shortLived: true,
  classes: true,
  encryption: true,
  clock: true,
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

function refuseUnknown(call: string, options: unknown, known: object): void {
  const isObject = typeof options === 'object' && options !== null && !types.isPromise(options)
  if (!isObject || Array.isArray(options))
    throw new SavestateError('BAD_INPUT', `${call} takes its options as an object`)
  const unknown = Object.keys(options).filter((name) => !Object.hasOwn(known, name))
  if (unknown.length === 0) return
  const names = unknown.map((name) => JSON.stringify(name)).join(', ')
  throw new SavestateError('BAD_INPUT', `${call} has no option ${names}`, {
    hint: `It takes ${Object.keys(known).join(', ')}.`,
  })
}
