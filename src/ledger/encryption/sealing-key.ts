// One key and what can be done with it. A sealed value is text: a mark, then in base64 (docs/encryption.md#envelope)
//
//   1 byte    version of the envelope
//   8 bytes   key id
//   12 bytes  nonce, another one for every value
//   n bytes   ciphertext, AES-256-GCM
//   16 bytes  authentication tag
//
// The first nine bytes are twelve letters of base64, so SQL can tell by which key a value is sealed.
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

/** Where a value stands: its table, and what names it there. Sealed for one context, it opens in no other. */
export type SealContext = readonly (string | number)[]

export const KEY_BYTES = 32
/** No JSON text begins with it. */
const MARK = '~'
const VERSION = 1
const ID_BYTES = 8
const HEADER_BYTES = 1 + ID_BYTES
const NONCE_BYTES = 12
const TAG_BYTES = 16
const HEADER_CHARS = MARK.length + (HEADER_BYTES * 4) / 3
/** Of the address of an element, as without a key. */
const ADDRESS_DIGITS = 40

/** A class for its private fields: they are in no log, no JSON and no copy. */
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

  /** With what every text sealed by this key begins. */
  get prefix(): string {
    return MARK + this.#header.toString('base64url')
  }

  /** `nonce` only for tests: used twice, it gives both values away. */
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
    // In this mode nothing is left for the end.
    cipher.final()
    const bytes = Buffer.concat([this.#header, nonce, body, cipher.getAuthTag()])
    return MARK + bytes.toString('base64url')
  }

  /**
   * Derived from random bytes and from the sealed value. In a copy of a running virtual machine the random generator continues as in the
   * original: then two values get the same nonce only if they are the same value at the same context, which gives nothing away.
   * `random` only for tests.
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

  /** Undefined if this key has not sealed exactly that for this context. */
  open(sealed: string, context: SealContext): string | undefined {
    const bytes = Buffer.from(sealed.slice(MARK.length), 'base64url')
    const start = HEADER_BYTES + NONCE_BYTES
    const end = bytes.length - TAG_BYTES
    // The decoder passes over what is not base64.
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
      // All that `final` can throw is that the tag does not fit.
      return undefined
    }
  }

  /** Names a content as its hash would, but only who has the key can tell of what. In hexadecimal digits. */
  deriveAddress(content: string): string {
    const digest = createHmac('sha256', this.#forAddresses).update(content).digest('hex')
    return digest.slice(0, ADDRESS_DIGITS)
  }

  /** Proves that bytes that are no secret are those that were written at a context. */
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

/** The id of the key that sealed the text; undefined if no version of ours has. */
export function keyIdOf(sealed: string): string | undefined {
  if (!isSealed(sealed)) return undefined
  const header = Buffer.from(sealed.slice(MARK.length, HEADER_CHARS), 'base64url')
  if (header.length !== HEADER_BYTES || header[0] !== VERSION) return undefined
  return header.toString('hex', 1)
}
