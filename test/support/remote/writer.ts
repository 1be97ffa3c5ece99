// Sample content, and a client that writes one log and remembers its position.
import { hash } from 'node:crypto'
import type {
  Commit,
  CommitPack,
  CommitResult,
  DecodedSegment,
  LogHead,
  Remote,
  RemoteLease,
} from '../../../src/remote/index.js'
import type {
  LogCard,
  LogHolder,
  LogName,
  LogPosition,
  SegmentContent,
  StatusWord,
} from '../../../src/model/index.js'

export const LEASE_MS = 30_000
export const START: LogPosition = { nextN: 1, epoch: 0, hash: null }

export function holder(host: string, pid = 1): LogHolder {
  return { owner: { host, pid, boot: 'boot', startedAt: '1', namespace: 'ns' }, sinceMs: 1234.5 }
}

export function session(id: string): LogName {
  return { kind: 'session', id }
}

export function thread(id: string): LogName {
  return { kind: 'thread', id }
}

export function card(steps: number): LogCard {
  return {
    agent: 'claude',
    project: 'Café "π"',
    steps,
    reason: `step ${steps}`,
    statusReason: null,
    ages: null,
  }
}

/** Each text is different, so that no two segments are equal. */
export function content(text: string, isBase = false): SegmentContent {
  return {
    version: 1,
    isBase,
    nextNumber: 4,
    elements: [[1, 0, JSON.stringify(text)]],
    nodes: [[2, [1]]],
    states: [[3, { list: 2 }]],
    rows: { checkpoints: [{ id: `checkpoint of ${text}`, step: 1, reason: null }] },
    removed: {},
  }
}

export type CommitOptions = {
  readonly packs?: readonly CommitPack[]
  readonly checkpoints?: Commit['checkpoints']
  readonly removed?: readonly string[]
  readonly isBase?: boolean
  readonly status?: StatusWord
  readonly leaseMs?: number | null
}

export class Writer {
  position: LogPosition
  readonly #remote: Remote
  readonly log: LogName
  readonly fence: number | null

  constructor(remote: Remote, log: LogName, from: { fence: number | null; position: LogPosition }) {
    this.#remote = remote
    this.log = log
    this.fence = from.fence
    this.position = from.position
  }

  get lease(): RemoteLease {
    if (this.fence === null) throw new Error('a thread has no lease')
    return { log: this.log, fence: this.fence }
  }

  /** The commit that a client would send next. */
  prepare(text: string, options: CommitOptions = {}): Commit {
    const { packs = [], checkpoints = [], removed = [], isBase = false } = options
    const { status = 'in_progress', leaseMs = this.fence === null ? null : LEASE_MS } = options
    const { nextN: n, hash } = this.position
    const segment = this.#remote.encode(
      this.log,
      { n, prev: isBase ? null : hash },
      content(text, isBase),
    )
    return {
      log: this.log,
      fence: this.fence,
      before: this.position,
      segment,
      isBase,
      status,
      card: card(n),
      packs,
      checkpoints,
      removedCheckpoints: removed,
      leaseMs,
    }
  }

  async send(commit: Commit): Promise<CommitResult> {
    const result = await this.#remote.commit(commit)
    if (result.kind === 'done') this.position = result.position
    return result
  }

  async commit(text: string, options?: CommitOptions): Promise<void> {
    const result = await this.send(this.prepare(text, options))
    if (result.kind !== 'done') throw new Error(`not committed: ${JSON.stringify(result)}`)
  }
}

/** Takes the log, creating it if there is none. */
export async function startWriter(
  remote: Remote,
  log: LogName,
  { host = 'host', leaseMs = LEASE_MS }: { host?: string; leaseMs?: number | null } = {},
): Promise<Writer> {
  const taken = await remote.take({
    log,
    holder: holder(host),
    leaseMs,
    create: { agent: 'claude', project: null },
  })
  if (!taken.taken) throw new Error('the log is taken')
  return new Writer(remote, log, { fence: taken.lease.fence, position: positionOf(taken.head) })
}

export function startThread(remote: Remote, id: string, position: LogPosition = START): Writer {
  return new Writer(remote, thread(id), { fence: null, position })
}

export function positionOf({ nextN, epoch, hash }: LogPosition): LogPosition {
  return { nextN, epoch, hash }
}

export async function readAll(
  remote: Remote,
  log: LogName,
  after: { n: number; hash: string | null; epoch: number } = { n: 0, hash: null, epoch: 0 },
): Promise<DecodedSegment[]> {
  const segments: DecodedSegment[] = []
  for await (const segment of remote.segments(log, after)) segments.push(segment)
  return segments
}

export async function textsOf(remote: Remote, log: LogName): Promise<string[]> {
  const segments = await readAll(remote, log)
  return segments.map(({ content: { elements } }) => String(JSON.parse(elements[0]?.[2] ?? '""')))
}

export async function headOf(remote: Remote, log: LogName): Promise<LogHead> {
  const head = await remote.head(log)
  if (head === undefined) throw new Error(`no log ${log.id}`)
  return head
}

/** Comparing large buffers takes the test runner seconds. */
export function digest(bytes: Uint8Array): { length: number; sha256: string } {
  return { length: bytes.length, sha256: hash('sha256', bytes) }
}

export function bytesOf(length: number, seed: number): Buffer {
  const bytes = Buffer.alloc(length)
  for (let i = 0; i < length; i++) bytes[i] = (i * 31 + seed * 17 + (i >> 8)) & 255
  return bytes
}

export async function readPacks(
  remote: Remote,
  id: string,
  known: ReadonlySet<string> = new Set(),
): Promise<{ id: string; parent: string | null; tree: string; length: number; sha256: string }[]> {
  const packs = []
  for await (const { chunks, ...pack } of remote.packs(id, known)) {
    const parts: Uint8Array[] = []
    for await (const chunk of chunks) parts.push(chunk)
    packs.push({ ...pack, ...digest(Buffer.concat(parts)) })
  }
  return packs
}
