// The nodes of a project as the stat cache has them, in columns. A node becomes an object only when somebody
// asks for it: of a project in which little has changed, most never do.
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
  type FolderNode,
  type Node,
  newContent,
  newFolder,
  newSkipped,
  isPassing,
} from './node.js'
import { ownerFromText } from '../scan/owners.js'

export const REASONS = Object.keys(SKIP_REASONS) as SkipReason[]
export const FLAG = {
  settled: 1,
  kept: 2,
  viaIndex: 4,
  isFolder: 8,
  hasId: 16,
  hasRuleFiles: 32,
  isAllowedSecret: 64,
} as const

/** What a capture has kept of a node, and can rely on while the path looks the same. */
const SURE = FLAG.settled | FLAG.kept | FLAG.hasId

/** How many of each there are where nodes were encoded. */
export type NodeSizes = {
  readonly count: number
  readonly loud: number
  readonly nameBytes: number
  readonly textBytes: number
}

export class PackedNodes implements ChildSource {
  readonly table: NodeTable
  readonly root: FolderNode
  readonly #columns: Columns
  /** Rows that have to be looked at whatever their paths look like. */
  readonly #loud: Uint32Array
  readonly #names: string
  readonly #texts: readonly string[]

  /** `memory` has them from `at` on, as `encodeNodes` made them; the caller has checked that they are whole. */
  constructor(memory: SharedArrayBuffer, at: number, sizes: NodeSizes) {
    const { count } = sizes
    const loudAt = at + count * NODE_BYTES
    const namesAt = loudAt + sizes.loud * 4
    const textsAt = namesAt + sizes.nameBytes
    const bytes = Buffer.from(memory)
    this.table = { count, memory, at, names: bytes.subarray(namesAt, textsAt) }
    this.#columns = columnsOf(this.table)
    this.#loud = new Uint32Array(memory.slice(loudAt, namesAt))
    this.#names = bytes.latin1Slice(namesAt, textsAt)
    this.#texts = bytes.latin1Slice(textsAt, textsAt + sizes.textBytes).split('\n')
    const root = this.#node(0)
    invariant(root.kind === 'folder' && this.#end(0) === count, 'a cache holds one whole tree')
    this.root = root
  }

  childrenOf(folder: FolderNode): Node[] {
    const children: Node[] = []
    let row = folder.place + 1
    for (let left = this.#columns.childCounts[folder.place] ?? 0; left > 0; left--) {
      children.push(this.#node(row))
      row = this.#end(row)
    }
    return children
  }

  /** Files and links, their bytes, what was left out, and other owners, in a folder that nobody has looked into. */
  tally({ place }: FolderNode): { files: number; bytes: number; skipped: number; owned: number } {
    const { filesUpTo, bytesUpTo, skippedUpTo, ownedUpTo } = this.#columns
    const last = this.#end(place) - 1
    return {
      files: (filesUpTo[last] ?? 0) - (filesUpTo[place] ?? 0),
      bytes: (bytesUpTo[last] ?? 0) - (bytesUpTo[place] ?? 0),
      skipped: (skippedUpTo[last] ?? 0) - (skippedUpTo[place] ?? 0),
      owned: (ownedUpTo[last] ?? 0) - (ownedUpTo[place] ?? 0),
    }
  }

  /** Calls `add` with the mode of everything in such a folder that has one. */
  eachMode({ place }: FolderNode, add: (kind: 'file' | 'folder', mode: number) => void): void {
    const { kinds, modes } = this.#columns
    const end = this.#end(place)
    for (let row = place + 1; row < end; row++) {
      const kind = kinds[row]
      if (kind === KIND.folder) add('folder', modes[row] ?? 0)
      else if (kind === KIND.file) add('file', modes[row] ?? 0)
    }
  }

  /**
   * Tells of a folder whether it and all below surely are as they were: no change, nothing whose decision may have
   * changed, and every object held by a checkpoint. `changed`: the rows whose paths do not look as they did.
   */
  judge(changed: readonly number[]): (folder: FolderNode) => boolean {
    const loud = Uint32Array.from([...this.#loud, ...changed]).sort()
    return ({ place }) => {
      let low = 0
      let high = loud.length
      while (low < high) {
        const middle = (low + high) >>> 1
        if ((loud[middle] ?? 0) < place) low = middle + 1
        else high = middle
      }
      return (loud[low] ?? Infinity) >= this.#end(place)
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
    invariant(kind !== undefined, 'a checked cache has known kinds only')
    const node: Node =
      kind === 'folder'
        ? newFolder(name, { viaIndex, source: this })
        : kind === 'skipped'
          ? newSkipped(name, {
              reason: REASONS[c.reasons[row] ?? 0] ?? 'ignored',
              isFolder: (flags & FLAG.isFolder) !== 0,
            })
          : newContent(name, { kind, viaIndex })
    node.place = row
    node.size = c.sizes[row] ?? 0
    node.mtimeNs = c.mtimes[row] ?? 0n
    node.ctimeNs = c.ctimes[row] ?? 0n
    node.ino = c.inos[row] ?? 0n
    node.settled = (flags & FLAG.settled) !== 0
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

/** Whether a row must be looked at by the scan itself, however its path looks. */
export function isAlwaysLoud(columns: Columns, row: number): boolean {
  const { kinds, flags, reasons, rules, parents, ctimes } = columns
  const kind = kinds[row]
  if (kind === KIND.skipped) {
    return isPassing(REASONS[reasons[row] ?? 0] ?? 'ignored', { ctimeNs: ctimes[row] ?? 0n })
  }
  const flag = flags[row] ?? 0
  if ((flag & SURE) !== SURE) return true
  if (kind !== KIND.folder) return false
  return (flag & FLAG.hasRuleFiles) !== 0 || rules[row] !== rules[parents[row] ?? 0]
}
