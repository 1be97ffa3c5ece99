// Updates the tree of a list. `rebuildTree` updates a known tree after a change, from the first changed index on. `extendTree` appends
// to a stored tree, from the last node of each level. Both give the same tree as writing the list for the first time.
//
// The content decides where nodes end: a leaf ends after an element whose hash ends in enough zero bits, and a node above it after one
// with more. So a change moves only the boundaries near it, and equal lists have equal trees, whatever their history.
import type { StateId } from '../../../model/index.js'
import { readHash } from './element-rows.js'
import { type KnownNodes, nodeKey, openNodes, storeNode } from './node-rows.js'
import type { Rows } from '../rows.js'
import { EMPTY_TREE, type Tree } from '../state-body.js'

/** An element, or a node. */
export type Child = {
  readonly id: number
  /** Zero bits at the end of the hash of the element, or of the last element of the node. */
  readonly zeros: number
}

/** `key` is its key in KnownNodes. */
type Node = Child & { readonly key: string; readonly size: number }

export type KnownTree = {
  tree: Tree
  /** Leaves first. */
  readonly levels: Node[][]
}

export function emptyTree(): KnownTree {
  return { tree: EMPTY_TREE, levels: [] }
}

type Change = {
  readonly elements: readonly Child[]
  /** The elements before this index are unchanged. */
  readonly changedFrom: number
}

/** Makes `known` the tree of these elements. */
export function rebuildTree(
  rows: Rows,
  { known, elements, changedFrom }: Change & { readonly known: KnownTree },
): void {
  const { levels } = known
  let children = elements
  let from = changedFrom
  let height = -1
  do {
    height += 1
    const nodes = levels[height] ?? []
    const before = popNodesFrom(nodes, from)
    from = nodes.length
    const rest = children.slice(before.start)
    const level = { children: rest, level: height, before: before.nodes }
    for (const node of storeLevel(rows, level)) nodes.push(node)
    levels[height] = nodes
    children = nodes
  } while (children.length > 1)
  levels.length = height + 1
  known.tree = { length: elements.length, height, node: children[0]?.id ?? 0 }
}

/** Removes the nodes with children from this index on. Always removes the last node: it may have ended only because the list did. */
function popNodesFrom(
  nodes: Node[],
  index: number,
): { readonly nodes: KnownNodes; readonly start: number } {
  const popped: KnownNodes = new Map()
  let start = nodes.reduce((sum, { size }) => sum + size, 0)
  do {
    const node = nodes.pop()
    if (node === undefined) break
    popped.set(node.key, node.id)
    start -= node.size
  } while (start > index)
  return { nodes: popped, start }
}

type Extension = {
  readonly tree: Tree
  /** The state that holds the tree; undefined if the tree is empty. */
  readonly state: StateId | undefined
  readonly elements: readonly Child[]
}

export function extendTree(rows: Rows, { tree, state, elements }: Extension): Tree {
  const spine = state === undefined ? [] : readSpine(rows, { tree, state })
  let children = elements
  let height = -1
  do {
    height += 1
    const { kept = [], key = '', id = 0 } = spine[height] ?? {}
    const before: KnownNodes = new Map([[key, id]])
    children = storeLevel(rows, { children: [...kept, ...children], level: height, before })
  } while (children.length > 1 || height < tree.height)
  return { length: tree.length + elements.length, height, node: children[0]?.id ?? 0 }
}

type SpineNode = {
  readonly id: number
  readonly key: string
  /** The children that stay. Those of a leaf all do. The last child of a higher node grows, and is left out. */
  readonly kept: readonly Child[]
}

/** The last node of each level, leaf first. */
function readSpine(
  rows: Rows,
  { tree, state }: { readonly tree: Tree; readonly state: StateId },
): SpineNode[] {
  const spine: SpineNode[] = []
  let id = tree.node
  for (let level = tree.height; level >= 0 && tree.length > 0; level -= 1) {
    const [ids = []] = openNodes(rows, { ids: [id], state })
    const last = ids.at(-1) ?? 0
    // No boundary is within a node, so only the hash of its last child matters.
    const kept = ids.slice(0, -1).map((child) => ({ id: child, zeros: 0 }))
    if (level === 0)
      kept.push({ id: last, zeros: countTrailingZeros(readHash(rows, { id: last, state })) })
    spine.unshift({ id, key: nodeKey(ids), kept })
    id = last
  }
  return spine
}

type Level = {
  readonly children: readonly Child[]
  readonly level: number
  /** Stored nodes of this level, which need no new row. */
  readonly before: KnownNodes
}

function storeLevel(rows: Rows, { children, level, before }: Level): Node[] {
  return splitIntoChunks(children, level).map(({ ids, zeros }) => {
    const { id, key } = storeNode(rows, { ids, known: before })
    return { id, key, zeros, size: ids.length }
  })
}

/** A node has 32 children on average. */
const ZEROS_PER_LEVEL = 5
/** Without it, a long run of equal elements could be one node. */
export const MAX_CHILDREN = 128

/** `zeros` are those of its last child. */
type Chunk = { readonly ids: number[]; readonly zeros: number }

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
