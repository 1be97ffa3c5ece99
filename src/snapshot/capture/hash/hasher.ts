// Turns the contents of files into objects: on this thread if they are few, on hash threads, which start during the scan,
// if they are many. Large files are always streamed.
import { closeSync, fstatSync } from 'node:fs'
import { type BytePath, invariant, type SkipReason } from '../../../model/index.js'
import { linesOf } from '../../objects/count-lines.js'
import { nameLooseObject, syncFolders } from '../../objects/loose.js'
import type { ObjectSink, ObjectStore } from '../../objects/object-store.js'
import { STREAM_BYTES, streamBlob, streamedId } from '../../objects/stream-blob.js'
import { ChangeTally } from './change-tally.js'
import type { FileStats, HashedBatch } from './file-hasher.js'
import { HashPool } from './hash-pool.js'
import { SkippedNode } from '../stat-cache/node.js'
import { isUnchanged, type ReadFault, readStart, readStableLink, readStable } from './read-file.js'
import type { Pending } from '../scan/scan-types.js'
import { SECRET_BYTES, type SecretContent, secretIn } from '../scan/secret-content.js'
import { isStampStable, permissionsOf, setStamp } from '../stat-cache/stats.js'
import { VerifiedFolder } from '../scan/verified-folder.js'

// Below this, starting the threads takes longer than the work.
const MANY_FILES = 600
const MANY_BYTES = 16 << 20
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
    for (const item of this.#small) this.#hashHere(item)
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
    const pool = new HashPool({
      hashThread,
      objectsFolder: store.folder,
      largeBytes: this.#largeBytes,
      take: (batch, hashed) => this.#take(batch, hashed),
    })
    for (const item of this.#small) if (item.node.kind === 'file') pool.add(item)
    this.#small = this.#small.filter(({ node }) => node.kind === 'link')
    this.#pool = pool
  }

  #take(batch: readonly Pending[], { files, data }: HashedBatch): void {
    const { sink, onProgress } = this.#options
    const bytes = Buffer.from(data)
    let total = 0
    for (const [i, item] of batch.entries()) {
      const file = files[i] ?? 'unstable'
      if (typeof file === 'string') {
        this.#giveUp(item, file)
        continue
      }
      const { id, entry, lines } = file
      this.#setStats(item, file)
      if (this.#isRejectedSecret(item, file.secret)) continue
      Object.assign(item.node, { id, lines })
      total += item.node.size
      if (entry === undefined) sink.relyOn(id)
      else sink.addCompressed(id, { bytes: bytes.subarray(entry.start, entry.end), crc: entry.crc })
    }
    onProgress(batch.length, total)
    this.#onTaken()
  }

  #hashHere(item: Pending): void {
    const { sink, onProgress } = this.#options
    const isLink = item.node.kind === 'link'
    const read = this.#folder.read(item.path, (at) =>
      isLink ? readStableLink(at) : readStable(at, this.#largeBytes),
    )
    if (typeof read === 'string') {
      this.#giveUp(item, read)
      return
    }
    const { content } = read
    this.#setStats(item, read)
    if (!isLink && this.#isRejectedSecret(item, secretIn(item.path, content))) return
    const id = sink.add('blob', content)
    this.tally.add(item.before, { id, content })
    Object.assign(item.node, { id, lines: linesOf(content) })
    onProgress(1, content.length)
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
    const skipped = new SkippedNode(node.name, { reason: 'secret', isFolder: false })
    const { size, mtimeNs, ctimeNs, ino, isStable } = node
    const stamped = Object.assign(skipped, { size, mtimeNs, ctimeNs, ino, isStable })
    this.#replace(() => replaceNode(item, stamped))
    return true
  }

  /** Keeps the mode that the scan saw; otherwise a change of mode would go unnoticed. */
  #setStats(
    { node, isUnseen }: Pending,
    { stats, readAtMs }: { readonly stats: FileStats; readonly readAtMs: number },
  ): void {
    setStamp(node, stats)
    node.isStable = isStampStable(stats, readAtMs)
    if (isUnseen) node.mode = permissionsOf(stats)
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
      replaceNode(item, new SkippedNode(node.name, { ...TOO_LARGE, stats: before }))
      return true
    }
    this.#setStats(item, { stats: before, readAtMs })
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
    this.#setStats(item, { stats: after, readAtMs })
    Object.assign(node, { id: blob.id, lines: blob.lines })
    onProgress(1, size)
    return true
  }
}

/** Replaces the node by a skipped one, or removes it if the file is gone. */
function replaceByFault(item: Pending, fault: ReadFault): void {
  const reason: SkipReason = fault === 'unreadable' ? 'unreadable' : 'unstable'
  const replacement = new SkippedNode(item.node.name, { reason, isFolder: false })
  replaceNode(item, fault === 'gone' ? undefined : replacement)
  item.folder.isStable = false
}

function replaceNode({ node, folder }: Pending, replacement: SkippedNode | undefined): void {
  const at = folder.children.indexOf(node)
  invariant(at !== -1, 'a pending file is in its folder')
  folder.children.splice(at, 1, ...(replacement === undefined ? [] : [replacement]))
}
