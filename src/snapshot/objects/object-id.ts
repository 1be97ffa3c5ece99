// The name of a git object: the SHA-1 of its type, size and bytes.
import { createHash } from 'node:crypto'
import type { ObjectId } from '../../model/index.js'

export type ObjectType = 'blob' | 'tree' | 'commit'

export const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904' as ObjectId

export function objectIdOf(type: ObjectType, content: Uint8Array): ObjectId {
  const hash = createHash('sha1')
  hash.update(objectHeader(type, content.length))
  hash.update(content)
  return hash.digest('hex') as ObjectId
}

export function objectHeader(type: ObjectType, size: number): string {
  return `${type} ${size}\0`
}
