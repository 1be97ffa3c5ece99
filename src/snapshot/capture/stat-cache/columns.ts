// The layout of nodes as columns of numbers, in shared memory and in the stat cache (see README.md). Some columns are
// derived from others: a new process reads them faster than it computes them.

export const KINDS = ['folder', 'file', 'link', 'skipped'] as const
export const KIND = { folder: 0, file: 1, link: 2, skipped: 3 } as const

/** Bytes of one node in all columns. */
export const NODE_BYTES = 5 * 8 + 10 * 4 + 2 * 2 + 3 + 20

export type Columns = {
  readonly sizes: Float64Array
  /** In nanoseconds. */
  readonly mtimes: BigInt64Array
  readonly ctimes: BigInt64Array
  readonly inos: BigUint64Array
  /** Running totals up to this row: bytes, files and links, skipped paths, and owners that differ from the folder's. */
  readonly bytesUpTo: Float64Array
  readonly filesUpTo: Uint32Array
  readonly skippedUpTo: Uint32Array
  readonly ownedUpTo: Uint32Array
  readonly childCounts: Uint32Array
  readonly rules: Uint32Array
  readonly ignores: Uint32Array
  readonly owners: Uint32Array
  readonly nameStarts: Uint32Array
  /** The row of the parent folder. */
  readonly parents: Uint32Array
  /** The row after the last descendant. */
  readonly ends: Uint32Array
  readonly modes: Uint16Array
  readonly nameBytes: Uint16Array
  readonly kinds: Uint8Array
  readonly flags: Uint8Array
  readonly reasons: Uint8Array
  readonly ids: Buffer
}

/** All nodes of a project in preorder. */
export type NodeTable = {
  readonly count: number
  readonly memory: SharedArrayBuffer
  /** The offset of the columns in the memory: a multiple of eight. */
  readonly at: number
  /** All names, concatenated. */
  readonly names: Uint8Array
}

/** The widest columns come first, so that each column is aligned. */
export function columnsOf({ count, memory, at }: Omit<NodeTable, 'names'>): Columns {
  let end = at
  const place = (bytes: number) => {
    const start = end
    end += bytes * count
    return start
  }
  return {
    sizes: new Float64Array(memory, place(8), count),
    mtimes: new BigInt64Array(memory, place(8), count),
    ctimes: new BigInt64Array(memory, place(8), count),
    inos: new BigUint64Array(memory, place(8), count),
    bytesUpTo: new Float64Array(memory, place(8), count),
    filesUpTo: new Uint32Array(memory, place(4), count),
    skippedUpTo: new Uint32Array(memory, place(4), count),
    ownedUpTo: new Uint32Array(memory, place(4), count),
    childCounts: new Uint32Array(memory, place(4), count),
    rules: new Uint32Array(memory, place(4), count),
    ignores: new Uint32Array(memory, place(4), count),
    owners: new Uint32Array(memory, place(4), count),
    nameStarts: new Uint32Array(memory, place(4), count),
    parents: new Uint32Array(memory, place(4), count),
    ends: new Uint32Array(memory, place(4), count),
    modes: new Uint16Array(memory, place(2), count),
    nameBytes: new Uint16Array(memory, place(2), count),
    kinds: new Uint8Array(memory, place(1), count),
    flags: new Uint8Array(memory, place(1), count),
    reasons: new Uint8Array(memory, place(1), count),
    ids: Buffer.from(memory, place(20), 20 * count),
  }
}

/** Fills the columns that are derived from others. */
export function deriveColumns(columns: Columns): void {
  const { nameBytes, childCounts, kinds, sizes } = columns
  const { nameStarts, parents, ends, bytesUpTo, filesUpTo, skippedUpTo } = columns
  const count = kinds.length
  let [nameStart, bytes, files, skipped] = [0, 0, 0, 0]
  for (let row = 0; row < count; row++) {
    const kind = kinds[row]
    if (kind === KIND.skipped) skipped += 1
    else if (kind !== KIND.folder) {
      files += 1
      bytes += sizes[row] ?? 0
    }
    nameStarts[row] = nameStart
    bytesUpTo[row] = bytes
    filesUpTo[row] = files
    skippedUpTo[row] = skipped
    nameStart += nameBytes[row] ?? 0
  }
  for (let row = count - 1; row >= 0; row--) {
    let end = row + 1
    for (let left = childCounts[row] ?? 0; left > 0; left--) {
      parents[end] = row
      end = ends[end] ?? count
    }
    ends[row] = end
  }
  const { owners, ownedUpTo } = columns
  let owned = 0
  for (let row = 0; row < count; row++) {
    const isOwned = row > 0 && owners[row] !== owners[parents[row] ?? 0]
    if (isOwned && kinds[row] !== KIND.skipped) owned += 1
    ownedUpTo[row] = owned
  }
}
