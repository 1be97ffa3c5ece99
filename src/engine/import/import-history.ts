// The types of `importCheckpoints`: histories and its plan. The code that reads another tool's files (src/imports) and the code that
// stores them share nothing else.
import { type BytePath, hasCode, isError, SavestateError, type Status } from '../../model/index.js'

/** A line of commits in another git repository. Each commit becomes a checkpoint of a project. */
export type CommitHistory = {
  readonly type: 'commits'
  /** A label for the plan, such as `hermes-v2`. */
  readonly kind: string
  /** Where it was found, for messages. */
  readonly source: string
  /** The project's folder: absolute, without symlinks. It does not have to exist. */
  readonly path: BytePath
  /** The repository's objects folder. Git reads nothing else of the repository. */
  readonly objects: string
  /** The id of the newest commit. */
  readonly tip: string
  /** With the commit's id it forms the origin, by which the next import recognizes the commit. */
  readonly originPrefix: string
}

/** The states of an agent. Each becomes a checkpoint of a session. */
export type StateHistory = {
  readonly type: 'states'
  readonly kind: string
  readonly source: string
  /** The session's id there. Here it gets the import's prefix. */
  readonly id: string
  readonly agent?: string | null
  /** Set if older items may be missing: a session whose head has such an origin belongs to this history. */
  readonly originPrefix?: string
  /** Oldest first. */
  readonly items: readonly StateItem[]
}

export type StateItem = {
  readonly source: string
  /** Identifies the item: the same for every import of it. */
  readonly origin: string
  readonly createdAtMs: number
  readonly name?: string | null
  readonly reason?: string | null
  readonly status: Status
  readonly metadata: unknown
  readonly operationId?: string
  /** Reads the state when it is needed: all states of a history would not fit in memory. */
  readonly readState: () => Promise<unknown>
}

export type ImportHistory = CommitHistory | StateHistory

/** One item that is not imported, and why. */
export type ImportProblem = { readonly source: string; readonly message: string }

export type ImportSource = {
  readonly kind: string
  readonly source: string
  /** The folder of a history of commits, as text. */
  readonly project: string | null
  /** The session that a history of states becomes. */
  readonly session: string | null
  readonly add: number
  /** How many were imported before. */
  readonly known: number
  /** The times of all items that can be read; null if there are none. */
  readonly oldest: string | null
  readonly newest: string | null
}

export type ImportPlan = {
  readonly sources: readonly ImportSource[]
  readonly add: number
  readonly known: number
  readonly problems: readonly ImportProblem[]
}

/** How an import reports while it adds checkpoints. */
export type ImportReport = {
  readonly problems: ImportProblem[]
  /** Called after each item, added or not. */
  readonly onDone: () => void
}

/** A history with its plan. `add` returns how many checkpoints it added. */
export type PlannedHistory = {
  readonly view: ImportSource
  readonly problems: readonly ImportProblem[]
  readonly add: (report: ImportReport) => Promise<number>
}

const REFUSALS: readonly string[] = ['BAD_INPUT', 'PROJECT_REFUSED', 'STATE_UNSTORABLE']
const SYSTEM_REFUSALS = ['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM', 'EIO', 'ELOOP', 'ENAMETOOLONG']

/** The message of an error that the imported data causes. Throws any other error again: it ends the import. */
export function importFault(error: unknown): string {
  if (error instanceof SavestateError && REFUSALS.includes(error.code)) return error.message
  if (isError(error) && hasCode(error, ...SYSTEM_REFUSALS)) return error.message
  throw error
}

/** The first and last of some times, for a plan. */
export function timeRange(
  items: readonly { readonly createdAtMs: number }[],
): Pick<ImportSource, 'oldest' | 'newest'> {
  const [first, ...others] = items.map(({ createdAtMs }) => createdAtMs)
  if (first === undefined) return { oldest: null, newest: null }
  const oldest = others.reduce((a, b) => Math.min(a, b), first)
  const newest = others.reduce((a, b) => Math.max(a, b), first)
  return { oldest: new Date(oldest).toISOString(), newest: new Date(newest).toISOString() }
}
