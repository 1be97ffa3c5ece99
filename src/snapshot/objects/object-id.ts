// The id of a git object: the SHA-1 of its type, size and bytes.
import { createHash, hash } from 'node:crypto'
import type { ObjectId } from '../../model/index.js'

export type ObjectType = 'blob' | 'tree' | 'commit'

export const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904' as ObjectId

const SHORT_BYTES = 64 << 10

const scratch = Buffer.allocUnsafeSlow(SHORT_BYTES + 64)

export function objectIdOf(type: ObjectType, content: Uint8Array): ObjectId {
  const header = objectHeader(type, content.length)
  // One call is cheaper than a hash object while copying the content is cheap.
  if (content.length < SHORT_BYTES) {
    const start = scratch.latin1Write(header, 0)
    scratch.set(content, start)
    return hash('sha1', scratch.subarray(0, start + content.length)) as ObjectId
  }
  return createHash('sha1').update(header).update(content).digest('hex') as ObjectId
}

export function objectHeader(type: ObjectType, size: number): string {
  return `${type} ${size}\0`
}
