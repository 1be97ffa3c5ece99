// A remote as the engine sees it: logs with segments, and packs. `openRemote` joins a driver, which stores opaque bytes, with the codec,
// which compresses and seals them.
import type {
  LogCard,
  LogHolder,
  LogKind,
  LogName,
  LogPosition,
  LogSize,
  RemoteKind,
  RemoteProject,
  SegmentContent,
  StatusWord,
} from '../model/index.js'
import type { DamagedLog } from './damaged-log.js'

/** The right to write a log. The fence grows with every new holder. */
export type RemoteLease = { readonly log: LogName; readonly fence: number }

export type LogHead = LogPosition & {
  readonly log: LogName
  readonly fence: number
  readonly status: StatusWord
  readonly updatedAtMs: number
  /** Null if the log is deleted, or nothing was committed yet. */
  readonly card: LogCard | null
  readonly project: RemoteProject | null
  /** Null if no process has the lease, or it has expired by the clock of the remote. */
  readonly holder: LogHolder | null
  /** Null without a holder, and for leases that never expire. */
  readonly leaseEndsInMs: number | null
  readonly isDeleted: boolean
}

export type TakeRequest = {
  readonly log: LogName
  readonly holder: LogHolder
  /** Null: until it is released. */
  readonly leaseMs: number | null
  /** Creates the log if there is none, or if it was deleted. Absent: an unknown log is `undefined`. */
  readonly create?: { readonly agent: string | null; readonly project: RemoteProject | null }
  /** Replaces a living holder if the fence is still this one: it is proven dead, or the user said so. */
  readonly ifFence?: number
}

export type TakeResult =
  | { readonly taken: true; readonly lease: RemoteLease; readonly head: LogHead }
  | { readonly taken: false; readonly head: LogHead | undefined }

export type ClaimedLog = { readonly lease: RemoteLease; readonly head: LogHead | DamagedLog }

/** A pack that comes with a commit, or was uploaded before. */
export type CommitPack = {
  readonly id: string
  readonly parent: string | null
  readonly tree: string
  readonly project: string | null
  /** At most INLINE_PACK_BYTES. Undefined: it was uploaded by `putPack`. */
  readonly bytes?: Uint8Array
}

export type Commit = {
  readonly log: LogName
  /** Null for threads and projects, which have no lease. */
  readonly fence: number | null
  /** The project that a log without a lease gets with its first segment. */
  readonly project?: RemoteProject | null
  /** The position before this segment. */
  readonly before: LogPosition
  /** The result of `encode`. */
  readonly segment: EncodedSegment
  readonly isBase: boolean
  readonly status: StatusWord
  readonly card: LogCard
  readonly packs: readonly CommitPack[]
  /** Checkpoints that this segment adds, with their packs. For a base: all that the log has. */
  readonly checkpoints: readonly {
    readonly id: string
    readonly step: number
    readonly pack: string | null
  }[]
  readonly removedCheckpoints: readonly string[]
  /** Prolongs the lease. Null for logs without one, and for leases that never expire. */
  readonly leaseMs: number | null
}

/**
 * `done` also if exactly this segment is there already, because the answer to an earlier try was lost. `isFenced`: it is there, and
 * another process has the log by now. `conflict`: nothing was written, and `head` tells why. `missing-pack`: a parent was collected;
 * send a full pack.
 */
export type CommitResult =
  | { readonly kind: 'done'; readonly position: LogPosition; readonly isFenced?: boolean }
  | { readonly kind: 'conflict'; readonly head: LogHead | undefined }
  | { readonly kind: 'missing-pack' }

export type EncodedSegment = {
  readonly n: number
  /** The hash of the segment before; null for the first one and for a base. */
  readonly prev: string | null
  readonly hash: string
  readonly body: Uint8Array
}

/** The content was written by another host: it is checked where it is applied. */
export type DecodedSegment = Omit<EncodedSegment, 'body'> & { readonly content: SegmentContent }

export type RemotePack = {
  readonly id: string
  readonly parent: string | null
  readonly tree: string
  /** In pieces of at most 1 MB, so that a large pack needs no memory. Read them before the next pack. */
  readonly chunks: AsyncIterable<Uint8Array>
}

/**
 * Every method throws REMOTE_UNREACHABLE (worth a retry), REMOTE_REFUSED (not worth one), STORE_NEWER, KEY_MISSING or KEY_WRONG. No
 * message has a password.
 */
export interface Remote {
  readonly kind: RemoteKind
  /** For messages: host and database, or the URL without credentials. */
  readonly label: string
  /** Whether what it stores is sealed. */
  readonly isSealed: boolean

  /** The id that the remote gave itself. Reads it on first use, and checks the version and the key. */
  id(): Promise<string>
  /** Creates what is missing. Two processes may call it at once. */
  init(): Promise<void>

  /** Last updated first. Deleted logs only on request. Without the logs whose head is damaged: `onDamaged` gets those. */
  heads(query?: {
    readonly kind?: LogKind
    readonly withDeleted?: boolean
    readonly limit?: number
    readonly onDamaged?: (damaged: DamagedLog) => void
  }): Promise<readonly LogHead[]>
  /** Throws STORE_DAMAGED if the head is damaged. */
  head(log: LogName): Promise<LogHead | undefined>
  /** The size of one log, or of all logs that are not deleted. Reads no segment. */
  sizes(log?: LogName): Promise<readonly (LogSize & { readonly log: LogName })[]>

  take(request: TakeRequest): Promise<TakeResult>
  /**
   * Takes any session in progress without a living holder, of this agent if one is given. An equal holder again: the session that it
   * has taken before, because the answer may have been lost. PostgreSQL only.
   */
  claim(request: {
    readonly agent?: string | undefined
    readonly holder: LogHolder
    readonly leaseMs: number
    /** The ids of sessions that the caller cannot open. */
    readonly except?: readonly string[]
  }): Promise<ClaimedLog | undefined>
  /** Prolongs leases in one round trip, and returns those that are lost. */
  renew(leases: readonly RemoteLease[], leaseMs: number): Promise<readonly RemoteLease[]>
  /** Does nothing if another process has it by now. */
  release(lease: RemoteLease): Promise<void>

  /** Compresses and seals. `prev` is null for a base. */
  encode(
    log: LogName,
    position: { readonly n: number; readonly prev: string | null },
    content: SegmentContent,
  ): EncodedSegment
  commit(commit: Commit): Promise<CommitResult>
  /** The segments after `afterN`, decoded and their chain verified. Starts with a base if the log was compacted since. */
  segments(
    log: LogName,
    after: { readonly n: number; readonly hash: string | null; readonly epoch: number },
  ): AsyncIterable<DecodedSegment>

  /**
   * Uploads a pack before the commit that refers to it. The same id again replaces an unfinished upload. `missing-pack`: its parent was
   * collected; send a full pack.
   */
  putPack(
    pack: Omit<CommitPack, 'bytes'>,
    bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  ): Promise<'done' | 'missing-pack'>
  /** The pack and those it builds on, the outermost parent first, except the known ones. */
  packs(id: string, known: ReadonlySet<string>): AsyncIterable<RemotePack>

  /** Leaves a tombstone. False if there is none, or another process has the lease. */
  deleteLog(log: LogName, fence: number | null): Promise<boolean>
  /**
   * Replaces all segments of a log by one base, by compare and swap: a commit that comes first makes it read again, a commit that comes
   * second finds another epoch. False if there is nothing to gain, `rewrite` returns undefined, or the writer was faster five times.
   */
  compact(
    log: LogName,
    rewrite: (content: readonly SegmentContent[]) => SegmentContent | undefined,
  ): Promise<boolean>
  /** Removes packs that nothing needs, and returns their number. */
  collectPacks(): Promise<{ readonly removed: number; readonly bytes: number }>

  close(): Promise<void>
}
