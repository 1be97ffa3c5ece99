// Turns the contents of files into objects: on this thread if they are few, on hash threads, which start during the scan,
// if they are many. Large files are always streamed.
import { type BigIntStats, closeSync, fstatSync } from 'node:fs'
import { type BytePath, invariant, type ObjectId, type SkipReason } from '../../../model/index.js'
import { FIGURES_PER_FILE, type HashedBatch, STAMPS_PER_FILE } from './hashed-batch.js'
import { linesOf } from '../../objects/count-lines.js'
import { nameLooseObject, syncFolders } from '../../objects/loose.js'
import type { ObjectSink, ObjectStore } from '../../objects/object-store.js'
import { STREAM_BYTES, streamBlob, streamedId } from '../../objects/stream-blob.js'
import { ChangeTally } from './change-tally.js'
import { startHashLanes } from './hash-lane.js'
import { HashPool } from './hash-pool.js'
import { newSkipped, type SkippedNode } from '../stat-cache/node.js'
import { ownerNumber } from '../scan/owners.js'
import { isUnchanged, type ReadFault, readStart, readStableLink, readStable } from './read-file.js'
import type { Pending } from '../scan/scan-types.js'
import { SECRET_BYTES, type SecretContent, secretIn } from '../scan/secret-content.js'
import { isStampStable, setStamp } from '../stat-cache/stats.js'
import { VerifiedFolder } from '../scan/verified-folder.js'

// Below this, starting the threads takes longer than the work.
const MANY_FILES = 600
const MANY_BYTES = 16 << 20
const MODE_BITS = 0o7777
const ATTEMPTS = 3
const TOO_LARGE = { reason: 'too-large', isFolder: false } as const

export type HasherOptions = {
  /** The project, absolute. */
  readonly root: BytePath
  readonly store: ObjectStore
  readonly sink: ObjectSink
  readonly durable: boolean
  readonly maxFileBytes: number
  /** The script of the hash threads. */
  readonly hashThread: URL
  readonly onProgress: (files: number, bytes: number) => void
}

export class Hasher {
  readonly tally: ChangeTally
  readonly #options: HasherOptions
  /** Files of this size or larger are streamed, including those over the capture limit. */
  readonly #largeBytes: number
  readonly #large: Pending[] = []
  #small: Pending[] = []
  #smallBytes = 0
  #pool: HashPool | undefined
  #hasGivenUp = false
  #isScanOver = false
  /** Replacements of nodes wait for the end of the scan, which iterates over the same folders. */
  readonly #replacements: (() => void)[] = []
  #onTaken: () => void = () => undefined
  readonly #folder = new VerifiedFolder()

  constructor(options: HasherOptions) {
    this.#options = options
    this.tally = new ChangeTally(({ id, size }) => options.store.readBlob(id, size))
    this.#largeBytes = Math.min(STREAM_BYTES, options.maxFileBytes + 1)
  }

  add(item: Pending): void {
    const { kind, size } = item.node
    if (kind === 'link') {
      this.#small.push(item)
    } else if (size >= this.#largeBytes) {
      this.#large.push(item)
    } else if (this.#pool !== undefined) {
      this.#pool.add(item)
    } else {
      this.#small.push(item)
      this.#smallBytes += size
      if (this.#small.length > MANY_FILES || this.#smallBytes > MANY_BYTES) this.#startPool()
    }
  }

  /**
   * Afterwards every added node has an id or is skipped. Calls `onTaken` after each batch, while the threads work on the
   * next.
   */
  async finish(onTaken: () => void): Promise<void> {
    this.#onTaken = onTaken
    this.#isScanOver = true
    for (const replace of this.#replacements.splice(0)) replace()
    for (const item of this.#small) {
      if (item.node.kind === 'link') this.#hashLink(item)
      else this.#hashHere(item)
    }
    this.#folder.leave()
    const pooled = this.#pool?.finish()
    await Promise.all([pooled, this.#streamLarge()])
    // Files that the threads found too large.
    await this.#streamLarge()
  }

  async #streamLarge(): Promise<void> {
    for (let item = this.#large.shift(); item !== undefined; item = this.#large.shift())
      await this.#hashStreamed(item)
  }

  close(): void {
    this.#folder.leave()
    this.#pool?.close()
  }

  /** A file could not be captured, so the snapshot has fewer files than the scan found. */
  get hasGivenUp(): boolean {
    return this.#hasGivenUp
  }

  #giveUp(item: Pending, fault: ReadFault): void {
    if (fault === 'large') {
      this.#large.push(item)
      return
    }
    this.#hasGivenUp = true
    this.#replace(() => replaceByFault(item, fault))
  }

  #replace(replace: () => void): void {
    if (this.#isScanOver) replace()
    else this.#replacements.push(replace)
  }

  #startPool(): void {
    const { hashThread, store } = this.#options
    this.tally.giveUp()
    const pool = new HashPool(startHashLanes(hashThread, store.folder), {
      objectsFolder: store.folder,
      largeBytes: this.#largeBytes,
      take: (batch, hashed) => this.#take(batch, hashed),
    })
    for (const item of this.#small) if (item.node.kind === 'file') pool.add(item)
    this.#small = this.#small.filter(({ node }) => node.kind === 'link')
    this.#pool = pool
  }

  #take(batch: readonly Pending[], hashed: HashedBatch): void {
    const { sink, onProgress } = this.#options
    const { ids, stamps, figures, data } = hashed
    const faultOf = new Map(hashed.faults)
    const secretOf = new Map(hashed.secrets)
    const bytes = Buffer.from(data)
    let total = 0
    batch.forEach((item, i) => {
      const fault = faultOf.get(i)
      if (fault !== undefined) {
        this.#giveUp(item, fault)
        return
      }
      const { node } = item
      const stamp = i * STAMPS_PER_FILE
      const figure = i * FIGURES_PER_FILE
      if (item.isUnseen) node.mode = (figures[figure + 1] ?? 0) & MODE_BITS
      node.owner = ownerNumber(figures[figure + 7] ?? 0, figures[figure + 8] ?? 0)
      const id = ids.slice(i * 40, i * 40 + 40) as ObjectId
      node.size = figures[figure] ?? 0
      node.mtimeNs = stamps[stamp] ?? 0n
      node.ctimeNs = stamps[stamp + 1] ?? 0n
      node.ino = BigInt.asUintN(64, stamps[stamp + 2] ?? 0n)
      node.isStable = isStampStable(node, figures[figure + 2] ?? 0)
      if (this.#isRejectedSecret(item, secretOf.get(i))) return
      node.id = id
      node.lines = figures[figure + 3]
      total += node.size
      const entry = bytes.subarray(figures[figure + 4], figures[figure + 5])
      if (entry.length > 0) sink.addCompressed(id, { bytes: entry, crc: figures[figure + 6] ?? 0 })
      else sink.relyOn(id)
    })
    onProgress(batch.length, total)
    this.#onTaken()
  }

  #hashLink(item: Pending): void {
    const { sink, onProgress } = this.#options
    const read = this.#folder.read(item.path, readStableLink)
    if (typeof read === 'string') {
      this.#giveUp(item, read)
      return
    }
    const { target, stats, readAtMs } = read
    setStamp(item.node, stats)
    item.node.isStable = isStampStable(stats, readAtMs)
    const id = sink.add('blob', target)
    item.node.id = id
    this.tally.add(item.before, { id, content: target })
    item.node.lines = linesOf(target)
    onProgress(1, target.length)
  }

  #hashHere(item: Pending): void {
    const { sink, onProgress } = this.#options
    const read = this.#folder.read(item.path, (at) => readStable(at, this.#largeBytes))
    if (typeof read === 'string') {
      this.#giveUp(item, read)
      return
    }
    this.#setStats(item, read.stats)
    item.node.isStable = isStampStable(read.stats, read.readAtMs)
    if (this.#isRejectedSecret(item, secretIn(item.path, read.content))) return
    const id = sink.add('blob', read.content)
    item.node.id = id
    this.tally.add(item.before, { id, content: read.content })
    item.node.lines = linesOf(read.content)
    onProgress(1, read.content.length)
  }

  /**
   * Whether a content just read is a secret that must not be stored. The skipped node keeps the stamp, so that the file is
   * not read again while it is unchanged.
   */
  #isRejectedSecret(item: Pending, secret: SecretContent | undefined): boolean {
    const { node, context } = item
    node.isAllowedSecret = secret !== undefined
    if (secret === undefined) return false
    // A tracked file is captured in spite of a doubtful name, but not if its content is a key.
    if (secret === 'doubtful' && node.viaIndex) return false
    const path = item.path.slice(this.#options.root.length).replace(/^\/+/, '') as BytePath
    if (context.rules.allowsSecret(path)) return false
    this.#hasGivenUp = true
    const skipped = newSkipped(node.name, { reason: 'secret', isFolder: false })
    const { size, mtimeNs, ctimeNs, ino, isStable } = node
    const stamped = Object.assign(skipped, { size, mtimeNs, ctimeNs, ino, isStable })
    this.#replace(() => replaceNode(item, stamped))
    return true
  }

  /** Keeps the mode that the scan saw; otherwise a change of mode would go unnoticed. */
  #setStats({ node, isUnseen }: Pending, stats: BigIntStats): void {
    setStamp(node, stats)
    if (isUnseen) node.mode = Number(stats.mode) & MODE_BITS
  }

  async #hashStreamed(item: Pending): Promise<void> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const fd = this.#folder.openFile(item.path)
      this.#folder.leave()
      if (typeof fd === 'string') {
        this.#giveUp(item, fd)
        return
      }
      try {
        if (await this.#streamOnce(item, fd)) return
      } finally {
        closeSync(fd)
      }
    }
    this.#giveUp(item, 'unstable')
  }

  /** False if the file changed while it was read. */
  async #streamOnce(item: Pending, fd: number): Promise<boolean> {
    const { sink, store, durable, maxFileBytes, onProgress } = this.#options
    const { node } = item
    this.tally.giveUp()
    const readAtMs = Date.now()
    const before = fstatSync(fd, { bigint: true })
    if (before.size > maxFileBytes) {
      this.#hasGivenUp = true
      replaceNode(item, newSkipped(node.name, { ...TOO_LARGE, stats: before }))
      return true
    }
    this.#setStats(item, before)
    node.isStable = isStampStable(before, readAtMs)
    if (this.#isRejectedSecret(item, secretIn(item.path, readStart(fd, SECRET_BYTES)))) return true
    const size = Number(before.size)
    const blob = await streamBlob(fd, { size, temporary: sink.temporary, durable })
    const after = fstatSync(fd, { bigint: true })
    if (blob === undefined || !isUnchanged(before, after)) return false
    // As in isSteady: two writes within one clock tick leave one stamp, and a read between them is torn.
    if (!isStampStable(after, readAtMs) && (await streamedId(fd, size)) !== blob.id) return false
    if (!store.has(blob.id)) {
      const changed = nameLooseObject(store.folder, blob)
      if (durable) await syncFolders(changed)
    }
    this.#setStats(item, after)
    node.isStable = isStampStable(after, readAtMs)
    node.id = blob.id
    node.lines = blob.lines
    onProgress(1, size)
    return true
  }
}

/** Replaces the node by a skipped one, or removes it if the file is gone. */
function replaceByFault(item: Pending, fault: ReadFault): void {
  const reason: SkipReason = fault === 'unreadable' ? 'unreadable' : 'unstable'
  const replacement = newSkipped(item.node.name, { reason, isFolder: false })
  replaceNode(item, fault === 'gone' ? undefined : replacement)
  item.folder.isStable = false
}

function replaceNode({ node, folder }: Pending, replacement: SkippedNode | undefined): void {
  const at = folder.children.indexOf(node)
  invariant(at !== -1, 'a pending file is in its folder')
  folder.children.splice(at, 1, ...(replacement === undefined ? [] : [replacement]))
}
