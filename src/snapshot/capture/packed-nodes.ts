// The nodes of a project as the stat cache has them, in columns. A node becomes an object only when somebody
// asks for it: of a project in which little has changed, most never do.
import {
  type BytePath,
  invariant,
  type ObjectId,
  SKIP_REASONS,
  type SkipReason,
} from '../../model/index.js'
import { type Columns, columnsOf, KIND, KINDS, newColumns, NODE_BYTES, shapeOf } from './columns.js'
import type { NodeTable } from './columns.js'
import {
  type ChildSource,
  type FolderNode,
  type Node,
  newContent,
  newFolder,
  newSkipped,
  isPassing,
} from './node.js'

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

export class PackedNodes implements ChildSource {
  readonly table: NodeTable
  readonly root: FolderNode
  readonly #columns: Columns
  readonly #names: string
  readonly #texts: readonly string[]
  readonly #nameStarts: Uint32Array
  readonly #ends: Uint32Array

  /** `bytes` as `encodeNodes` made them; the caller has checked that they are whole. */
  constructor(bytes: Buffer) {
    const count = bytes.readUInt32LE(0)
    const namesAt = 12 + count * NODE_BYTES
    const textsAt = namesAt + bytes.readUInt32LE(4)
    // Copied once so that the columns are aligned.
    const columns = newColumns(count)
    bytes.copy(Buffer.from(columns), 0, 12, namesAt)
    this.#columns = columnsOf(columns)
    const shape = shapeOf(this.#columns)
    this.table = { count, columns, names: bytes.subarray(namesAt, textsAt), shape }
    this.#names = bytes.latin1Slice(namesAt, textsAt)
    this.#texts = bytes.latin1Slice(textsAt, textsAt + bytes.readUInt32LE(8)).split('\n')
    this.#nameStarts = shape.nameStarts
    this.#ends = shape.ends
    const root = this.#node(0)
    invariant(root.kind === 'folder' && this.#ends[0] === count, 'a cache holds one whole tree')
    this.root = root
  }

  childrenOf(folder: FolderNode): Node[] {
    const children: Node[] = []
    let row = folder.place + 1
    for (let left = this.#columns.childCounts[folder.place] ?? 0; left > 0; left--) {
      children.push(this.#node(row))
      row = this.#ends[row] ?? row
    }
    return children
  }

  /** Files and links, their bytes, and what was left out, in a folder that nobody has looked into. */
  tally(
    { place }: FolderNode,
    onMode: (kind: 'file' | 'folder', mode: number) => void = () => undefined,
  ): { files: number; bytes: number; skipped: number } {
    const { kinds, sizes, modes } = this.#columns
    const sum = { files: 0, bytes: 0, skipped: 0 }
    const end = this.#ends[place] ?? place
    for (let row = place + 1; row < end; row++) {
      const kind = kinds[row]
      if (kind === KIND.skipped) {
        sum.skipped += 1
        continue
      }
      if (kind === KIND.folder) {
        onMode('folder', modes[row] ?? 0)
        continue
      }
      sum.files += 1
      sum.bytes += sizes[row] ?? 0
      if (kind === KIND.file) onMode('file', modes[row] ?? 0)
    }
    return sum
  }

  /**
   * Tells of a folder whether it and all below surely are as they were, given what a look at every path has
   * found: no change, nothing whose decision may have changed, and every object held by a checkpoint.
   */
  judge(isSame: (row: number) => boolean): (folder: FolderNode) => boolean {
    const { count, shape } = this.table
    const { parents } = shape
    const loudBefore = new Uint32Array(count + 1)
    for (let row = 0, loud = 0; row < count; row++) {
      if (this.#isLoud(row, { isSame, parent: parents[row] ?? 0 })) loud += 1
      loudBefore[row + 1] = loud
    }
    return ({ place }) => loudBefore[place] === loudBefore[this.#ends[place] ?? place]
  }

  #isLoud(
    row: number,
    { isSame, parent }: { isSame: (row: number) => boolean; parent: number },
  ): boolean {
    const { kinds, flags, reasons, rules, ctimes } = this.#columns
    const kind = kinds[row]
    if (kind === KIND.skipped)
      return isPassing(REASONS[reasons[row] ?? 0] ?? 'ignored', { ctimeNs: ctimes[row] ?? 0n })
    const flag = flags[row] ?? 0
    if ((flag & SURE) !== SURE || !isSame(row)) return true
    if (kind !== KIND.folder) return false
    return (flag & FLAG.hasRuleFiles) !== 0 || rules[row] !== rules[parent]
  }

  #node(row: number): Node {
    const c = this.#columns
    const flags = c.flags[row] ?? 0
    const start = this.#nameStarts[row] ?? 0
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
