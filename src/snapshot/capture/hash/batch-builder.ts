// Builds the answer of a hash thread as columns in one block of memory: an object or a buffer per file costs more than
// the work on it.
import { crc32 } from 'node:zlib'
import type { BigIntStats } from 'node:fs'
import type { ObjectId } from '../../../model/index.js'
import { deflate } from '../../objects/deflate.js'
import { PACK_HEAD_BYTES, putPackHead } from '../../objects/pack-format.js'
import { FIGURES_PER_FILE, type HashedBatch, STAMPS_PER_FILE } from './hashed-batch.js'
import type { ReadFault } from './read-file.js'
import type { SecretContent } from '../scan/secret-content.js'

const NO_ID = '0'.repeat(40)
const FIRST_BYTES = 1 << 20

export type HashedFile = {
  readonly id: ObjectId
  readonly stats: BigIntStats
  readonly readAtMs: number
  readonly lines: number
  readonly secret: SecretContent | undefined
}

export class BatchBuilder {
  /** Reused for the next batch. */
  #memory = Buffer.allocUnsafeSlow(FIRST_BYTES)
  #end = 0
  #count = 0
  #ids = ''
  #stamps = new BigInt64Array(0)
  #figures = new Float64Array(0)
  #faults: (readonly [number, ReadFault])[] = []
  #secrets: (readonly [number, SecretContent])[] = []

  /** Begins a batch of at most `fileCount` files. */
  begin(fileCount: number): void {
    this.#end = this.#count = 0
    this.#ids = ''
    this.#stamps = new BigInt64Array(fileCount * STAMPS_PER_FILE)
    this.#figures = new Float64Array(fileCount * FIGURES_PER_FILE)
    this.#faults = []
    this.#secrets = []
  }

  addFault(fault: ReadFault): void {
    this.#faults.push([this.#count, fault])
    this.#ids += NO_ID
    this.#count += 1
  }

  /** `content`: undefined if the store already has it. */
  add(file: HashedFile, content: Uint8Array | undefined): void {
    const { id, stats, readAtMs, lines, secret } = file
    if (secret !== undefined) this.#secrets.push([this.#count, secret])
    this.#ids += id
    const start = this.#end
    if (content !== undefined) this.#compress(content)
    const crc = start === this.#end ? 0 : crc32(this.#memory.subarray(start, this.#end))
    const { mtimeNs, ctimeNs, ino, size, mode, uid, gid } = stats
    this.#stamps.set([mtimeNs, ctimeNs, ino], this.#count * STAMPS_PER_FILE)
    const figures = [Number(size), Number(mode), readAtMs, lines, start, this.#end, crc]
    figures.push(Number(uid), Number(gid))
    this.#figures.set(figures, this.#count * FIGURES_PER_FILE)
    this.#count += 1
  }

  finish(): HashedBatch {
    const data = new ArrayBuffer(this.#end)
    this.#memory.copy(Buffer.from(data), 0, 0, this.#end)
    return {
      count: this.#count,
      ids: this.#ids,
      stamps: this.#stamps,
      figures: this.#figures,
      faults: this.#faults,
      secrets: this.#secrets,
      data,
    }
  }

  #compress(content: Uint8Array): void {
    const body = deflate(content)
    this.#reserve(PACK_HEAD_BYTES + body.length)
    this.#end = putPackHead(this.#memory, this.#end, { type: 'blob', size: content.length })
    this.#memory.set(body, this.#end)
    this.#end += body.length
  }

  #reserve(bytes: number): void {
    const end = this.#end + bytes
    if (end <= this.#memory.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(end, this.#memory.length * 2))
    this.#memory.copy(larger, 0, 0, this.#end)
    this.#memory = larger
  }
}
