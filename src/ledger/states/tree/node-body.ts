// A node as bytes: the difference of each child's id to the one before. What is appended step by step has
// ids close together, so most children take one byte.

import { MAX_CHILDREN } from './chunks.js'

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
export function addSeal(packed: Uint8Array, { keyId, tag }: Omit<NodeSeal, 'packed'>): Buffer {
  return Buffer.concat([Buffer.of(SEAL), Buffer.from(keyId, 'hex'), tag, packed])
}

/** Undefined for a node without one. */
export function parseSeal(bytes: Uint8Array): NodeSeal | undefined {
  if (bytes[0] !== SEAL) return undefined
  return {
    keyId: Buffer.from(bytes.subarray(1, 1 + KEY_ID_BYTES)).toString('hex'),
    tag: bytes.subarray(1 + KEY_ID_BYTES, SEAL_BYTES),
    packed: bytes.subarray(SEAL_BYTES),
  }
}

/** Ids each of which is the next after the one before. */
export type Run = { readonly first: number; count: number }

const NEXT = 2
/** As many as can follow in a node. */
const ALL_NEXT = Buffer.alloc(MAX_CHILDREN, NEXT)

/** The ids; undefined for bytes that no node has. A seal is passed over. */
export function unpackNode(body: Uint8Array): number[] | undefined {
  return unpackRuns(body)?.flatMap(expandRun)
}

export function expandRun({ first, count }: Run): number[] {
  return Array.from({ length: count }, (_, index) => first + index)
}

export function toRuns(ids: readonly number[]): Run[] {
  const runs: Run[] = []
  for (const id of ids) {
    const last = runs.at(-1)
    if (last !== undefined && last.first + last.count === id) last.count += 1
    else runs.push({ first: id, count: 1 })
  }
  return runs
}

/**
 * The same as runs. A list that grew step by step is nearly all one run: then most of a node is compared at once, and not
 * gone through, which takes its time in a process that has just begun.
 */
export function unpackRuns(body: Uint8Array): Run[] | undefined {
  const bytes = body[0] === SEAL ? body.subarray(SEAL_BYTES) : body
  const runs: Run[] = []
  let last = 0
  let step = 0
  let unit = 1
  // By index: an iterator takes ten times as long.
  for (let index = 0; index < bytes.length; index += 1) {
    const run = runs.at(-1)
    if (unit === 1 && run?.count === 1 && isAllNext(bytes, index)) {
      run.count += bytes.length - index
      return runs
    }
    const byte = bytes[index] ?? 0
    step += (byte % BYTE_VALUES) * unit
    if (byte >= BYTE_VALUES) {
      unit *= BYTE_VALUES
      continue
    }
    last += step % 2 === 0 ? step / 2 : -(step + 1) / 2
    if (!Number.isSafeInteger(last) || last <= 0) return undefined
    if (run !== undefined && last === run.first + run.count) run.count += 1
    else runs.push({ first: last, count: 1 })
    step = 0
    unit = 1
  }
  return unit === 1 && runs.length > 0 ? runs : undefined
}

function isAllNext(bytes: Uint8Array, from: number): boolean {
  const count = bytes.length - from
  return count <= MAX_CHILDREN && ALL_NEXT.compare(bytes, from, bytes.length, 0, count) === 0
}
