// Nodes into columns: many times faster to write and read than a record each. PackedNodes reads them.
import { columnsOf, KIND, newColumns, type NodeTable, shapeOf } from './columns.js'
import type { FolderNode, Node } from './node.js'
import { FLAG, REASONS } from './packed-nodes.js'

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
    c.kinds[i] = KIND[node.kind]
    let flags = (node.settled ? FLAG.settled : 0) | (node.epoch <= keptEpoch ? FLAG.kept : 0)
    if (node.kind === 'skipped') {
      flags |= node.isFolder ? FLAG.isFolder : 0
      c.reasons[i] = REASONS.indexOf(node.reason)
    } else {
      c.modes[i] = node.mode
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
  const names = Buffer.from(nodes.map(({ name }) => name).join(''), 'latin1')
  const text = Buffer.from(texts.join('\n'), 'latin1')
  const head = Buffer.alloc(12)
  head.writeUInt32LE(nodes.length, 0)
  head.writeUInt32LE(names.length, 4)
  head.writeUInt32LE(text.length, 8)
  const table = { count: nodes.length, columns, names, shape: shapeOf(c) }
  return { bytes: Buffer.concat([head, Buffer.from(columns), names, text]), table }
}

function collect(node: Node, nodes: Node[]): void {
  nodes.push(node)
  if (node.kind === 'folder') for (const child of node.children) collect(child, nodes)
}
