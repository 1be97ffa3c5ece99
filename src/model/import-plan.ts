// What an import would add, as data: shown before it is done.

export const IMPORT_SYSTEMS = ['hermes', 'ares', 'breakpilot'] as const
export type ImportSystem = (typeof IMPORT_SYSTEMS)[number]

/** One history that was found: of a folder's files, or of a session's states. */
export type ImportSource = {
  readonly kind: 'hermes-v1' | 'hermes-v2' | 'hermes-task' | 'ares' | 'breakpilot'
  /** Where it was found, as text. */
  readonly source: string
  /** The folder whose files it holds, as text. */
  readonly project: string | null
  /** The session it becomes. */
  readonly session: string | null
  /** How many checkpoints would be added, and how many are there already. */
  readonly add: number
  readonly known: number
  /** Of all that can be read; null if nothing can. */
  readonly oldest: string | null
  readonly newest: string | null
}

/** One thing that is not imported, and why. */
export type ImportProblem = { readonly source: string; readonly message: string }

export type ImportPlan = {
  readonly sources: readonly ImportSource[]
  readonly add: number
  readonly known: number
  readonly problems: readonly ImportProblem[]
}

export function planImport(
  sources: readonly ImportSource[],
  problems: readonly ImportProblem[],
): ImportPlan {
  const sum = (count: (source: ImportSource) => number) =>
    sources.reduce((total, source) => total + count(source), 0)
  return { sources, add: sum(({ add }) => add), known: sum(({ known }) => known), problems }
}

/** The first and the last of some times, as text. */
export function timesOf(atMs: readonly number[]): Pick<ImportSource, 'oldest' | 'newest'> {
  if (atMs.length === 0) return { oldest: null, newest: null }
  const [first, last] = atMs.reduce(
    ([low, high], time) => [Math.min(low, time), Math.max(high, time)] as const,
    [Infinity, -Infinity] as const,
  )
  return { oldest: new Date(first).toISOString(), newest: new Date(last).toISOString() }
}
