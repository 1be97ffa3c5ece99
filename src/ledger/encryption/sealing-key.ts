// Seals and opens values with one key. A sealed value is text: a mark, then in base64 (docs/guide/encryption.md#envelope)
//
//   1 byte    version of the envelope
//   8 bytes   key id
//   12 bytes  nonce, different for every value
//   n bytes   ciphertext, AES-256-GCM
//   16 bytes  authentication tag
//
// The first nine bytes are twelve characters of base64, so an SQL query can read which key sealed a value.
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto'
import { invariant } from '../../model/index.js'

/** The table of a value and its key columns, authenticated with it (AAD). A sealed value opens only in its own context. */
export type SealContext = readonly (string | number)[]

export const KEY_BYTES = 32
/** No JSON text starts with it. */
const MARK = '~'
const VERSION = 1
const ID_BYTES = 8
const HEADER_BYTES = 1 + ID_BYTES
const NONCE_BYTES = 12
const TAG_BYTES = 16
const HEADER_CHARS = MARK.length + (HEADER_BYTES * 4) / 3
/** The length of an element's address, with and without a key. */
const ADDRESS_DIGITS = 40

/** A class, because private fields appear in no log, no JSON and no copy. */
export class SealingKey {
  readonly id: string
  readonly #forSealing: KeyObject
  readonly #forAddresses: KeyObject
  readonly #forNodes: KeyObject
  readonly #forNonces: KeyObject
  readonly #header: Buffer

  constructor(secret: Uint8Array) {
    invariant(secret.length === KEY_BYTES, 'a key has 32 bytes')
    const derived = (purpose: string) =>
      createSecretKey(
        Buffer.from(hkdfSync('sha256', secret, '', `savestate ${purpose}`, KEY_BYTES)),
      )
    const digest = createHmac('sha256', secret).update('savestate key id').digest()
    const id = digest.subarray(0, ID_BYTES)
    this.id = id.toString('hex')
    this.#header = Buffer.concat([Buffer.of(VERSION), id])
    this.#forSealing = derived('seal')
    this.#forAddresses = derived('address')
    this.#forNodes = derived('node')
    this.#forNonces = derived('nonce')
  }

  /** Pass `nonce` in tests only: a nonce that is used twice reveals both values. */
  seal(
    text: string,
    context: SealContext,
    nonce: Buffer = this.deriveNonce(text, context),
  ): string {
    const cipher = createCipheriv('aes-256-gcm', this.#forSealing, nonce, {
      authTagLength: TAG_BYTES,
    })
    cipher.setAAD(this.#bound(context))
    const body = cipher.update(text, 'utf8')
    // GCM returns no bytes here.
    cipher.final()
    const bytes = Buffer.concat([this.#header, nonce, body, cipher.getAuthTag()])
    return MARK + bytes.toString('base64url')
  }

  /**
   * Derived from random bytes and from the value. Two clones of a running virtual machine may draw the same random bytes. They then
   * derive the same nonce only for the same value in the same context, which reveals nothing. Pass `random` in tests only.
   */
  deriveNonce(
    text: string,
    context: SealContext,
    random: Uint8Array = randomBytes(NONCE_BYTES),
  ): Buffer {
    const hmac = createHmac('sha256', this.#forNonces).update(random)
    return hmac
      .update(`${JSON.stringify(context)}\n`)
      .update(text, 'utf8')
      .digest()
      .subarray(0, NONCE_BYTES)
  }

  /** Undefined if this key did not seal exactly this text in this context. */
  open(sealed: string, context: SealContext): string | undefined {
    const bytes = Buffer.from(sealed.slice(MARK.length), 'base64url')
    const start = HEADER_BYTES + NONCE_BYTES
    const end = bytes.length - TAG_BYTES
    // The decoder skips characters that are not base64.
    if (end < start || MARK + bytes.toString('base64url') !== sealed) return undefined
    if (!bytes.subarray(0, HEADER_BYTES).equals(this.#header)) return undefined
    const nonce = bytes.subarray(HEADER_BYTES, start)
    const decipher = createDecipheriv('aes-256-gcm', this.#forSealing, nonce, {
      authTagLength: TAG_BYTES,
    })
    decipher.setAAD(this.#bound(context))
    decipher.setAuthTag(bytes.subarray(end))
    const text = decipher.update(bytes.subarray(start, end))
    try {
      decipher.final()
      return text.toString('utf8')
    } catch {
      // `final` only throws if the tag does not match.
      return undefined
    }
  }

  /** A keyed hash in hexadecimal: names content without letting anyone who lacks the key guess it. */
  deriveAddress(content: string): string {
    const digest = createHmac('sha256', this.#forAddresses).update(content).digest('hex')
    return digest.slice(0, ADDRESS_DIGITS)
  }

  /** Authenticates bytes that are not secret. */
  computeTag(bytes: Uint8Array, context: SealContext): Buffer {
    const hmac = createHmac('sha256', this.#forNodes)
    return hmac
      .update(`${JSON.stringify(context)}\n`)
      .update(bytes)
      .digest()
      .subarray(0, TAG_BYTES)
  }

  verifyTag(tag: Uint8Array, bytes: Uint8Array, context: SealContext): boolean {
    return tag.length === TAG_BYTES && timingSafeEqual(tag, this.computeTag(bytes, context))
  }

  #bound(context: SealContext): Buffer {
    return Buffer.concat([this.#header, Buffer.from(JSON.stringify(context), 'utf8')])
  }
}

export function isSealed(text: string): boolean {
  return text.startsWith(MARK)
}

/** The id of the key that sealed the text; undefined if the header is not valid. */
export function keyIdOf(sealed: string): string | undefined {
  if (!isSealed(sealed)) return undefined
  const header = Buffer.from(sealed.slice(MARK.length, HEADER_CHARS), 'base64url')
  if (header.length !== HEADER_BYTES || header[0] !== VERSION) return undefined
  return header.toString('hex', 1)
}
