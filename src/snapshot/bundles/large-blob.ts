// Receives one large blob: it is decompressed, hashed, and written as a loose object on the way, and is never completely in memory.
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { PassThrough, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createDeflate, createInflate } from 'node:zlib'
import { syncFile } from '../../system/index.js'
import { objectHeader } from '../objects/object-id.js'
import type { PackHead } from './envelope.js'
import { badPack } from './pack-parser.js'
import { isZlibError } from './unpack-object.js'

export class LargeBlob {
  readonly #head: PackHead
  readonly #path: string
  readonly #durable: boolean
  readonly #input = new PassThrough()
  readonly #written: Promise<void>
  readonly #hash = createHash('sha1')

  /** Writes a complete loose object to the file `path`. */
  constructor(head: PackHead, options: { readonly path: string; readonly durable: boolean }) {
    this.#head = head
    this.#path = options.path
    this.#durable = options.durable
    const write = createWriteStream(this.#path, { mode: 0o600 })
    const deflate = createDeflate({ level: 1, chunkSize: 256 << 10 })
    this.#written = pipeline(this.#input, createInflate(), this.#check(), deflate, write)
    // `add` and `end` report the error.
    this.#written.catch(() => undefined)
  }

  async add(bytes: Uint8Array): Promise<void> {
    // A copy: the stream may keep it, and the caller's buffer may be a part of a larger one.
    if (this.#input.write(Buffer.from(bytes))) return
    await this.#explain(Promise.race([once(this.#input, 'drain'), this.#written]))
  }

  async end(): Promise<void> {
    this.#input.end()
    await this.#explain(this.#written)
    if (this.#hash.digest('hex') !== this.#head.id) throw this.#damaged()
    if (this.#durable) syncFile(this.#path)
  }

  async abandon(): Promise<void> {
    this.#input.destroy()
    await this.#written.catch(() => undefined)
  }

  /** Passes header and content on, whether or not the input has the header. Fails once there is more than announced. */
  #check(): Transform {
    const { type, form, size } = this.#head
    const header = Buffer.from(objectHeader(type, size), 'latin1')
    const total = header.length + size
    let seen = 0
    const observe = (chunk: Buffer) => {
      seen += chunk.length
      this.#hash.update(chunk)
      return seen > total ? this.#damaged() : null
    }
    return new Transform({
      construct(done) {
        if (form === 'content') {
          observe(header)
          this.push(header)
        }
        done()
      },
      transform: (chunk: Buffer, _encoding, done) => done(observe(chunk), chunk),
    })
  }

  async #explain(work: Promise<unknown>): Promise<void> {
    try {
      await work
    } catch (error) {
      throw isZlibError(error) ? this.#damaged() : error
    }
  }

  #damaged() {
    return badPack(`the blob ${this.#head.id} is damaged`)
  }
}
