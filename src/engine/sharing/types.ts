// What the operations on shared logs take and return.
import type { LogName, LogPosition } from '../../model/index.js'
import type { LogHead, RemoteLease } from '../../remote/index.js'

/** How to write a log: with its lease, or as one of the writers of a thread, which has none. */
export type LogWriter = RemoteLease | { readonly log: LogName; readonly fence: null }

export type TakeLogRequest = {
  readonly log: LogName
  /** Null: until it is released. */
  readonly leaseMs: number | null
  /** Creates the log there if it is unknown or deleted. Otherwise an unknown one is SESSION_UNKNOWN. */
  readonly create?: boolean
  /** Replaces any holder: the user said so. What that holder has not shared becomes a fork on its host. */
  readonly force?: boolean
  /** Uses the lease that an earlier process of this store took, for remotes to which several processes ship. */
  readonly reuse?: boolean
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
  readonly position: LogPosition
}
