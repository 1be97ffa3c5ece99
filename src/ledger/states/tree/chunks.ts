// Splits a list into the nodes of its tree. The content decides: a leaf ends after an element whose hash ends in enough zero bits, and
// a node above it after one with more. So a change moves only the boundaries near it, and equal lists have equal trees, whatever their
// history.

/** An element, or a node. */
export type Child = {
  readonly id: number
  /** Zero bits at the end of the hash of the element, or of the last element of the node. */
  readonly zeros: number
}

/** A node has 32 children on average. */
const ZEROS_PER_LEVEL = 5
/** Without it, a long run of equal elements could be one node. */
export const MAX_CHILDREN = 128

/** `zeros` are those of its last child. */
export type Chunk = { readonly ids: number[]; readonly zeros: number }

/** Leaves are at level 0. The first child must be the first one of a node. */
export function splitIntoChunks(children: readonly Child[], level: number): Chunk[] {
  const enough = ZEROS_PER_LEVEL * (level + 1)
  const chunks: Chunk[] = []
  let ids: number[] = []
  for (const [index, { id, zeros }] of children.entries()) {
    ids.push(id)
    if (zeros < enough && ids.length < MAX_CHILDREN && index < children.length - 1) continue
    chunks.push({ ids, zeros })
    ids = []
  }
  return chunks
}

/** The zero bits at the end of a hexadecimal hash, at most 32. No tree is high enough to need more. */
export function countTrailingZeros(hash: string): number {
  const last = Number.parseInt(hash.slice(-8), 16)
  return last === 0 ? 32 : 31 - Math.clz32(last & -last)
}
