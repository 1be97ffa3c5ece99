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
