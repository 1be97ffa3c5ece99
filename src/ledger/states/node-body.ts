// A node as bytes: the difference of each child's id to the one before. What is appended step by step has
// ids close together, so most children take one byte.

// Seven bits in each byte; the eighth says that another follows.
const BYTE_VALUES = 128
const MAX_BYTES_OF_ID = 8

/** Of ids up to 2 ** 51, which no table will reach: twice a difference must be exact. */
export function packNode(ids: readonly number[]): Buffer {
  const bytes = Buffer.allocUnsafe(ids.length * MAX_BYTES_OF_ID)
  let end = 0
  let last = 0
  for (const id of ids) {
    // Forward steps are even and backward ones odd, so that both are small numbers.
    const step = id >= last ? 2 * (id - last) : 2 * (last - id) - 1
    let rest = step
    while (rest >= BYTE_VALUES) {
      bytes[end] = (rest % BYTE_VALUES) + BYTE_VALUES
      end += 1
      // Not a shift: ids may need more than 32 bits.
      rest = Math.floor(rest / BYTE_VALUES)
    }
    bytes[end] = rest
    end += 1
    last = id
  }
  return bytes.subarray(0, end)
}

/** What stands in front of a sealed node: no node begins with it, because no id is 0. */
const SEAL = 0
const KEY_ID_BYTES = 8
const SEAL_BYTES = 1 + KEY_ID_BYTES + 16

export type NodeSeal = {
  readonly keyId: string
  readonly tag: Uint8Array /** The node without its seal. */
  readonly packed: Uint8Array
}

/** A node is no secret, but nobody may change what a state consists of unnoticed. */
export function withSeal(packed: Uint8Array, { keyId, tag }: Omit<NodeSeal, 'packed'>): Buffer {
  return Buffer.concat([Buffer.of(SEAL), Buffer.from(keyId, 'hex'), tag, packed])
}

/** Undefined for a node without one. */
export function sealOf(bytes: Uint8Array): NodeSeal | undefined {
  if (bytes[0] !== SEAL) return undefined
  return {
    keyId: Buffer.from(bytes.subarray(1, 1 + KEY_ID_BYTES)).toString('hex'),
    tag: bytes.subarray(1 + KEY_ID_BYTES, SEAL_BYTES),
    packed: bytes.subarray(SEAL_BYTES),
  }
}

/** The ids; undefined for bytes that no node has. A seal is passed over. */
export function unpackNode(body: Uint8Array): number[] | undefined {
  const bytes = body[0] === SEAL ? body.subarray(SEAL_BYTES) : body
  const ids: number[] = []
  let last = 0
  let step = 0
  let unit = 1
  // By index: an iterator takes ten times as long, and this runs for every element that is read.
  for (let place = 0; place < bytes.length; place += 1) {
    const byte = bytes[place] ?? 0
    // The next id, as nearly always. A first call is interpreted, and then all the rest takes its time.
    if (byte === 2 && unit === 1) {
      last += 1
      ids.push(last)
      continue
    }
    step += (byte % BYTE_VALUES) * unit
    if (byte >= BYTE_VALUES) {
      unit *= BYTE_VALUES
      continue
    }
    last += step % 2 === 0 ? step / 2 : -(step + 1) / 2
    if (!Number.isSafeInteger(last) || last <= 0) return undefined
    ids.push(last)
    step = 0
    unit = 1
  }
  return unit === 1 && ids.length > 0 ? ids : undefined
}
