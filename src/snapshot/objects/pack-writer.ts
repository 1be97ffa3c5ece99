// Writes one pack and its index: how a first save of thousands of files becomes two files.
// Order of writes: pack (fsync), index (fsync), name pack, name index, fsync folder. Git sees a pack
// only through its index, so a kill in between leaves garbage, never damage (I2).
import { createHash } from 'node:crypto'
import { closeSync, existsSync, fsyncSync, openSync, readSync, renameSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { invariant, type ObjectId } from '../../model/index.js'
import { failpoint, syncFolder, writeAll, writeFileAtomically } from '../../system/index.js'
import { listIfThere } from './loose.js'
import type { PackEntry } from './pack-entry.js'
import { encodePackIndex, type IndexedEntry } from './pack-index.js'

const BUFFER_BYTES = 1 << 20

export class PackWriter {
  readonly #folder: string
  readonly #temporary: string
  readonly #fd: number
  readonly #entries: IndexedEntry[] = []
  readonly #buffer = Buffer.allocUnsafe(BUFFER_BYTES)
  #buffered = 0
  #offset = 0
  #isOpen = true

  /** `folder` is objects/pack; `temporary` a file name in a folder on the same disk. */
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

  finish({ durable }: { readonly durable: boolean }): void {
    invariant(this.#entries.length > 0, 'a pack holds something')
    this.#flush()
    // The number of objects is known only now; the checksum covers it, so the file is read back once.
    writeAll(this.#fd, packHeader(this.#entries.length), 0)
    const checksum = this.#checksum()
    writeAll(this.#fd, checksum, this.#offset)
    if (durable) fsyncSync(this.#fd)
    this.#close()
    failpoint('pack:written')
    // The index waits under its final name: should we be killed between the two renames, `adoptPacks` finds
    // it and completes the pack.
    const name = `pack-${checksum.toString('hex')}`
    const index = join(dirname(this.#temporary), `${name}.idx`)
    writeFileAtomically({
      path: index,
      temporary: `${this.#temporary}.idx`,
      content: encodePackIndex(this.#entries, checksum),
      durable,
    })
    renameSync(this.#temporary, join(this.#folder, `${name}.pack`))
    failpoint('pack:named')
    renameSync(index, join(this.#folder, `${name}.idx`))
    if (durable) syncFolder(this.#folder)
  }

  /** Also after a `finish` that failed, whichever step did. */
  abandon(): void {
    this.#close()
  }

  /** Once: by then the number may belong to another file. */
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
      const read = readSync(
        this.#fd,
        this.#buffer,
        0,
        Math.min(BUFFER_BYTES, this.#offset - at),
        at,
      )
      invariant(read > 0, 'a pack that was just written can be read back')
      hash.update(this.#buffer.subarray(0, read))
      at += read
    }
    return hash.digest()
  }
}

/** Completes the packs that a killed process had named, but not their indexes. */
export function adoptPacks(temporary: string, folder: string): void {
  for (const name of listIfThere(temporary)) {
    if (!/^pack-[0-9a-f]{40}\.idx$/.test(name)) continue
    if (existsSync(join(folder, name.replace('.idx', '.pack'))))
      renameSync(join(temporary, name), join(folder, name))
  }
}

function packHeader(count: number): Buffer {
  const header = Buffer.from('PACK\0\0\0\x02\0\0\0\0', 'latin1')
  header.writeUInt32BE(count, 8)
  return header
}
