// Looks up and adds objects of the store. A few new objects become loose files, many become one pack.
import { chmodSync, existsSync, fsyncSync, mkdirSync, rmdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { ObjectId } from '../../model/index.js'
import type { StagedRef } from './commit.js'
import {
  looseBytes,
  LooseListing,
  type NewObject,
  syncFolders,
  type WriteLoose,
  writeLooseObjects,
} from './loose.js'
import { type ObjectType, objectIdOf } from './object-id.js'
import { type PackEntry, packEntryOf } from './pack-format.js'
import { PackIndexes } from './pack-indexes.js'
import { adoptPacks, PackWriter } from './pack-writer.js'
import { findRawObject, type RawObject } from './raw-objects.js'
import { readStoredBlob } from './stored-blobs.js'
import { listIfExists } from '../../system/index.js'

const MAX_LOOSE_OBJECTS = 100
const MAX_LOOSE_BYTES = 4 << 20

export class ObjectStore {
  readonly folder: string
  readonly #packs: PackIndexes
  #loose: LooseListing | undefined

  /** `folder` is the `objects` folder of the store's git repository. */
  constructor(folder: string) {
    this.folder = folder
    this.#packs = new PackIndexes(folder)
  }

  /** Picks up changes since the last refresh. */
  refresh(): void {
    this.#packs.refresh()
    this.#loose = undefined
  }

  has(id: ObjectId): boolean {
    return this.folderOf(id) !== undefined
  }

  /** The subfolder of the objects folder that has the object; undefined if the store lacks it. */
  folderOf(id: ObjectId): string | undefined {
    this.#loose ??= new LooseListing(this.folder)
    if (this.#loose.has(id)) return id.slice(0, 2)
    return this.#packs.has(id) ? 'pack' : undefined
  }

  /** Reads a blob of this size without git; undefined if that is not possible. */
  readBlob(id: ObjectId, size: number): Buffer | undefined {
    return readStoredBlob({ id, size }, { folder: this.folder, packs: this.#packs })
  }

  /** Where the bytes of an object are; undefined for a delta, and if the store lacks it. Only git can read those. */
  rawObject(id: ObjectId): RawObject | undefined {
    return findRawObject(id, { folder: this.folder, packs: this.#packs })
  }

  close(): void {
    this.#packs.close()
  }
}

type FinishOptions = Pick<WriteLoose, 'onNamed'> & { readonly ref?: StagedRef | undefined }

/** Collects the new objects of one capture. They are stored only once `finish` has returned. */
export class ObjectSink {
  readonly #store: ObjectStore
  readonly #folder: string
  #hasFolder = false
  readonly #durable: boolean
  /** Folders of objects that already existed: a killed save may have named them without flushing the folder. */
  readonly #reliedOn = new Set<string>()
  readonly #seen = new Set<ObjectId>()
  #pending: NewObject[] = []
  #pendingBytes = 0
  #pack: PackWriter | undefined

  /** Only this sink uses the folder `temporary`; leftovers of a killed sink are removed. */
  constructor(
    store: ObjectStore,
    options: { readonly temporary: string; readonly durable: boolean },
  ) {
    this.#store = store
    this.#folder = options.temporary
    this.#durable = options.durable
    store.refresh()
  }

  /** Created on first use; most saves have nothing to store. */
  get temporary(): string {
    if (!this.#hasFolder) {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 })
      // A umask of this or of a killed process may have removed write permission.
      chmodSync(this.#folder, 0o700)
      const left = listIfExists(this.#folder)
      if (left.length > 0) adoptPacks(this.#folder, join(this.#store.folder, 'pack'))
      for (const name of left) rmSync(join(this.#folder, name), { recursive: true, force: true })
      this.#hasFolder = true
    }
    return this.#folder
  }

  /** Few enough objects to be written as loose files. */
  get isSmall(): boolean {
    return this.#pack === undefined
  }

  add(type: ObjectType, content: Uint8Array): ObjectId {
    const id = objectIdOf(type, content)
    this.addVerified({ id, type, content })
    return id
  }

  /** For content whose id the caller has computed. `zlib` is the compressed content, if there is one: a pack takes it as it is. */
  addVerified({ id, type, content }: NewObject, zlib?: Uint8Array): void {
    if (this.#seen.has(id)) return
    this.#seen.add(id)
    if (this.has(id)) return
    if (this.#pack !== undefined) {
      if (zlib === undefined) this.#pack.addObject(id, type, content)
      else this.#pack.add(id, packEntryOf(type, { size: content.length, zlib }))
      return
    }
    this.#pending.push({ id, type, content })
    this.#pendingBytes += content.length
    if (this.#pending.length > MAX_LOOSE_OBJECTS || this.#pendingBytes > MAX_LOOSE_BYTES)
      this.#startPack()
  }

  /** For objects that a hash thread compressed because the store lacks them. There are thousands, so they go into a pack. */
  addCompressed(id: ObjectId, entry: PackEntry): void {
    if (this.#seen.has(id)) return
    this.#seen.add(id)
    this.#pack ??= this.#startPack()
    this.#pack.add(id, entry)
  }

  /** Whether the store already has an object of this capture. */
  has(id: ObjectId): boolean {
    const folder = this.#store.folderOf(id)
    if (folder !== undefined) this.#reliedOn.add(folder)
    return folder !== undefined
  }

  /** Declares that the store already has this object of the capture: `finish` flushes its name too (I1). */
  relyOn(id: ObjectId): void {
    // A hash thread found it and does not report in which folder.
    this.#reliedOn.add(id.slice(0, 2)).add('pack')
  }

  /** Flushes the content of `ref` with the objects. For `onNamed` see WriteLoose. */
  async finish({ ref, onNamed }: FinishOptions = {}): Promise<void> {
    const durable = this.#durable
    const folders = this.#foldersReliedOn()
    if (this.#pack !== undefined) {
      await this.#pack.finish({ durable })
      if (durable) await syncFolders(folders)
      this.#pack = undefined
      if (durable && ref !== undefined) fsyncSync(ref.fd)
      onNamed?.()
    } else if (this.#pending.length > 0) {
      await writeLooseObjects(
        this.#pending.map((object) => ({ id: object.id, bytes: looseBytes(object) })),
        {
          folder: this.#store.folder,
          temporary: this.temporary,
          durable,
          also: ref === undefined ? [] : [ref.fd],
          folders,
          onNamed,
        },
      )
    } else if (durable) await syncFolders(folders)
    this.#pending = []
    this.#removeFolder()
  }

  /** Discards everything, including the temporary folder. */
  abandon(): void {
    this.#pack?.abandon()
    this.#pack = undefined
    this.#pending = []
    this.#removeFolder()
  }

  #foldersReliedOn(): readonly string[] {
    const folders = [...this.#reliedOn].map((name) => join(this.#store.folder, name))
    return folders.filter((folder) => existsSync(folder))
  }

  #removeFolder(): void {
    if (this.#hasFolder) removeFolder(this.#folder)
    this.#hasFolder = false
  }

  /** From here on everything goes directly into the pack, to bound memory. */
  #startPack(): PackWriter {
    const pack = new PackWriter(join(this.#store.folder, 'pack'), join(this.temporary, 'pack'))
    for (const { id, type, content } of this.#pending) pack.addObject(id, type, content)
    this.#pending = []
    this.#pack = pack
    return pack
  }
}

function removeFolder(folder: string): void {
  try {
    // Usually empty by now, and loading the recursive removal takes milliseconds.
    rmdirSync(folder)
  } catch {
    rmSync(folder, { recursive: true, force: true })
  }
}
