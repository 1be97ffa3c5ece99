// Detects private keys. Every file that is read is checked, so the first bytes decide: a key inside something else, such
// as a string in a test, does not count.
import { DOUBTFUL_NAME } from '../../../model/index.js'

/** `key`: a private key. `doubtful`: the name suggests a key, and the content is not clearly public. */
export type SecretContent = 'key' | 'doubtful'

/** How much of a large file is checked. */
export const SECRET_BYTES = 64 << 10
const HEAD_BYTES = 4 << 10
const DASH = 0x2d
const HASH = 0x23
const BRACE = 0x7b
/** First bytes of a key file: `-`, `#`, `{`, and those of AGE-, Bag, Private, PuTTY. */
const FIRST_BYTES: ReadonlySet<number> = new Set([DASH, HASH, BRACE, 0x41, 0x42, 0x50])

const ARMOUR = /^-{4,5} ?BEGIN [A-Z0-9 ]+-{4,5}/
const PRIVATE_ARMOUR = /^-{4,5} ?BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)? ?-{4,5}/m
const SECRET_LINE = /^(?:AGE-SECRET-KEY-1|PuTTY-User-Key-File-\d|Private-key-format: v)/
const PKCS12_LINE = /^(?:Bag Attributes|Key Attributes)/
const SERVICE_ACCOUNT = /"private_key"\s*:\s*"-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----/

/** `content` is the whole file, or its first SECRET_BYTES. */
export function secretIn(path: string, content: Buffer): SecretContent | undefined {
  if (isPrivateKey(content)) return 'key'
  return DOUBTFUL_NAME.test(path) && !isPublicArmour(content) ? 'doubtful' : undefined
}

function isPrivateKey(content: Buffer): boolean {
  const start = firstTextByte(content)
  if (!FIRST_BYTES.has(content[start] ?? 0)) return false
  const head = content.toString('latin1', start, start + HEAD_BYTES)
  // In JSON, only the key file of a service account counts.
  if (content[start] === BRACE) return SERVICE_ACCOUNT.test(head)
  const text = content[start] === HASH ? afterComments(head) : head
  if (SECRET_LINE.test(text)) return true
  // The file may begin with parameters or certificates, followed by the key.
  if (!ARMOUR.test(text) && !PKCS12_LINE.test(text)) return false
  return PRIVATE_ARMOUR.test(content.toString('latin1', start))
}

/** A certificate, public key or parameter block. */
function isPublicArmour(content: Buffer): boolean {
  const text = content.toString('latin1')
  return text.includes('-----BEGIN ') && !text.includes('PRIVATE KEY')
}

/** Skips a byte order mark and blanks. */
function firstTextByte(content: Buffer): number {
  let at = content[0] === 0xef && content[1] === 0xbb && content[2] === 0xbf ? 3 : 0
  while (at < HEAD_BYTES && isBlank(content[at])) at += 1
  return at
}

function isBlank(byte: number | undefined): boolean {
  return byte === 0x20 || (byte !== undefined && byte >= 0x09 && byte <= 0x0d)
}

/** Skips leading blank lines and `#` comments. */
function afterComments(head: string): string {
  return head.replace(/^(?:[ \t]*(?:#[^\n]*)?\r?\n)+/, '')
}
