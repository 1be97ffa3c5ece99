// Packs: a line of JSON with the tree and the parent, then the git objects, cut into chunks that are sealed one by one. The context of a
// chunk has its number and whether it is the last one, so that none can be dropped, repeated or moved.
import { fieldsOf, tryParseJson } from '../../base/index.js'
import { PACK_CHUNK_BYTES } from '../../model/index.js'
import type { CommitPack, RemotePack } from '../remote.js'
import type { StoredPack } from '../driver.js'
import type { Codec } from './codec.js'
import { ENVELOPE_BYTES } from './remote-key.js'

const CHUNK_CONTENT_BYTES = PACK_CHUNK_BYTES - ENVELOPE_BYTES
const NEWLINE = 10
const MAX_HEADER_BYTES = 1024

type Pieces = AsyncIterable<Uint8Array> | Iterable<Uint8Array>

/** A pack that comes with a commit, as one chunk. */
export function encodePack(
  codec: Codec,
  pack: Omit<CommitPack, 'bytes'>,
  bytes: Uint8Array,
): Uint8Array {
  return codec.seal(Buffer.concat([headerOf(pack), bytes]), contextOf(pack.id, 0, true))
}

/** The chunks of a pack of any size, at most PACK_CHUNK_BYTES each. */
export async function* encodeChunks(
  codec: Codec,
  pack: Omit<CommitPack, 'bytes'>,
  bytes: Pieces,
): AsyncGenerator<Uint8Array> {
  let n = 0
  let waiting: Buffer | undefined
  for await (const chunk of cut(headerOf(pack), bytes)) {
    if (waiting !== undefined) yield codec.seal(waiting, contextOf(pack.id, n++, false))
    waiting = chunk
  }
  if (waiting !== undefined) yield codec.seal(waiting, contextOf(pack.id, n, true))
}

export async function decodePack(codec: Codec, pack: StoredPack): Promise<RemotePack> {
  const chunks = openChunks(codec, pack)
  const first = await chunks.next()
  const bytes = first.done === true ? Buffer.alloc(0) : first.value
  const end = bytes.subarray(0, MAX_HEADER_BYTES).indexOf(NEWLINE)
  const header = fieldsOf(tryParseJson(Buffer.from(bytes.subarray(0, end)).toString('utf8')))
  const { tree, parent } = header
  const isValid =
    end > 0 &&
    typeof tree === 'string' &&
    codec.nameOf(tree, 'tree') === pack.tree &&
    parent === pack.parent
  if (!isValid) throw codec.damaged(`pack ${pack.id} has a wrong header`)
  const rest = async function* () {
    yield bytes.subarray(end + 1)
    yield* chunks
  }
  return { id: pack.id, parent: pack.parent, tree, chunks: rest() }
}

async function* openChunks(codec: Codec, { id, chunks }: StoredPack): AsyncGenerator<Uint8Array> {
  let n = 0
  let waiting: Uint8Array | undefined
  for await (const chunk of chunks) {
    if (waiting !== undefined) yield codec.open(waiting, contextOf(id, n++, false))
    waiting = chunk
  }
  if (waiting !== undefined) yield codec.open(waiting, contextOf(id, n, true))
}

function headerOf({ tree, parent }: Omit<CommitPack, 'bytes'>): Buffer {
  return Buffer.from(`${JSON.stringify({ tree, parent })}\n`, 'utf8')
}

function contextOf(id: string, n: number, isLast: boolean): (string | number | boolean)[] {
  return ['pack', id, n, isLast]
}

/** Pieces of exactly CHUNK_CONTENT_BYTES, and a last one. */
async function* cut(header: Buffer, pieces: Pieces): AsyncGenerator<Buffer> {
  let parts: Uint8Array[] = [header]
  let length = header.length
  for await (const piece of pieces) {
    let rest = piece
    while (length + rest.length > CHUNK_CONTENT_BYTES) {
      const space = CHUNK_CONTENT_BYTES - length
      yield Buffer.concat([...parts, rest.subarray(0, space)])
      rest = rest.subarray(space)
      parts = []
      length = 0
    }
    // A stream may use its buffer again.
    parts.push(Uint8Array.prototype.slice.call(rest))
    length += rest.length
  }
  yield Buffer.concat(parts)
}
