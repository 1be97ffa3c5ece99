// Nodes into columns and back: many times faster to read than a record each.
import {
  type BytePath,
  invariant,
  type ObjectId,
  SKIP_REASONS,
  type SkipReason,
} from '../../model/index.js'
import { columnsOf, KINDS, newColumns, NODE_BYTES, type NodeTable } from './columns.js'
import { type FolderNode, type Node, newContent, newFolder, newSkipped } from './node.js'

const REASONS = Object.keys(SKIP_REASONS) as SkipReason[]
const SETTLED = 1
const KEPT = 2
const VIA_INDEX = 4
const IS_FOLDER = 8
const HAS_ID = 16
const HAS_RULE_FILES = 32
export type EncodedNodes = { readonly bytes: Buffer; readonly table: NodeTable }

/**
 * Gives every node its place in the table. After decoding, epoch 0 is what was kept.
 * Layout: [count u32, names size u32, texts size u32, columns, names, texts]
 */
export function encodeNodes(root: FolderNode, keptEpoch: number): EncodedNodes {
  const nodes: Node[] = []
  collect(root, nodes)
  const texts: string[] = ['']
  const numberOf = new Map<string, number>([['', 0]])
  const intern = (text: string) => {
    let number = numberOf.get(text)
    if (number === undefined) {
      number = texts.push(text) - 1
      numberOf.set(text, number)
    }
    return number
  }
  const columns = newColumns(nodes.length)
  const c = columnsOf(columns)
  nodes.forEach((node, i) => {
    node.place = i
    c.sizes[i] = node.size
    c.mtimes[i] = node.mtimeNs
    c.ctimes[i] = node.ctimeNs
    c.inos[i] = node.ino
    c.nameBytes[i] = node.name.length
    c.kinds[i] = KINDS.indexOf(node.kind)
    let flags = (node.settled ? SETTLED : 0) | (node.epoch <= keptEpoch ? KEPT : 0)
    if (node.kind === 'skipped') {
      flags |= node.isFolder ? IS_FOLDER : 0
      c.reasons[i] = REASONS.indexOf(node.reason)
    } else {
      c.modes[i] = node.mode
      flags |= node.viaIndex ? VIA_INDEX : 0
      if (node.id !== undefined) {
        flags |= HAS_ID
        c.ids.hexWrite(node.id, i * 20)
      }
    }
    if (node.kind === 'folder') {
      flags |= node.hasRuleFiles ? HAS_RULE_FILES : 0
      c.childCounts[i] = node.children.length
      c.rules[i] = intern(node.rulesKey)
      c.ignores[i] = intern(`${node.ignoreStamp}\t${node.ignoreKey}`)
    }
    c.flags[i] = flags
  })
  const names = Buffer.from(nodes.map(({ name }) => name).join(''), 'latin1')
  const text = Buffer.from(texts.join('\n'), 'latin1')
  const head = Buffer.alloc(12)
  head.writeUInt32LE(nodes.length, 0)
  head.writeUInt32LE(names.length, 4)
  head.writeUInt32LE(text.length, 8)
  const table = { count: nodes.length, columns, names }
  return { bytes: Buffer.concat([head, Buffer.from(columns), names, text]), table }
}

export function decodeNodes(bytes: Buffer): {
  readonly root: FolderNode
  readonly table: NodeTable
} {
  const count = bytes.readUInt32LE(0)
  const namesAt = 12 + count * NODE_BYTES
  const textsAt = namesAt + bytes.readUInt32LE(4)
  // Copied once so that the columns are aligned.
  const columns = newColumns(count)
  bytes.copy(Buffer.from(columns), 0, 12, namesAt)
  const c = columnsOf(columns)
  const names = bytes.latin1Slice(namesAt, textsAt)
  const texts = bytes.latin1Slice(textsAt, textsAt + bytes.readUInt32LE(8)).split('\n')
  const ids = c.ids.hexSlice(0, c.ids.length)
  let at = 0
  let nameAt = 0

  const read = (): Node => {
    const i = at++
    const flags = c.flags[i] ?? 0
    const name = names.slice(nameAt, (nameAt += c.nameBytes[i] ?? 0)) as BytePath
    const viaIndex = (flags & VIA_INDEX) !== 0
    const kind = KINDS[c.kinds[i] ?? 0]
    invariant(kind !== undefined, 'a checked cache has known kinds only')
    const node: Node =
      kind === 'folder'
        ? newFolder(name, { viaIndex })
        : kind === 'skipped'
          ? newSkipped(name, {
              reason: REASONS[c.reasons[i] ?? 0] ?? 'ignored',
              isFolder: (flags & IS_FOLDER) !== 0,
            })
          : newContent(name, { kind, viaIndex })
    node.place = i
    node.size = c.sizes[i] ?? 0
    node.mtimeNs = c.mtimes[i] ?? 0n
    node.ctimeNs = c.ctimes[i] ?? 0n
    node.ino = c.inos[i] ?? 0n
    node.settled = (flags & SETTLED) !== 0
    node.epoch = (flags & KEPT) === 0 ? 1 : 0
    if (node.kind !== 'skipped') {
      node.mode = c.modes[i] ?? 0
      node.id = (flags & HAS_ID) === 0 ? undefined : (ids.slice(i * 40, i * 40 + 40) as ObjectId)
    }
    if (node.kind === 'folder') {
      node.hasRuleFiles = (flags & HAS_RULE_FILES) !== 0
      node.rulesKey = texts[c.rules[i] ?? 0] ?? ''
      const [stamp, key] = (texts[c.ignores[i] ?? 0] ?? '').split('\t')
      node.ignoreStamp = stamp ?? ''
      node.ignoreKey = key ?? ''
      const children = c.childCounts[i] ?? 0
      for (let child = 0; child < children; child++) node.children.push(read())
    }
    return node
  }
  const root = read()
  invariant(root.kind === 'folder' && at === count, 'a checked cache holds one whole tree')
  return { root, table: { count, columns, names: bytes.subarray(namesAt, textsAt) } }
}

function collect(node: Node, nodes: Node[]): void {
  nodes.push(node)
  if (node.kind === 'folder') for (const child of node.children) collect(child, nodes)
}
