// Packs the children of a node into bytes: the difference of each id to the one before. A list that grew step by step has ids close
// together, so most children take one byte.

// Seven bits per byte; the eighth bit says that another byte follows.
const BYTE_VALUES = 128
const MAX_BYTES_OF_ID = 8

/** For ids up to 2 ** 51, which no table will reach: twice a difference must be exact. */
export function packNode(ids: readonly number[]): Buffer {
  const bytes = Buffer.allocUnsafe(ids.length * MAX_BYTES_OF_ID)
  let end = 0
  let last = 0
  for (const id of ids) {
    // Forward differences are even and backward ones odd, so that both are small numbers.
    let rest = id >= last ? 2 * (id - last) : 2 * (last - id) - 1
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

/** Undefined for bytes that are not a node. Skips the seal. */
export function unpackNode(body: Uint8Array): number[] | undefined {
  const bytes = body[0] === SEAL ? body.subarray(SEAL_BYTES) : body
  const ids: number[] = []
  let last = 0
  let difference = 0
  let unit = 1
  // By index: an iterator takes ten times as long.
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes[index] ?? 0
    difference += (byte % BYTE_VALUES) * unit
    if (byte >= BYTE_VALUES) {
      unit *= BYTE_VALUES
      continue
    }
    last += difference % 2 === 0 ? difference / 2 : -(difference + 1) / 2
    if (!Number.isSafeInteger(last) || last <= 0) return undefined
    ids.push(last)
    difference = 0
    unit = 1
  }
  return unit === 1 && ids.length > 0 ? ids : undefined
}

/** The first byte of a sealed node. No other node starts with it, because no id is 0. */
const SEAL = 0
const KEY_ID_BYTES = 8
const SEAL_BYTES = 1 + KEY_ID_BYTES + 16

export type NodeSeal = {
  readonly keyId: string
  readonly tag: Uint8Array
  /** The node without its seal. */
  readonly packed: Uint8Array
}

/** A node is not secret, but the tag reveals any change of it. */
export function addSeal(packed: Uint8Array, { keyId, tag }: Omit<NodeSeal, 'packed'>): Buffer {
  return Buffer.concat([Buffer.of(SEAL), Buffer.from(keyId, 'hex'), tag, packed])
}

/** Undefined for a node without a seal. */
export function parseSeal(bytes: Uint8Array): NodeSeal | undefined {
  if (bytes[0] !== SEAL) return undefined
  return {
    keyId: Buffer.from(bytes.subarray(1, 1 + KEY_ID_BYTES)).toString('hex'),
    tag: bytes.subarray(1 + KEY_ID_BYTES, SEAL_BYTES),
    packed: bytes.subarray(SEAL_BYTES),
  }
}
