// Seals what leaves the machine with keys derived from the key of a remote (docs/internals/shared.md#encryption). An envelope is
//
//   1 byte    version of the envelope
//   8 bytes   key id
//   12 bytes  nonce, different for every value
//   n bytes   ciphertext, AES-256-GCM
//   16 bytes  authentication tag
//
// The context (remote, log, position) is authenticated with it, so a server cannot exchange two values.
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto'
import { SavestateError } from '../../model/index.js'

export type RemoteContext = readonly (string | number | boolean | null)[]

export const REMOTE_KEY_BYTES = 32
const VERSION = 1
const ID_BYTES = 8
const HEADER_BYTES = 1 + ID_BYTES
const NONCE_BYTES = 12
const TAG_BYTES = 16
/** How much longer a sealed value is. */
export const ENVELOPE_BYTES = HEADER_BYTES + NONCE_BYTES + TAG_BYTES
const NAME_DIGITS = 40

/** A class, because private fields appear in no log, no JSON and no copy. */
export class RemoteKey {
  readonly #header: Buffer
  readonly #forSealing: KeyObject
  readonly #forNames: KeyObject
  readonly #forNonces: KeyObject

  constructor(secret: Uint8Array) {
    if (secret.length !== REMOTE_KEY_BYTES)
      throw new SavestateError('KEY_UNUSABLE', 'The key of a remote has 32 bytes')
    // Purposes of their own: a store may use the same key, and no two uses share a derived one.
    const derive = (purpose: string) =>
      createSecretKey(
        Buffer.from(
          hkdfSync('sha256', secret, '', `savestate remote ${purpose}`, REMOTE_KEY_BYTES),
        ),
      )
    const id = createHmac('sha256', secret).update('savestate remote key id').digest()
    this.#header = Buffer.concat([Buffer.of(VERSION), id.subarray(0, ID_BYTES)])
    this.#forSealing = derive('seal')
    this.#forNames = derive('name')
    this.#forNonces = derive('nonce')
  }

  /**
   * `isRepeatable`: equal bytes in an equal context are sealed alike, which shows the server that they are equal. The nonce is safe
   * without random bytes, because it depends on all of them.
   */
  seal(
    bytes: Uint8Array,
    context: RemoteContext,
    { isRepeatable = false }: { readonly isRepeatable?: boolean } = {},
  ): Buffer {
    const random = isRepeatable ? Buffer.alloc(0) : randomBytes(NONCE_BYTES)
    const nonce = this.#deriveNonce(random, bytes, context)
    const cipher = createCipheriv('aes-256-gcm', this.#forSealing, nonce, {
      authTagLength: TAG_BYTES,
    })
    cipher.setAAD(this.#bind(context))
    const body = cipher.update(bytes)
    // GCM returns no bytes here.
    cipher.final()
    return Buffer.concat([this.#header, nonce, body, cipher.getAuthTag()])
  }

  /** Undefined if this key did not seal exactly these bytes in this context. */
  open(sealed: Uint8Array, context: RemoteContext): Buffer | undefined {
    const start = HEADER_BYTES + NONCE_BYTES
    const end = sealed.length - TAG_BYTES
    if (end < start || !this.#header.equals(sealed.subarray(0, HEADER_BYTES))) return undefined
    const nonce = sealed.subarray(HEADER_BYTES, start)
    const decipher = createDecipheriv('aes-256-gcm', this.#forSealing, nonce, {
      authTagLength: TAG_BYTES,
    })
    decipher.setAAD(this.#bind(context))
    decipher.setAuthTag(sealed.subarray(end))
    const bytes = decipher.update(sealed.subarray(start, end))
    try {
      decipher.final()
      return bytes
    } catch {
      // `final` only throws if the tag does not match.
      return undefined
    }
  }

  /** A keyed hash: equal texts have equal names, and without the key a name says nothing. */
  deriveName(text: string, context: RemoteContext): string {
    const hmac = createHmac('sha256', this.#forNames).update(JSON.stringify([...context, text]))
    return hmac.digest('hex').slice(0, NAME_DIGITS)
  }

  /** From random bytes and from the value: two clones of a virtual machine may draw the same random bytes (sealing-key.ts). */
  #deriveNonce(random: Uint8Array, bytes: Uint8Array, context: RemoteContext): Buffer {
    const hmac = createHmac('sha256', this.#forNonces).update(random)
    return hmac
      .update(`${JSON.stringify(context)}\n`)
      .update(bytes)
      .digest()
      .subarray(0, NONCE_BYTES)
  }

  #bind(context: RemoteContext): Buffer {
    return Buffer.concat([this.#header, Buffer.from(JSON.stringify(context), 'utf8')])
  }
}
