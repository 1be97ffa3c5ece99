// What is known of each path of a project: how it looked when it was last read, and what it became.
import {
  type BytePath,
  joinPath,
  type ObjectId,
  ROOT,
  type SkipReason,
} from '../../../model/index.js'
import { treeOrder } from '../../objects/tree.js'
import { NO_OWNER } from '../scan/owners.js'
import { type Stamp, type Stats, setStamp } from './stats.js'
import type { Summary } from './folder-summary.js'

/** Stored by no capture that is known of. */
const NEVER = Number.MAX_SAFE_INTEGER

// Classes with every field set at once, because there are as many nodes as files: objects put together by
// spreading take several times the memory, and every pass over them that much longer.
abstract class Common implements Stamp {
  readonly name: BytePath
  size = 0
  mtimeNs = 0n
  ctimeNs = 0n
  ino = 0n
  /** Read late enough after its last change that a further change must show in the stamp. */
  settled = false
  /** The capture that stored it; see ProjectCapture on which captures are held by a checkpoint. */
  epoch = NEVER
  /** See owners.ts. */
  owner = NO_OWNER
  /** Its row in the NodeTable that was last made; -1 if it came later. */
  place = -1

  constructor(name: BytePath) {
    this.name = name
  }
}

export class ContentNode extends Common {
  readonly kind: 'file' | 'link'
  mode = 0o644
  /** Undefined while it waits to be hashed. */
  id: ObjectId | undefined = undefined
  /** Number of lines, if it was read in this process. */
  lines: number | undefined = undefined
  /** Its content is that of a secret, and the rules that held when it was read let it in. */
  isAllowedSecret = false
  /** Captured only because the project's own git tracks it, or perhaps so. */
  readonly viaIndex: boolean
  /** It had other names when it was last looked at: a change through one of them gives no event here. */
  isLinked = false

  constructor(name: BytePath, kind: 'file' | 'link', viaIndex: boolean) {
    super(name)
    this.kind = kind
    this.viaIndex = viaIndex
  }
}

/** Where the nodes in a folder are until somebody wants to see them. */
export type ChildSource = {
  childrenOf(folder: FolderNode): Node[]
}

export class FolderNode extends Common {
  readonly kind = 'folder'
  mode = 0o755
  #children: Node[] = []
  #source: ChildSource | undefined = undefined
  /** Undefined when something inside has changed. */
  id: ObjectId | undefined = undefined
  /** The ignore rules that `children` was decided by; empty when it must be decided anew. */
  rulesKey = ''
  /** It holds a repository or an ignore file: entering it changes what is captured. */
  hasRuleFiles = false
  /** Identity and content hash of the ignore files in this folder. */
  ignoreStamp = ''
  ignoreKey = ''
  /** Of all below; undefined since a scan went in. */
  summary: Summary | undefined = undefined
  readonly viaIndex: boolean

  constructor(name: BytePath, viaIndex: boolean, source: ChildSource | undefined) {
    super(name)
    this.viaIndex = viaIndex
    this.#source = source
  }

  get children(): Node[] {
    if (this.#source !== undefined) this.children = this.#source.childrenOf(this)
    return this.#children
  }

  set children(children: Node[]) {
    this.#source = undefined
    this.#children = children
  }

  /** Nobody has seen what it holds; it is as the stat cache has it. */
  get isPacked(): boolean {
    return this.#source !== undefined
  }
}

export class SkippedNode extends Common {
  readonly kind = 'skipped'
  readonly reason: SkipReason
  readonly isFolder: boolean

  constructor(name: BytePath, reason: SkipReason, isFolder: boolean) {
    super(name)
    this.reason = reason
    this.isFolder = isFolder
    this.settled = true
  }
}

export type Node = ContentNode | FolderNode | SkippedNode

export function newFolder(
  name: BytePath,
  options: { readonly viaIndex: boolean; readonly source?: ChildSource },
): FolderNode {
  return new FolderNode(name, options.viaIndex, options.source)
}

export function newContent(
  name: BytePath,
  options: { readonly kind: 'file' | 'link'; readonly viaIndex: boolean },
): ContentNode {
  return new ContentNode(name, options.kind, options.viaIndex)
}

/** `stats` where the reason can end without the folder changing. */
export function newSkipped(
  name: BytePath,
  options: { readonly reason: SkipReason; readonly isFolder: boolean; readonly stats?: Stats },
): SkippedNode {
  const node = new SkippedNode(name, options.reason, options.isFolder)
  if (options.stats !== undefined) setStamp(node, options.stats)
  return node
}

export function isCaptured(node: Node): node is ContentNode | FolderNode {
  return node.kind !== 'skipped'
}

/** Skipped for something that can end without the folder changing. A secret by its name alone has no stamp. */
export function isPassing(reason: SkipReason, { ctimeNs }: Pick<Stamp, 'ctimeNs'>): boolean {
  if (reason === 'secret') return ctimeNs !== 0n
  return reason === 'too-large' || reason === 'unreadable' || reason === 'unstable'
}

/** Waits to be read, or holds something that does. */
export function isUnfinished(node: Node): boolean {
  return node.kind !== 'skipped' && node.id === undefined
}

export function byTreeOrder(a: Node, b: Node): number {
  return treeOrder(a.name, a.kind === 'folder') < treeOrder(b.name, b.kind === 'folder') ? -1 : 1
}

/**
 * Visits every node below, a folder before what it holds. The path is that of the folder the node is in:
 * most visitors need no more, and joining it for every node costs more than the visit.
 */
export function visitNodes(
  folder: FolderNode,
  visit: (node: Node, folderPath: BytePath) => void,
  path: BytePath = ROOT,
): void {
  for (const child of folder.children) {
    visit(child, path)
    if (child.kind === 'folder') visitNodes(child, visit, joinPath(path, child.name))
  }
}

/** Of all files; undefined if one was not read in this process. */
export function totalLines(root: FolderNode): number | undefined {
  let total: number | undefined = 0
  visitNodes(root, (node) => {
    if (node.kind !== 'file' && node.kind !== 'link') return
    total = total === undefined || node.lines === undefined ? undefined : total + node.lines
  })
  return total
}

export function findNode(root: FolderNode, path: BytePath): Node | undefined {
  let node: Node = root
  for (const name of path.split('/')) {
    if (node.kind !== 'folder') return undefined
    const child = childOf(node, name)
    if (child === undefined) return undefined
    node = child
  }
  return node
}

/** By halves, since children are in git's order: a folder of very many names is asked for each of them. */
export function childOf({ children }: FolderNode, name: string): Node | undefined {
  return childAt(children, treeOrder(name, false)) ?? childAt(children, treeOrder(name, true))
}

function childAt(children: readonly Node[], wanted: string): Node | undefined {
  let [low, high] = [0, children.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    const child = children[middle]
    if (child === undefined) return undefined
    const order = treeOrder(child.name, child.kind === 'folder')
    if (order === wanted) return child
    if (order < wanted) low = middle + 1
    else high = middle
  }
  return undefined
}
