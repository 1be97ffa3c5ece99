// The options and results of the operations on shared logs.
import type { LogName, Project } from '../../model/index.js'
import type { Instant } from './leases/held-lease.js'
import type { LogHead, RemoteLease } from '../../remote/index.js'

/** How to write a log: with its lease, or as one of the writers of a thread or project, which has none. */
export type LogWriter = RemoteLease | { readonly log: LogName; readonly fence: null }

export type CreateLog = { readonly agent: string | null; readonly project: Project | undefined }

export type TakeLogRequest = {
  readonly log: LogName
  /** Null: until it is released. */
  readonly leaseMs: number | null
  /** Creates the log there if it is unknown or deleted. Otherwise an unknown one is SESSION_UNKNOWN. */
  readonly create?: CreateLog | undefined
  /** Replaces any holder: the user said so. Steps that the holder has not shared become a fork on its host. */
  readonly force?: boolean
  /** The lease belongs to this store: one of another process of it is replaced, even if that process lives (mode behind). */
  readonly ofStore?: boolean
  /** When the caller began: the same for each attempt, so that one whose answer was lost is recognized. */
  readonly sinceMs?: number | undefined
}

export type TakenLog = { readonly lease: RemoteLease; readonly head: LogHead }

export type CaughtUp = {
  /** How many segments of the remote were applied here. */
  readonly segments: number
  /** The session that got the steps of this host, if both had continued from one point. */
  readonly fork?: string
}

export type ShippedLog = {
  readonly segments: number
  /** As sent: compressed, and sealed if the remote has a key. */
  readonly bytes: number
  /** Checkpoints in these segments: new or changed. */
  readonly checkpoints: number
  /** Checkpoints were removed: the log may be worth compacting (`compactIfWorth`). `steps`: those of its card. */
  readonly removal?: { readonly steps: number }
  /** When the last segment was sent, if one was: the lease counts from then. */
  readonly renewedAt?: Instant
}
