// Writes one pack and its index, so that a first save of thousands of files becomes two files.
// Order of writes: pack (fsync), index (fsync), name pack, name index, fsync folder. Git sees a pack only through its index, so a
// kill in between leaves garbage, never damage (I2). The index is built while the pack is being flushed.
import { createHash } from 'node:crypto'
import { closeSync, existsSync, fsync, openSync, readSync, renameSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { invariant, type ObjectId } from '../../model/index.js'
import { failpoint, listIfExists, syncFolder, writeAll } from '../../system/index.js'
import type { ObjectType } from './object-id.js'
import {
  encodePackEntry,
  encodePackIndex,
  type IndexedEntry,
  type PackEntry,
  packHeader,
} from './pack-format.js'

const BUFFER_BYTES = 1 << 20
const fsyncAsync = promisify(fsync)

export class PackWriter {
  readonly #folder: string
  readonly #temporary: string
  readonly #fd: number
  readonly #entries: IndexedEntry[] = []
  readonly #buffer = Buffer.allocUnsafe(BUFFER_BYTES)
  #buffered = 0
  #offset = 0
  #isOpen = true

  /** `folder` is objects/pack; `temporary` is a file name on the same disk. */
  constructor(folder: string, temporary: string) {
    this.#folder = folder
    this.#temporary = temporary
    this.#fd = openSync(temporary, 'w+', 0o600)
    this.#append(packHeader(0))
  }

  add(id: ObjectId, { bytes, crc }: PackEntry): void {
    this.#entries.push({ id, crc, offset: this.#offset })
    this.#append(bytes)
  }

  addObject(id: ObjectId, type: ObjectType, content: Uint8Array): void {
    this.add(id, encodePackEntry(type, content))
  }

  async finish({ durable }: { readonly durable: boolean }): Promise<void> {
    invariant(this.#entries.length > 0, 'a pack holds something')
    this.#flush()
    // The number of objects is known only now, and the checksum covers it, so the file is read back once.
    writeAll(this.#fd, packHeader(this.#entries.length), 0)
    const checksum = this.#checksum()
    writeAll(this.#fd, checksum, this.#offset)
    const flushed = durable ? fsyncAsync(this.#fd) : Promise.resolve()
    const content = encodePackIndex(this.#entries, checksum)
    await flushed
    this.#close()
    failpoint('pack:written')
    // The index waits under its final name: if the process is killed between the two renames, `adoptPacks` finds it
    // and completes the pack.
    const name = `pack-${checksum.toString('hex')}`
    const index = join(dirname(this.#temporary), `${name}.idx`)
    const fd = openSync(`${this.#temporary}.idx`, 'w', 0o600)
    try {
      writeAll(fd, content)
      if (durable) await fsyncAsync(fd)
    } finally {
      closeSync(fd)
    }
    renameSync(`${this.#temporary}.idx`, index)
    renameSync(this.#temporary, join(this.#folder, `${name}.pack`))
    failpoint('pack:named')
    renameSync(index, join(this.#folder, `${name}.idx`))
    if (durable) syncFolder(this.#folder)
  }

  /** Also after a failed `finish`. */
  abandon(): void {
    this.#close()
  }

  /** Closes once: later the descriptor may belong to another file. */
  #close(): void {
    if (this.#isOpen) closeSync(this.#fd)
    this.#isOpen = false
  }

  #append(bytes: Uint8Array): void {
    this.#offset += bytes.length
    if (this.#buffered + bytes.length > BUFFER_BYTES) this.#flush()
    if (bytes.length >= BUFFER_BYTES) {
      writeAll(this.#fd, bytes)
      return
    }
    this.#buffer.set(bytes, this.#buffered)
    this.#buffered += bytes.length
  }

  #flush(): void {
    writeAll(this.#fd, this.#buffer.subarray(0, this.#buffered))
    this.#buffered = 0
  }

  #checksum(): Buffer {
    const hash = createHash('sha1')
    for (let at = 0; at < this.#offset; ) {
      const length = Math.min(BUFFER_BYTES, this.#offset - at)
      const read = readSync(this.#fd, this.#buffer, 0, length, at)
      invariant(read > 0, 'a pack that was just written can be read back')
      hash.update(this.#buffer.subarray(0, read))
      at += read
    }
    return hash.digest()
  }
}

/** Completes the packs that a killed process named without naming their indexes. */
export function adoptPacks(temporary: string, folder: string): void {
  for (const name of listIfExists(temporary)) {
    if (!/^pack-[0-9a-f]{40}\.idx$/.test(name)) continue
    if (existsSync(join(folder, name.replace('.idx', '.pack'))))
      renameSync(join(temporary, name), join(folder, name))
  }
}
