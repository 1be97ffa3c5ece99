// A log: a session, a thread of a graph framework, or the checkpoints of a project that belong to no session, as a remote keeps it.
import type { LeaseOwner } from '../session.js'

export const LOG_KINDS = ['session', 'thread', 'project'] as const
export type LogKind = (typeof LOG_KINDS)[number]

/** `id` is the id of the session or thread, or of the project in the store that began the log. */
export type LogName = { readonly kind: LogKind; readonly id: string }

/** The position after a segment of a log. */
export type LogPosition = {
  /** The number of the next segment; the first is 1. */
  readonly nextN: number
  /** Grows when rows are removed on the remote. A writer that knows another epoch must send a base. */
  readonly epoch: number
  /** In hexadecimal; null if there is no segment yet. */
  readonly hash: string | null
}

/** The size of a log on a remote, which is known without reading it. */
export type LogSize = {
  readonly segments: number
  /** Those of a session; a thread has none here. */
  readonly checkpoints: number
}

/** The facts that `sessions --remote` shows of a log, and that `prune --remote` needs to leave it unread. Sealed if the remote has a key. */
export type LogCard = {
  readonly agent: string | null
  readonly project: string | null
  readonly steps: number
  readonly reason: string | null
  readonly statusReason: string | null
  /** When the first checkpoint was made that the session still has, and when the session was last used. Null: no session. */
  readonly ages: { readonly fromMs: number; readonly untilMs: number } | null
}

/** Why another process cannot write. Sealed if the remote has a key. */
export type LogHolder = {
  readonly owner: LeaseOwner
  readonly sinceMs: number
  /** Different for every claim. A claim whose answer was lost finds by it what it has taken. */
  readonly claim?: string
}

/** A project on a remote, where paths mean nothing. */
export type RemoteProject = {
  readonly id: string
  readonly name: string
  /** Identifies clones of one repository; null without an origin. */
  readonly origin: string | null
}

/** The git objects of a checkpoint that its parent pack does not have. */
export type PackRef = {
  readonly id: string
  readonly parent: string | null
  /** The snapshot that this pack completes. */
  readonly tree: string
}

export const INLINE_PACK_BYTES = 256 << 10
export const PACK_CHUNK_BYTES = 1 << 20
/** Mode wait. */
export const REMOTE_LEASE_MS = 30_000
/** Mode behind: a laptop that sleeps for a night keeps its session. */
export const LONG_LEASE_MS = 12 * 3_600_000
/** A holder starts nothing in the last part of its lease. */
export const LEASE_MARGIN_MS = 5000
