// Random bytes, many at a time: to ask the system for each nonce takes as long as the encryption.
import { randomFillSync } from 'node:crypto'

const AT_ONCE = 256

export class Nonces {
  readonly #bytes: number
  #pool = Buffer.alloc(0)

  constructor(bytes: number) {
    this.#bytes = bytes
  }

  /** No two are the same memory, so nobody can change one that is in use. */
  next(): Buffer {
    if (this.#pool.length === 0) this.#pool = randomFillSync(Buffer.alloc(AT_ONCE * this.#bytes))
    const nonce = this.#pool.subarray(0, this.#bytes)
    this.#pool = this.#pool.subarray(this.#bytes)
    return nonce
  }
}
