// The cached state of each path of a project: its stat when it was last read, and the object it became.
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

/** No known capture stored it. */
const NEVER = Number.MAX_SAFE_INTEGER

// Classes that set every field at once, because there is a node per file: objects built by spreading take several times
// the memory, and every pass over them several times as long.
abstract class Common implements Stamp {
  readonly name: BytePath
  size = 0
  mtimeNs = 0n
  ctimeNs = 0n
  ino = 0n
  /** Read long enough after its last change that any later change alters the stamp. */
  isStable = false
  /** The capture that stored it; see `keptEpoch` in CachedProject. */
  epoch = NEVER
  /** See owners.ts. */
  owner = NO_OWNER
  /** Its row in the last NodeTable; -1 if it was added later. */
  row = -1

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
  /** Its content is a secret, and the rules at the time allowed it. */
  isAllowedSecret = false
  /** Captured only because git tracks it, or possibly so. */
  readonly viaIndex: boolean
  /** It has other hard links: a change through one of them gives no event here. */
  isLinked = false

  constructor(
    name: BytePath,
    options: { readonly kind: 'file' | 'link'; readonly viaIndex: boolean },
  ) {
    super(name)
    this.kind = options.kind
    this.viaIndex = options.viaIndex
  }
}

/** Creates the child nodes of a packed folder on demand. */
export type ChildSource = {
  childrenOf(folder: FolderNode): Node[]
}

export class FolderNode extends Common {
  readonly kind = 'folder'
  mode = 0o755
  #children: Node[] = []
  #source: ChildSource | undefined = undefined
  /** Undefined if something inside has changed. */
  id: ObjectId | undefined = undefined
  /** The ignore rules that decided `children`; empty if they must be decided again. */
  rulesKey = ''
  /** It contains a repository or an ignore file, so its rules differ from its parent's. */
  hasRuleFiles = false
  /** Stamp and digest of the ignore files in this folder. */
  ignoreStamp = ''
  ignoreKey = ''
  /** Undefined after a scan has entered the folder. */
  summary: Summary | undefined = undefined
  readonly viaIndex: boolean

  constructor(
    name: BytePath,
    options: { readonly viaIndex: boolean; readonly source?: ChildSource },
  ) {
    super(name)
    this.viaIndex = options.viaIndex
    this.#source = options.source
  }

  get children(): Node[] {
    if (this.#source !== undefined) this.children = this.#source.childrenOf(this)
    return this.#children
  }

  set children(children: Node[]) {
    this.#source = undefined
    this.#children = children
  }

  /** Its children have not been created; they are as in the stat cache. */
  get isPacked(): boolean {
    return this.#source !== undefined
  }
}

export class SkippedNode extends Common {
  readonly kind = 'skipped'
  readonly reason: SkipReason
  readonly isFolder: boolean

  /** Pass `stats` if the reason can end without a change of the folder. */
  constructor(
    name: BytePath,
    options: { readonly reason: SkipReason; readonly isFolder: boolean; readonly stats?: Stats },
  ) {
    super(name)
    this.reason = options.reason
    this.isFolder = options.isFolder
    this.isStable = true
    if (options.stats !== undefined) setStamp(this, options.stats)
  }
}

export type Node = ContentNode | FolderNode | SkippedNode

export function isCaptured(node: Node): node is ContentNode | FolderNode {
  return node.kind !== 'skipped'
}

/** The reason can end without a change of the folder. A secret by name alone has no stamp. */
export function isTransient(reason: SkipReason, { ctimeNs }: Pick<Stamp, 'ctimeNs'>): boolean {
  if (reason === 'secret') return ctimeNs !== 0n
  return reason === 'too-large' || reason === 'unreadable' || reason === 'unstable'
}

/** Not hashed yet, or contains a node that is not. */
export function isUnfinished(node: Node): boolean {
  return node.kind !== 'skipped' && node.id === undefined
}

export function byTreeOrder(a: Node, b: Node): number {
  return treeOrder(a.name, a.kind === 'folder') < treeOrder(b.name, b.kind === 'folder') ? -1 : 1
}

/**
 * Visits every node below, in preorder, with the path of its parent folder: most visitors need no more, and joining paths
 * costs more than the visit.
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

/** Lines of all files; undefined if one was not read in this process. */
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

/** Binary search in git's tree order: a large folder is searched for each of its names. */
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
