// The requests of callers of the daemon, and the answers.
import { isRecord } from '../base/index.js'
import type { CallOptions, Project, SaveResult, Store, UntrustedFile } from '../internal.js'
import type { Line } from './json-lines.js'

export type SaveInput = {
  readonly reason?: string
  readonly name?: string
  readonly namedBy?: 'user' | 'agent'
}

/** Saves the project that a folder belongs to. */
export type SaveRequest = {
  readonly do: 'save'
  /** Absolute. */
  readonly folder: string
  readonly input: SaveInput
}

/** Handles an event of an agent. The payload follows with `go`. */
type HookCall = {
  readonly do: 'hook'
  /** The current folder of the hook. */
  readonly folder: string
  readonly agent: string
  readonly eventName: string
  readonly strict: boolean
}

export type DaemonRequest = SaveRequest | HookCall

/** The result of a save, and what else the command line prints about it. */
export type SaveAnswer = {
  readonly result: SaveResult
  readonly shortId: string
  readonly untrusted: readonly UntrustedFile[]
  readonly origin: Awaited<ReturnType<Project['internals']['origin']>>
  readonly notices: readonly string[]
}

/** Payloads contain whole files and the output of commands. */
export const MAX_INPUT_BYTES = 32 << 20

/** Undefined if malformed. */
export function parseRequest(line: Line): DaemonRequest | undefined {
  const { folder, agent, eventName, input } = line
  if (typeof folder !== 'string' || !folder.startsWith('/')) return undefined
  if (line['do'] === 'save') {
    if (!isRecord(input)) return undefined
    const { reason, name } = input
    const namedBy = input['namedBy'] === 'user' ? 'user' : 'agent'
    return {
      do: 'save',
      folder,
      input: {
        ...(typeof reason === 'string' ? { reason } : {}),
        ...(typeof name === 'string' ? { name, namedBy } : {}),
      },
    }
  }
  if (line['do'] !== 'hook' || typeof agent !== 'string' || typeof eventName !== 'string')
    return undefined
  return { do: 'hook', folder, agent, eventName, strict: line['strict'] === true }
}

/** The work of `savestate save`, in the daemon or in the process of the command. */
export async function saveProject(
  project: Project,
  of: { readonly store: Store; readonly input: SaveInput; readonly hooks: CallOptions },
): Promise<Pick<SaveAnswer, 'result' | 'shortId' | 'untrusted'>> {
  const result = await project.save({ ...of.input, ...of.hooks })
  const shortIds = await of.store.shortIds([result.id])
  const { untrusted } = await project.config()
  return { result, shortId: shortIds.get(result.id) ?? result.id, untrusted }
}
