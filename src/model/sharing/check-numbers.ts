// Checks the numbers of a segment: each one is brought before it is used, has the right kind, and is brought only once. The sizes below
// each node are counted, so that no small segment describes a state that does not fit into memory.
import { segmentFault } from './faults.js'
import { checkpointRows, type LogNumber, type SegmentContent, type SharedRow } from './segment.js'
import { referencesOf } from './state-root.js'

/** The thing that a number names. `height`, `count` and `bytes` are of the tree below a node, or of one element. */
export type NumberedThing = {
  readonly kind: 'element' | 'node' | 'state' | 'call' | 'details'
  /** -1 for an element, 0 for a node with elements. */
  readonly height: number
  readonly count: number
  /** The characters of all elements, with something for each. */
  readonly bytes: number
}

/** The numbers that a log has so far. */
export type NumberTable = Map<LogNumber, NumberedThing>

const MAX_STATE_BYTES = 2 ** 30
const BYTES_PER_ELEMENT = 32
const MAX_HEIGHT = 40
const NOTHING = { height: 0, count: 0, bytes: 0 }

export function measureElement(text: string): Omit<NumberedThing, 'kind'> {
  return { height: -1, count: 1, bytes: text.length + BYTES_PER_ELEMENT }
}

/** `children` are elements, or nodes of one height. */
export function measureNode(children: readonly NumberedThing[]): Omit<NumberedThing, 'kind'> {
  let [count, bytes] = [0, 0]
  for (const child of children) {
    count += child.count
    bytes += child.bytes
  }
  return { height: (children[0]?.height ?? -1) + 1, count, bytes }
}

/** Adds the numbers of a segment to `known`. For a base, pass an empty table. Throws BAD_INPUT. */
export function checkNumbers(content: SegmentContent, known: NumberTable): void {
  const { elements, nodes, states, rows, nextNumber } = content
  const add = (number: LogNumber, thing: NumberedThing) => {
    if (known.has(number)) throw segmentFault(`the number ${number} is used twice`)
    if (number >= nextNumber) throw segmentFault(`the number ${number} is too high`)
    known.set(number, thing)
  }
  const details = new Set(checkpointRows(rows).map((row) => row['details']))
  for (const [number, , text] of elements)
    add(number, { kind: details.has(number) ? 'details' : 'element', ...measureElement(text) })
  for (const [number, children] of nodes)
    add(number, { kind: 'node', ...checkedNode(number, children, known) })
  for (const [number, root] of states) {
    checkRoot(number, root, known)
    add(number, { kind: 'state', ...NOTHING })
  }
  for (const { number } of rows.tool_calls ?? []) {
    const call = number as LogNumber
    if (known.get(call)?.kind !== 'call') add(call, { kind: 'call', ...NOTHING })
  }
  checkRows(rows.checkpoints, ['state', 'details'], known)
  checkRows(rows.saves, ['details'], known)
  checkRows(rows.graph_checkpoints, ['state'], known)
  checkRows(rows.partials, ['call'], known)
}

/** The numbers that a segment uses and does not bring. */
export function numbersFromBefore(content: SegmentContent): ReadonlySet<LogNumber> {
  const used = new Set<LogNumber>()
  const use = (value: unknown) => {
    if (typeof value === 'number') used.add(value)
  }
  for (const [, children] of content.nodes) for (const child of children) used.add(child)
  for (const [, root] of content.states) for (const { id } of referencesOf(root)) used.add(id)
  const { graph_checkpoints: graph, tool_calls: calls, partials } = content.rows
  for (const row of [...checkpointRows(content.rows), ...(graph ?? [])]) {
    use(row['state'])
    use(row['details'])
  }
  for (const row of partials ?? []) use(row['call'])
  for (const list of [content.elements, content.nodes, content.states])
    for (const [number] of list) used.delete(number)
  for (const row of calls ?? []) used.delete(row['number'] as LogNumber)
  return used
}

function checkedNode(
  number: LogNumber,
  children: readonly LogNumber[],
  known: NumberTable,
): Omit<NumberedThing, 'kind'> {
  const things = children.map((child) => {
    const thing = known.get(child)
    if (thing === undefined || (thing.kind !== 'element' && thing.kind !== 'node'))
      throw segmentFault(`node ${number} refers to ${child}, which is no element and no node`)
    return thing
  })
  const measured = measureNode(things)
  if (things.some(({ height }) => height !== measured.height - 1))
    throw segmentFault(`node ${number} has children of different heights`)
  if (measured.height > MAX_HEIGHT || measured.bytes > MAX_STATE_BYTES)
    throw segmentFault(`node ${number} is too large`)
  return measured
}

function checkRoot(number: LogNumber, root: unknown, known: NumberTable): void {
  let bytes = 0
  for (const reference of referencesOf(root)) {
    const thing = known.get(reference.id)
    const isElement = reference.kind === 'element'
    if (thing?.kind !== (isElement ? 'element' : 'node'))
      throw segmentFault(`state ${number} refers to ${reference.id}, which is something else`)
    if (!isElement && (thing.height !== reference.height || thing.count !== reference.length))
      throw segmentFault(`state ${number} has a list of another length or height`)
    bytes += thing.bytes
  }
  if (bytes > MAX_STATE_BYTES) throw segmentFault(`state ${number} is too large`)
}

function checkRows(
  rows: readonly SharedRow[] | undefined,
  columns: readonly ('state' | 'details' | 'call')[],
  known: NumberTable,
): void {
  for (const row of rows ?? [])
    for (const column of columns) {
      const number = row[column]
      if (typeof number === 'number' && known.get(number)?.kind !== column)
        throw segmentFault(`a row refers to ${column} ${number}, which the log does not have`)
    }
}
