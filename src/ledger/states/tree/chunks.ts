// Where the nodes of a list's tree end. The content decides: a leaf ends after an element whose hash has some
// zero bits at its end, and the node above it where there are more. So a change somewhere moves the ends near
// it and no others, and the same list has the same tree, whatever its history.

/** An element, or a node by its last element. */
export type Child = {
  readonly id: number /** Zero bits at the end of the hash. */
  readonly zeros: number
}

/** On average 32 children in a node. */
const ZEROS_PER_LEVEL = 5
/** A long run of equal elements never ends a node by itself. */
export const MAX_CHILDREN = 128

export type Chunk = { readonly ids: number[] /** Of its last child. */; readonly zeros: number }

/** The children as nodes of a level; leaves are at level 0. The first child must be the first of a node. */
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

/** Of a hash in hexadecimal digits. 32 at most: no tree is so high that more would matter. */
export function countTrailingZeros(hash: string): number {
  const last = Number.parseInt(hash.slice(-8), 16)
  return last === 0 ? 32 : 31 - Math.clz32(last & -last)
}
