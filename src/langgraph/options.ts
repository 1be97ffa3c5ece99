// The options of a saver. Unknown options are rejected: a misspelt `files` would save no files, and a misspelt `home` would open
// another store.
import { types } from 'node:util'
import type { SerializerProtocol } from '@langchain/langgraph-checkpoint'
import { Project, SavestateError, type Store, type StoreOptions } from '../index.js'

export type SaverOptions = {
  readonly store: Store
  /** The folder that the graph works in. Required for `files`. */
  readonly project?: Project
  /** Saves the folder with every checkpoint. */
  readonly files?: boolean
  /** Replaces LangGraph's serializer. Every put then stores each list as a whole. */
  readonly serde?: SerializerProtocol
}

export type OpenSaverOptions = StoreOptions &
  Omit<SaverOptions, 'store' | 'project'> & { readonly project?: string }

/** A record, so that the compiler reports a missing option. */
type Known<Options> = Readonly<Record<keyof Options, true>>
const SAVER_OPTIONS: Known<SaverOptions> = { store: true, project: true, files: true, serde: true }
export const OPEN_OPTIONS: Known<OpenSaverOptions> = {
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
  remote: true,
  clock: true,
}

/** Throws BAD_INPUT. */
export function checkOptions(options: SaverOptions): void {
  rejectUnknown('SavestateSaver', options, SAVER_OPTIONS)
  const { project, files = false } = options
  if (project !== undefined && !(project instanceof Project)) {
    throw new SavestateError('BAD_INPUT', 'The option project must be a Project of the store', {
      hint: 'Pass the result of store.project(path), or use SavestateSaver.open, which takes a path.',
    })
  }
  if (files && project === undefined)
    throw new SavestateError('BAD_INPUT', 'files: true needs a project whose files it can save')
}

/** Throws BAD_INPUT. */
export function rejectUnknown(call: string, options: unknown, known: object): void {
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
