// Reads the tags that contain no other values. Each is validated: the text may be damaged.
import { BYTES_MAKERS, type BytesMaker } from './tags.js'
import { malformed } from './unreadable.js'

/** `args` are the tag and its arguments. Undefined for any other tag. */
export function readLeaf(args: readonly unknown[]): object | bigint | undefined {
  const [tag, content] = args
  const maker = typeof tag === 'string' ? BYTES_MAKERS.get(tag) : undefined
  if (maker !== undefined) return readBytes(content, maker)
  switch (tag) {
    case 'BigInt':
      return readBigInt(content)
    case 'Date':
      return readDate(content)
    case 'URL':
      return readUrl(content)
  }
  return undefined
}

export function readRegExp(source: unknown, flags: unknown): RegExp {
  if (typeof source !== 'string' || typeof flags !== 'string')
    throw malformed('a RegExp without source and flags')
  try {
    return new RegExp(source, flags)
  } catch (cause) {
    throw malformed(`an invalid RegExp, /${source}/${flags}`, cause)
  }
}

function readBytes(text: unknown, { unitBytes, make }: BytesMaker): object {
  if (typeof text !== 'string') throw malformed('a tag for bytes without bytes')
  const bytes = Buffer.from(text, 'base64')
  // Node skips invalid base64 instead of rejecting it.
  if (bytes.toString('base64') !== text || bytes.length % unitBytes !== 0)
    throw malformed('a tag for bytes with damaged bytes')
  // Small Buffers share one memory pool; the result gets its own memory.
  const own = new ArrayBuffer(bytes.length)
  bytes.copy(new Uint8Array(own))
  return make(own)
}

function readBigInt(text: unknown): bigint {
  if (typeof text !== 'string' || !/^-?\d+$/.test(text)) throw malformed('a BigInt without digits')
  return BigInt(text)
}

function readDate(timeMs: unknown): Date {
  if (timeMs === null) return new Date(Number.NaN)
  if (typeof timeMs !== 'number') throw malformed('a Date without a time')
  return new Date(timeMs)
}

function readUrl(text: unknown): URL {
  if (typeof text !== 'string' || !URL.canParse(text)) throw malformed('an invalid URL')
  return new URL(text)
}
