// The layout of nodes as columns of numbers, in memory that threads can share and in the stat cache.

export const KINDS = ['folder', 'file', 'link', 'skipped'] as const
export const KIND = { folder: 0, file: 1, link: 2, skipped: 3 } as const

/** Bytes of one node in all columns. */
export const NODE_BYTES = 4 * 8 + 3 * 4 + 2 * 2 + 3 + 20

export type Columns = {
  readonly sizes: Float64Array
  readonly mtimes: BigInt64Array
  readonly ctimes: BigInt64Array
  readonly inos: BigUint64Array
  readonly childCounts: Uint32Array
  readonly rules: Uint32Array
  readonly ignores: Uint32Array
  readonly modes: Uint16Array
  readonly nameBytes: Uint16Array
  readonly kinds: Uint8Array
  readonly flags: Uint8Array
  readonly reasons: Uint8Array
  readonly ids: Buffer
}

/** All nodes of a project, a folder before what it holds; a node's place is its row. */
export type NodeTable = {
  readonly count: number
  readonly columns: SharedArrayBuffer
  /** All names, one after the other. */
  readonly names: Uint8Array
  readonly shape: TableShape
}

/** What follows from the columns and everybody needs. */
export type TableShape = {
  /** Where a row's name begins. */
  readonly nameStarts: Uint32Array
  /** The row of the folder that holds a row. */
  readonly parents: Uint32Array
  /** The row after all that a row holds. */
  readonly ends: Uint32Array
}

export function newColumns(count: number): SharedArrayBuffer {
  return new SharedArrayBuffer(count * NODE_BYTES)
}

/** The widest first, so that each column is aligned. */
export function columnsOf(buffer: SharedArrayBuffer): Columns {
  const n = buffer.byteLength / NODE_BYTES
  let at = 0
  const place = (bytes: number) => {
    const start = at
    at += bytes * n
    return start
  }
  return {
    sizes: new Float64Array(buffer, place(8), n),
    mtimes: new BigInt64Array(buffer, place(8), n),
    ctimes: new BigInt64Array(buffer, place(8), n),
    inos: new BigUint64Array(buffer, place(8), n),
    childCounts: new Uint32Array(buffer, place(4), n),
    rules: new Uint32Array(buffer, place(4), n),
    ignores: new Uint32Array(buffer, place(4), n),
    modes: new Uint16Array(buffer, place(2), n),
    nameBytes: new Uint16Array(buffer, place(2), n),
    kinds: new Uint8Array(buffer, place(1), n),
    flags: new Uint8Array(buffer, place(1), n),
    reasons: new Uint8Array(buffer, place(1), n),
    ids: Buffer.from(buffer, place(20), 20 * n),
  }
}

export function shapeOf({ nameBytes, childCounts }: Columns): TableShape {
  const count = nameBytes.length
  const column = () => new Uint32Array(new SharedArrayBuffer(count * 4))
  const shape = { nameStarts: column(), parents: column(), ends: column() }
  const { nameStarts, parents, ends } = shape
  for (let row = 1; row < count; row++)
    nameStarts[row] = (nameStarts[row - 1] ?? 0) + (nameBytes[row - 1] ?? 0)
  for (let row = count - 1; row >= 0; row--) {
    let end = row + 1
    for (let left = childCounts[row] ?? 0; left > 0; left--) {
      parents[end] = row
      end = ends[end] ?? count
    }
    ends[row] = end
  }
  return shape
}
