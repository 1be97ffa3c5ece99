// The form of a pack:
//
//   savestate-pack 1\n
//   object …
//   0                         one byte: the end
//
//   object = type (1 byte) form (1) id (20) size (6, big endian) length (6) and `length` bytes of zlib
//
// The zlib stream is a copy of what the store has, so that nothing is compressed again: the content as in an entry of a git pack
// (form 1), or header and content as in a loose object (form 2).
import type { ObjectId } from '../../model/index.js'
import type { ObjectType } from '../objects/object-id.js'
import type { RawObject } from '../objects/raw-objects.js'

export const PACK_START = Buffer.from('savestate-pack 1\n', 'latin1')
export const PACK_END = Buffer.from([0])
export const HEAD_BYTES = 34

export type PackedType = Exclude<ObjectType, 'commit'>
export type PackedForm = RawObject['form']

export type PackHead = {
  readonly type: PackedType
  readonly form: PackedForm
  readonly id: ObjectId
  /** The bytes of the content. */
  readonly size: number
  /** The bytes of the zlib stream. */
  readonly length: number
}

const TYPES: readonly (PackedType | undefined)[] = [undefined, 'tree', 'blob']
const FORMS: readonly (PackedForm | undefined)[] = [undefined, 'content', 'loose']

export function encodeHead({ type, form, id, size, length }: PackHead): Buffer {
  const head = Buffer.allocUnsafe(HEAD_BYTES)
  head[0] = TYPES.indexOf(type)
  head[1] = FORMS.indexOf(form)
  head.hexWrite(id, 2)
  head.writeUIntBE(size, 22, 6)
  head.writeUIntBE(length, 28, 6)
  return head
}

/** Undefined if it is malformed. */
export function decodeHead(head: Buffer): PackHead | undefined {
  const [type, form] = [TYPES[head[0] ?? 0], FORMS[head[1] ?? 0]]
  if (type === undefined || form === undefined) return undefined
  const id = head.hexSlice(2, 22) as ObjectId
  return { type, form, id, size: head.readUIntBE(22, 6), length: head.readUIntBE(28, 6) }
}
