// The content of a segment: what one or several commits add to a log, in the numbers of that log (docs/internals/shared.md#segments).

/** Names an element, a node, a state or a tool call within its log. Never used twice. */
export type LogNumber = number

/** Names a segment: the start of its hash. */
export type SegmentMark = string

export type SharedValue = string | number | null
export type SharedRow = Readonly<Record<string, SharedValue>>

/** `saves` are the checkpoints of a project that belong to no session. */
export const SHARED_TABLES = [
  'session',
  'checkpoints',
  'tool_calls',
  'partials',
  'saves',
  'thread',
  'graph_checkpoints',
  'graph_writes',
] as const
export type SharedTable = (typeof SHARED_TABLES)[number]

export type SegmentContent = {
  readonly version: 1
  /** Replaces everything before it. */
  readonly isBase: boolean
  /** The segments that a base replaces (`replacedBy`). Absent if it begins the log, or begins it again after a deletion. */
  readonly replaced?: readonly SegmentMark[]
  /** Higher than any number that the log has used. */
  readonly nextNumber: LogNumber
  /** The form is PLAIN or TAGGED; sealed elements are opened first. */
  readonly elements: readonly (readonly [number: LogNumber, form: number, text: string])[]
  /** A child comes before its parent. */
  readonly nodes: readonly (readonly [number: LogNumber, children: readonly LogNumber[]])[]
  /** The root part of each state as JSON, with numbers in place of row ids. */
  readonly states: readonly (readonly [number: LogNumber, root: unknown])[]
  /** Whole rows. A receiver replaces the row of the same key. */
  readonly rows: Readonly<Partial<Record<SharedTable, readonly SharedRow[]>>>
  /** The key columns of removed rows. */
  readonly removed: Readonly<Partial<Record<SharedTable, readonly SharedRow[]>>>
}

/** The checkpoints among these rows: of a session, or of a project. */
export function checkpointRows(
  rows: Readonly<Partial<Record<SharedTable, readonly SharedRow[]>>>,
): readonly SharedRow[] {
  return [...(rows.checkpoints ?? []), ...(rows.saves ?? [])]
}
