// A Remote: a driver, which stores bytes, joined with the codec, which writes and reads them. The first call reads the format of the
// remote, and checks its version and the key.
import { randomUUID } from 'node:crypto'
import {
  INLINE_PACK_BYTES,
  invariant,
  type LogName,
  SavestateError,
  type SegmentContent,
} from '../model/index.js'
import {
  Codec,
  decodeHead,
  decodePack,
  decodeSegment,
  encodeCard,
  encodeChunks,
  encodeHolder,
  encodePack,
  encodeProject,
  encodeSegment,
  type RemoteKey,
  TextBudget,
} from './codec/index.js'
import { compactLog } from './compact-log.js'
import { checkFormat, keyCheckOf } from './check-format.js'
import { type DamagedLog, isDamaged, orDamaged } from './damaged-log.js'
import { type DriverHead, REMOTE_FORMAT, type RemoteDriver } from './driver.js'
import type {
  Commit,
  CommitPack,
  CommitResult,
  DecodedSegment,
  EncodedSegment,
  LogHead,
  Remote,
  RemoteLease,
  RemotePack,
  TakeRequest,
  TakeResult,
} from './remote.js'

type HeadsQuery = NonNullable<Parameters<Remote['heads']>[0]>

export class CodedRemote implements Remote {
  readonly kind: Remote['kind']
  readonly label: string
  readonly isSealed: boolean
  readonly #driver: RemoteDriver
  readonly #key: RemoteKey | null
  #opening: Promise<Codec> | undefined
  #codec: Codec | undefined

  constructor(driver: RemoteDriver, key: RemoteKey | null) {
    this.#driver = driver
    this.#key = key
    this.kind = driver.kind
    this.label = driver.label
    this.isSealed = key !== null
  }

  async id(): Promise<string> {
    return (await this.#open()).remoteId
  }

  async init(): Promise<void> {
    const remoteId = randomUUID()
    const keyCheck = keyCheckOf(remoteId, this.#key)
    const format = await this.#driver.init({ version: REMOTE_FORMAT, remoteId, keyCheck })
    checkFormat(format, { key: this.#key, label: this.label })
  }

  async heads({ onDamaged, ...query }: HeadsQuery = {}): Promise<readonly LogHead[]> {
    const codec = await this.#open()
    const heads: LogHead[] = []
    for (const head of await this.#driver.heads(query)) {
      const decoded = tryDecodeHead(codec, head)
      if (isDamaged(decoded)) onDamaged?.(decoded)
      else heads.push(decoded)
    }
    return heads
  }

  async head(log: LogName): Promise<LogHead | undefined> {
    const codec = await this.#open()
    const head = await this.#driver.head(log)
    return head === undefined ? undefined : decodeHead(codec, head)
  }

  async sizes(log?: LogName): ReturnType<Remote['sizes']> {
    await this.#open()
    return this.#driver.sizes(log)
  }

  async take({ create, holder, ...request }: TakeRequest): Promise<TakeResult> {
    invariant(request.log.kind === 'session', 'only a session has a lease')
    const codec = await this.#open()
    const result = await this.#driver.take({
      ...request,
      holder: encodeHolder(codec, holder),
      ...(create === undefined
        ? {}
        : {
            create: {
              agent: create.agent === null ? null : codec.nameOf(create.agent, 'agent'),
              project: create.project === null ? null : encodeProject(codec, create.project),
            },
          }),
    })
    if (result.taken) return { ...result, head: decodeHead(codec, result.head) }
    const { head } = result
    return { taken: false, head: head === undefined ? undefined : decodeHead(codec, head) }
  }

  async claim({
    agent,
    holder,
    leaseMs,
    except = [],
  }: Parameters<Remote['claim']>[0]): ReturnType<Remote['claim']> {
    const codec = await this.#open()
    const claimed = await this.#driver.claim({
      agent: agent === undefined ? undefined : codec.nameOf(agent, 'agent'),
      holder: encodeHolder(codec, holder),
      leaseMs,
      except,
    })
    return claimed && { lease: claimed.lease, head: tryDecodeHead(codec, claimed.head) }
  }

  async renew(leases: readonly RemoteLease[], leaseMs: number): Promise<readonly RemoteLease[]> {
    if (leases.length === 0) return []
    await this.#open()
    return this.#driver.renew(leases, leaseMs)
  }

  async release(lease: RemoteLease): Promise<void> {
    await this.#open()
    await this.#driver.release(lease)
  }

  encode(
    log: LogName,
    { n, prev }: { readonly n: number; readonly prev: string | null },
    content: SegmentContent,
  ): EncodedSegment {
    invariant(this.#codec !== undefined, 'id() is awaited before encode()')
    return encodeSegment(this.#codec, { log, n, prev, content })
  }

  async commit(commit: Commit): Promise<CommitResult> {
    const { log, fence, before, segment, isBase, status, checkpoints, removedCheckpoints } = commit
    invariant((fence === null) === (log.kind !== 'session'), 'only sessions have a fence')
    const codec = await this.#open()
    const packs = commit.packs.map(({ bytes, ...pack }) => {
      const sealed = { ...pack, tree: codec.nameOf(pack.tree, 'tree') }
      if (bytes === undefined) return sealed
      invariant(bytes.length <= INLINE_PACK_BYTES, 'a large pack is uploaded first')
      return { ...sealed, body: encodePack(codec, pack, bytes) }
    })
    const card = encodeCard(codec, log, commit.card)
    const { leaseMs, project = null } = commit
    const changes = { status, card, checkpoints, removedCheckpoints, leaseMs }
    const result = await this.#driver.commit({
      log,
      fence,
      project: project === null ? null : encodeProject(codec, project),
      before,
      segment,
      isBase,
      changes,
      packs,
    })
    if (result.kind !== 'conflict') return result
    const { head } = result
    return { kind: 'conflict', head: head === undefined ? undefined : decodeHead(codec, head) }
  }

  async *segments(
    log: LogName,
    after: Parameters<Remote['segments']>[1],
  ): AsyncGenerator<DecodedSegment> {
    const codec = await this.#open()
    let { n, hash } = after
    let isFirst = true
    const budget = new TextBudget()
    for await (const encoded of this.#driver.segments(log, n)) {
      const segment = decodeSegment(codec, log, encoded, budget)
      const follows = segment.n === n + 1 && segment.prev === hash
      if (segment.prev !== null && !follows) {
        if (isFirst && segment.n === n + 1) throw wentBack(this.label, log)
        throw codec.damaged(`segment ${segment.n} of ${log.kind} ${log.id} does not follow ${n}`)
      }
      yield segment
      n = segment.n
      hash = segment.hash
      isFirst = false
    }
  }

  async putPack(
    pack: Omit<CommitPack, 'bytes'>,
    bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  ): Promise<'done' | 'missing-pack'> {
    const codec = await this.#open()
    const tree = codec.nameOf(pack.tree, 'tree')
    return this.#driver.putPack({ ...pack, tree }, encodeChunks(codec, pack, bytes))
  }

  async *packs(id: string, known: ReadonlySet<string>): AsyncGenerator<RemotePack> {
    const codec = await this.#open()
    let last: string | undefined
    for await (const stored of this.#driver.packs(id, known)) {
      const { parent } = stored
      const isOutermost = last === undefined && (parent === null || known.has(parent))
      if (!isOutermost && parent !== last)
        throw codec.damaged(`pack ${stored.id} does not build on ${last ?? 'a known one'}`)
      yield await decodePack(codec, stored)
      last = stored.id
    }
    if (last !== id && !known.has(id)) throw codec.damaged(`pack ${id} is missing`)
  }

  async deleteLog(log: LogName, fence: number | null): Promise<boolean> {
    await this.#open()
    return this.#driver.deleteLog(log, fence)
  }

  async compact(
    log: LogName,
    rewrite: (content: readonly SegmentContent[]) => SegmentContent | undefined,
  ): Promise<boolean> {
    const codec = await this.#open()
    return compactLog(this.#driver, codec, { log, rewrite })
  }

  async collectPacks(): Promise<{ readonly removed: number; readonly bytes: number }> {
    await this.#open()
    return this.#driver.collectPacks()
  }

  close(): Promise<void> {
    return this.#driver.close()
  }

  /** A failed try is not kept: the next call reads the format again. */
  async #open(): Promise<Codec> {
    if (this.#codec !== undefined) return this.#codec
    this.#opening ??= this.#readFormat()
    try {
      return await this.#opening
    } finally {
      this.#opening = undefined
    }
  }

  async #readFormat(): Promise<Codec> {
    const format = await this.#driver.readFormat()
    checkFormat(format, { key: this.#key, label: this.label })
    this.#codec = new Codec({ remoteId: format.remoteId, key: this.#key, label: this.label })
    return this.#codec
  }
}

function tryDecodeHead(codec: Codec, head: DriverHead | DamagedLog): LogHead | DamagedLog {
  return isDamaged(head) ? head : orDamaged(head.log, () => decodeHead(codec, head))
}

function wentBack(label: string, log: LogName): SavestateError {
  return new SavestateError(
    'REMOTE_WENT_BACK',
    `${label} has another history of ${log.kind} ${log.id} than it confirmed before`,
    { hint: 'It was restored from an older copy, or lost its last commits in a failover.' },
  )
}
