// Checks the objects of packs and collects them. Nothing is visible in the store before `finish` has found the snapshot complete.
import { join } from 'node:path'
import type { Limits, ObjectId } from '../../model/index.js'
import { nameLooseObject } from '../objects/loose.js'
import { objectIdOf } from '../objects/object-id.js'
import { ObjectSink } from '../objects/object-store.js'
import { checkSnapshot, checkTree, isLinkTarget, startsLikeModes } from './check-snapshot.js'
import type { PackHead } from './envelope.js'
import type { StoreReader } from './export-pack.js'
import { LargeBlob } from './large-blob.js'
import { badPack, PackParser } from './pack-parser.js'
import { unpackObject } from './unpack-object.js'

type ImportOptions = StoreReader & {
  readonly gitDir: string
  /** Only this import uses this folder. */
  readonly temporary: string
  readonly durable: boolean
  readonly limits: Limits
}

/** A project may raise its own limit up to this without a setting of the store. */
const MIN_MAX_BLOB_BYTES = 100 << 20
/** Trees and modes are kept in memory until the end. */
const MAX_KEPT_BYTES = 512 << 20

export class PackImport {
  readonly #options: ImportOptions
  readonly #sink: ObjectSink
  readonly #parser: PackParser
  readonly #trees = new Map<ObjectId, Buffer>()
  /** Contents that may be the modes of a snapshot. */
  readonly #modes = new Map<ObjectId, Buffer>()
  /** Whether a blob may be the target of a link. */
  readonly #blobs = new Map<ObjectId, boolean>()
  readonly #large = new Map<ObjectId, string>()
  #streaming: LargeBlob | undefined
  #keptBytes = 0

  constructor(options: ImportOptions) {
    const { store, limits } = options
    this.#options = options
    this.#sink = new ObjectSink(store, options)
    const maxBlobBytes = Math.max(limits.maxFileBytes, MIN_MAX_BLOB_BYTES)
    const receiver = {
      whole: (head: PackHead, zlib: Buffer) => this.#addWhole(head, zlib),
      startLarge: (head: PackHead) => this.#startLarge(head),
    }
    this.#parser = new PackParser(receiver, { maxBlobBytes })
  }

  add(bytes: Uint8Array): Promise<void> {
    return this.#parser.add(bytes)
  }

  endPack(): void {
    this.#parser.end()
  }

  /** Afterwards the snapshot `tree` is complete in the store. Throws BAD_INPUT for one that is incomplete or unsafe. */
  async finish(tree: ObjectId): Promise<void> {
    const { store, blobs, gitDir, limits } = this.#options
    const imported = { trees: this.#trees, modes: this.#modes, blobs: this.#blobs }
    const relied = await checkSnapshot(tree, { imported, gitDir, reader: blobs, limits })
    for (const id of relied) this.#sink.has(id)
    // The sink removes its folder at the end.
    for (const [id, path] of this.#large) {
      nameLooseObject(store.folder, { id, path })
      this.#sink.relyOn(id)
    }
    await this.#sink.finish()
  }

  async abandon(): Promise<void> {
    await this.#streaming?.abandon()
    this.#sink.abandon()
  }

  #addWhole({ type, form, id, size }: PackHead, zlib: Buffer): void {
    const content = unpackObject(zlib, { type, form, maxBytes: size })
    if (content?.length !== size || objectIdOf(type, content) !== id)
      throw badPack(`the ${type} ${id} is damaged`)
    if (type === 'tree') {
      checkTree(content)
      this.#keep(this.#trees, id, content)
    } else {
      this.#blobs.set(id, isLinkTarget(content))
      if (startsLikeModes(content)) this.#keep(this.#modes, id, content)
    }
    this.#sink.addVerified({ id, type, content }, form === 'content' ? zlib : undefined)
  }

  #keep(kept: Map<ObjectId, Buffer>, id: ObjectId, content: Buffer): void {
    this.#keptBytes += content.length
    if (this.#keptBytes > MAX_KEPT_BYTES) throw badPack('its folders are too large')
    kept.set(id, content)
  }

  #startLarge(head: PackHead) {
    const path = join(this.#sink.temporary, `large-${this.#large.size}`)
    const blob = new LargeBlob(head, { path, durable: this.#options.durable })
    this.#streaming = blob
    return {
      add: (bytes: Buffer) => blob.add(bytes),
      end: async () => {
        await blob.end()
        this.#streaming = undefined
        this.#blobs.set(head.id, false)
        this.#large.set(head.id, path)
      },
    }
  }
}
