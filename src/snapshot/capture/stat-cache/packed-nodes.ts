// The nodes of a project as columns, read from the stat cache. A node becomes an object only on demand: in a project with
// few changes, most never do.
import {
  type BytePath,
  invariant,
  type ObjectId,
  SKIP_REASONS,
  type SkipReason,
} from '../../../model/index.js'
import { type Columns, columnsOf, KIND, KINDS, NODE_BYTES, type NodeTable } from './columns.js'
import {
  type ChildSource,
  type Node,
  ContentNode,
  FolderNode,
  SkippedNode,
  isTransient,
} from './node.js'
import { ownerFromText } from '../scan/owners.js'

export const REASONS = Object.keys(SKIP_REASONS) as SkipReason[]
export const FLAG = {
  isStable: 1,
  kept: 2,
  viaIndex: 4,
  isFolder: 8,
  hasId: 16,
  hasRuleFiles: 32,
  isAllowedSecret: 64,
} as const

/** With all of these flags, a node is reliable while its stat is unchanged. */
const RELIABLE = FLAG.isStable | FLAG.kept | FLAG.hasId

/** The sizes of the encoded parts. */
export type NodeSizes = {
  readonly count: number
  readonly rescan: number
  readonly nameBytes: number
  readonly textBytes: number
}

export class PackedNodes implements ChildSource {
  readonly table: NodeTable
  readonly root: FolderNode
  readonly #columns: Columns
  /** Rows that every scan must check, even if their stat is unchanged. */
  readonly #rescan: Uint32Array
  readonly #names: string
  readonly #texts: readonly string[]

  /** `memory` contains the output of `encodeNodes` at offset `at`. The caller has verified the checksum. */
  constructor(memory: SharedArrayBuffer, at: number, sizes: NodeSizes) {
    const { count } = sizes
    const rescanAt = at + count * NODE_BYTES
    const namesAt = rescanAt + sizes.rescan * 4
    const textsAt = namesAt + sizes.nameBytes
    const bytes = Buffer.from(memory)
    this.table = { count, memory, at, names: bytes.subarray(namesAt, textsAt) }
    this.#columns = columnsOf(this.table)
    this.#rescan = new Uint32Array(memory.slice(rescanAt, namesAt))
    this.#names = bytes.latin1Slice(namesAt, textsAt)
    this.#texts = bytes.latin1Slice(textsAt, textsAt + sizes.textBytes).split('\n')
    const root = this.#node(0)
    invariant(root.kind === 'folder' && this.#end(0) === count, 'a cache contains one whole tree')
    this.root = root
  }

  childrenOf(folder: FolderNode): Node[] {
    const children: Node[] = []
    let row = folder.row + 1
    for (let left = this.#columns.childCounts[folder.row] ?? 0; left > 0; left--) {
      children.push(this.#node(row))
      row = this.#end(row)
    }
    return children
  }

  /** Totals below a packed folder: files and links, their bytes, skipped paths, and differing owners. */
  tally({ row }: FolderNode): { files: number; bytes: number; skipped: number; owned: number } {
    const { filesUpTo, bytesUpTo, skippedUpTo, ownedUpTo } = this.#columns
    const last = this.#end(row) - 1
    return {
      files: (filesUpTo[last] ?? 0) - (filesUpTo[row] ?? 0),
      bytes: (bytesUpTo[last] ?? 0) - (bytesUpTo[row] ?? 0),
      skipped: (skippedUpTo[last] ?? 0) - (skippedUpTo[row] ?? 0),
      owned: (ownedUpTo[last] ?? 0) - (ownedUpTo[row] ?? 0),
    }
  }

  /** Calls `add` for every file and folder below a packed folder. */
  eachMode(folder: FolderNode, add: (kind: 'file' | 'folder', mode: number) => void): void {
    const { kinds, modes } = this.#columns
    const end = this.#end(folder.row)
    for (let row = folder.row + 1; row < end; row++) {
      const kind = kinds[row]
      if (kind === KIND.folder) add('folder', modes[row] ?? 0)
      else if (kind === KIND.file) add('file', modes[row] ?? 0)
    }
  }

  /**
   * Returns a test whether a folder is clean: nothing below it changed, no decision can have changed, and a checkpoint keeps
   * every object. `changed`: the rows whose stat changed. One binary search per folder.
   */
  cleanFolderTest(changed: readonly number[]): (folder: FolderNode) => boolean {
    const dirty = Uint32Array.from([...this.#rescan, ...changed]).sort()
    return ({ row }) => {
      let low = 0
      let high = dirty.length
      while (low < high) {
        const middle = (low + high) >>> 1
        if ((dirty[middle] ?? 0) < row) low = middle + 1
        else high = middle
      }
      return (dirty[low] ?? Infinity) >= this.#end(row)
    }
  }

  #end(row: number): number {
    return this.#columns.ends[row] ?? row
  }

  #node(row: number): Node {
    const c = this.#columns
    const flags = c.flags[row] ?? 0
    const start = c.nameStarts[row] ?? 0
    const name = this.#names.slice(start, start + (c.nameBytes[row] ?? 0)) as BytePath
    const viaIndex = (flags & FLAG.viaIndex) !== 0
    const kind = KINDS[c.kinds[row] ?? 0]
    invariant(kind !== undefined, 'a verified cache has known kinds only')
    const node: Node =
      kind === 'folder'
        ? new FolderNode(name, { viaIndex, source: this })
        : kind === 'skipped'
          ? new SkippedNode(name, {
              reason: REASONS[c.reasons[row] ?? 0] ?? 'ignored',
              isFolder: (flags & FLAG.isFolder) !== 0,
            })
          : new ContentNode(name, { kind, viaIndex })
    node.row = row
    node.size = c.sizes[row] ?? 0
    node.mtimeNs = c.mtimes[row] ?? 0n
    node.ctimeNs = c.ctimes[row] ?? 0n
    node.ino = c.inos[row] ?? 0n
    node.isStable = (flags & FLAG.isStable) !== 0
    node.epoch = (flags & FLAG.kept) === 0 ? 1 : 0
    if (node.kind !== 'skipped') {
      node.mode = c.modes[row] ?? 0
      node.owner = ownerFromText(this.#texts[c.owners[row] ?? 0] ?? '')
      const hasId = (flags & FLAG.hasId) !== 0
      node.id = hasId ? (c.ids.hexSlice(row * 20, row * 20 + 20) as ObjectId) : undefined
    }
    if (node.kind === 'file') node.isAllowedSecret = (flags & FLAG.isAllowedSecret) !== 0
    if (node.kind === 'folder') {
      node.hasRuleFiles = (flags & FLAG.hasRuleFiles) !== 0
      node.rulesKey = this.#texts[c.rules[row] ?? 0] ?? ''
      const [stamp, key] = (this.#texts[c.ignores[row] ?? 0] ?? '').split('\t')
      node.ignoreStamp = stamp ?? ''
      node.ignoreKey = key ?? ''
    }
    return node
  }
}

/** Whether every scan must check a row, even if its stat is unchanged. */
export function isAlwaysRescanned(columns: Columns, row: number): boolean {
  const { kinds, flags, reasons, rules, parents, ctimes } = columns
  const kind = kinds[row]
  if (kind === KIND.skipped) {
    return isTransient(REASONS[reasons[row] ?? 0] ?? 'ignored', { ctimeNs: ctimes[row] ?? 0n })
  }
  const flag = flags[row] ?? 0
  if ((flag & RELIABLE) !== RELIABLE) return true
  if (kind !== KIND.folder) return false
  return (flag & FLAG.hasRuleFiles) !== 0 || rules[row] !== rules[parents[row] ?? 0]
}
