// Encodes nodes as columns, many times faster to write and read than one record per node. PackedNodes decodes them.
import { columnsOf, deriveColumns, KIND, NODE_BYTES, type NodeTable } from './columns.js'
import { FLAG, isAlwaysRescanned, type NodeSizes, REASONS } from './packed-nodes.js'
import type { FolderNode, Node } from './node.js'
import { ownerText } from '../scan/owners.js'

export type EncodedNodes = {
  /** Concatenated: columns, always-rescan rows, names, texts. */
  readonly bytes: Buffer
  readonly sizes: NodeSizes
  readonly table: NodeTable
}

/** Sets every node's row. After decoding, nodes with epoch 0 are kept by a checkpoint. */
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
  const count = nodes.length
  const memory = new SharedArrayBuffer(count * NODE_BYTES)
  const c = columnsOf({ count, memory, at: 0 })
  nodes.forEach((node, i) => {
    node.row = i
    c.sizes[i] = node.size
    c.mtimes[i] = node.mtimeNs
    c.ctimes[i] = node.ctimeNs
    c.inos[i] = node.ino
    c.nameBytes[i] = node.name.length
    c.kinds[i] = KIND[node.kind]
    let flags = (node.isStable ? FLAG.isStable : 0) | (node.epoch <= keptEpoch ? FLAG.kept : 0)
    if (node.kind === 'skipped') {
      flags |= node.isFolder ? FLAG.isFolder : 0
      c.reasons[i] = REASONS.indexOf(node.reason)
    } else {
      c.modes[i] = node.mode
      c.owners[i] = intern(ownerText(node.owner))
      flags |= node.viaIndex ? FLAG.viaIndex : 0
      if (node.id !== undefined) {
        flags |= FLAG.hasId
        c.ids.hexWrite(node.id, i * 20)
      }
    }
    if (node.kind === 'file' && node.isAllowedSecret) flags |= FLAG.isAllowedSecret
    if (node.kind === 'folder') {
      flags |= node.hasRuleFiles ? FLAG.hasRuleFiles : 0
      c.childCounts[i] = node.children.length
      c.rules[i] = intern(node.rulesKey)
      c.ignores[i] = intern(`${node.ignoreStamp}\t${node.ignoreKey}`)
    }
    c.flags[i] = flags
  })
  deriveColumns(c)
  const rescan = new Uint32Array([...nodes.keys()].filter((row) => isAlwaysRescanned(c, row)))
  const names = Buffer.from(nodes.map(({ name }) => name).join(''), 'latin1')
  const text = Buffer.from(texts.join('\n'), 'latin1')
  return {
    bytes: Buffer.concat([Buffer.from(memory), Buffer.from(rescan.buffer), names, text]),
    sizes: { count, rescan: rescan.length, nameBytes: names.length, textBytes: text.length },
    table: { count, memory, at: 0, names },
  }
}

function collect(node: Node, nodes: Node[]): void {
  nodes.push(node)
  if (node.kind === 'folder') for (const child of node.children) collect(child, nodes)
}
