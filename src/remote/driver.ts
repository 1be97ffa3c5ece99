// A driver stores opaque bytes: it never sees a state, a file or a key. The codec (`codec/`) turns a driver into a Remote.
//
// Rules for every driver:
// - `commit` changes nothing unless the log is at `before` (number, epoch and hash) and the fence is the caller's. It is atomic.
// - Segment numbers only grow. After a deletion, the log continues at the same number with the hash null and a higher epoch.
// - Errors are SavestateErrors: REMOTE_UNREACHABLE (worth a retry), REMOTE_REFUSED (not worth one), STORE_NEWER. No message has a password.
import type {
  LogKind,
  LogName,
  LogPosition,
  LogSize,
  RemoteKind,
  StatusWord,
} from '../model/index.js'
import type { DamagedLog } from './damaged-log.js'
import type { EncodedSegment, RemoteLease } from './remote.js'

/** The version of the tables or refs that this program writes. A newer one is refused. */
export const REMOTE_FORMAT = 1

export type DriverFormat = {
  readonly version: number
  /** The id that the remote gave itself when it was created. */
  readonly remoteId: string
  /** Opens only with the key of the remote; null if the remote is plain. */
  readonly keyCheck: Uint8Array | null
}

/** A project: its id is plain, its card opaque. */
export type DriverProject = { readonly id: string; readonly card: Uint8Array }

export type DriverHead = LogPosition & {
  readonly log: LogName
  readonly fence: number
  readonly status: StatusWord
  readonly updatedAtMs: number
  readonly card: Uint8Array | null
  readonly project: DriverProject | null
  /** Null if no process has the lease, or it has expired by the clock of the remote. */
  readonly holder: Uint8Array | null
  readonly leaseEndsInMs: number | null
  readonly isDeleted: boolean
}

/** As TakeRequest of remote.ts. Sessions only. */
export type DriverTake = {
  readonly log: LogName
  readonly holder: Uint8Array
  readonly leaseMs: number | null
  readonly create?: { readonly agent: string | null; readonly project: DriverProject | null }
  readonly ifFence?: number
}

export type DriverTaken =
  | { readonly taken: true; readonly lease: RemoteLease; readonly head: DriverHead }
  | { readonly taken: false; readonly head: DriverHead | undefined }

export type DriverPack = {
  readonly id: string
  readonly parent: string | null
  /** A tree id, or its keyed hash. */
  readonly tree: string
  readonly project: string | null
}

export type DriverCommit = {
  readonly log: LogName
  /** Null: not compared (logs without a lease, and compaction). */
  readonly fence: number | null
  /** The project that a log without a lease gets with its first segment. */
  readonly project?: DriverProject | null
  readonly before: LogPosition
  readonly segment: EncodedSegment
  /** Removes all earlier segments and raises the epoch. */
  readonly isBase: boolean
  /**
   * Null for a compaction: it leaves the status, the card, the checkpoints, the lease and the time of the last update as they are.
   */
  readonly changes: {
    readonly status: StatusWord
    readonly card: Uint8Array
    /** For a base: all that the log has from now on. */
    readonly checkpoints: readonly {
      readonly id: string
      readonly step: number
      readonly pack: string | null
    }[]
    readonly removedCheckpoints: readonly string[]
    /** Null: the end of the lease stays as it is. */
    readonly leaseMs: number | null
  } | null
  /** With `body`: at most INLINE_PACK_BYTES. Without: uploaded by `putPack`. */
  readonly packs: readonly (DriverPack & { readonly body?: Uint8Array })[]
}

/**
 * `done` also if exactly this segment is there already: the answer was lost. `isFenced`: it is there, and another process has the log
 * by now. The first segment of a log without a lease creates it; a base revives it if it was deleted.
 */
export type DriverCommitResult =
  | { readonly kind: 'done'; readonly position: LogPosition; readonly isFenced?: boolean }
  | { readonly kind: 'conflict'; readonly head: DriverHead | undefined }
  | { readonly kind: 'missing-pack' }

export type StoredPack = Omit<DriverPack, 'project'> & {
  /** The bytes as they were put, piece by piece. Read them before the next pack. */
  readonly chunks: AsyncIterable<Uint8Array>
}

export interface RemoteDriver {
  readonly kind: RemoteKind
  /** For messages, without credentials. */
  readonly label: string

  /** Reads the format that the remote was created with. REMOTE_REFUSED with the hint `savestate remote init` if it was not created yet. */
  readFormat(): Promise<DriverFormat>
  /** Creates what is missing, with this format. Returns the format that is there: another process may have been first. */
  init(format: DriverFormat): Promise<DriverFormat>

  heads(query: {
    readonly kind?: LogKind
    readonly withDeleted?: boolean
    readonly limit?: number
  }): Promise<readonly (DriverHead | DamagedLog)[]>
  head(log: LogName): Promise<DriverHead | undefined>
  /** The size of one log, or of all logs that are not deleted. */
  sizes(log?: LogName): Promise<readonly (LogSize & { readonly log: LogName })[]>

  take(request: DriverTake): Promise<DriverTaken>
  /** Git refuses it. As `claim` of remote.ts. */
  claim(request: {
    readonly agent?: string | undefined
    readonly holder: Uint8Array
    readonly leaseMs: number
    readonly except: readonly string[]
  }): Promise<{ readonly lease: RemoteLease; readonly head: DriverHead | DamagedLog } | undefined>
  /** Returns the leases that are lost. */
  renew(leases: readonly RemoteLease[], leaseMs: number): Promise<readonly RemoteLease[]>
  release(lease: RemoteLease): Promise<void>

  commit(commit: DriverCommit): Promise<DriverCommitResult>
  /** In order, from the first one after `n`. A base may come at any point, if the log is compacted meanwhile. */
  segments(log: LogName, afterN: number): AsyncIterable<EncodedSegment>

  /** Each chunk is at most PACK_CHUNK_BYTES long. Returns at once if the pack is complete already. */
  putPack(pack: DriverPack, chunks: AsyncIterable<Uint8Array>): Promise<'done' | 'missing-pack'>
  /** The chain of a pack, the outermost parent first; without `known` packs and their parents. */
  packs(id: string, known: ReadonlySet<string>): AsyncIterable<StoredPack>

  /** With a fence: only if it is still this one. Without: only if no process has the lease. */
  deleteLog(log: LogName, fence: number | null): Promise<boolean>
  collectPacks(): Promise<{ readonly removed: number; readonly bytes: number }>

  close(): Promise<void>
}
