// Finds the difference between two stored states. Rows never change, so parts with the same ids are equal and are not read. The cost
// depends on the size of the difference, not on the size of the states.
import type { ClassRegistry, StateChange, StateId } from '../../model/index.js'
import { openNodes } from './tree/node-rows.js'
import { parseEntry, readBody, readItems, readPart } from './read-state.js'
import type { Rows } from './rows.js'
import { type ObjectPart, type Part, partText, type Tree } from './state-body.js'

type Comparison = {
  readonly rows: Rows
  readonly classes: ClassRegistry | undefined
  readonly before: StateId
  readonly after: StateId
  readonly changes: StateChange[]
}

type PartPair = { readonly path: readonly string[]; readonly old: Part; readonly now: Part }

/** Undefined if the state has to be read as a whole. */
export function readChanges(
  rows: Rows,
  { before, after, classes }: Pick<Comparison, 'before' | 'after' | 'classes'>,
): readonly StateChange[] | undefined {
  const [old, now] = [readBody(rows, before), readBody(rows, after)]
  const comparison: Comparison = { rows, classes, before, after, changes: [] }
  const isFound = addChanges(comparison, { path: [], old: old.root, now: now.root })
  return isFound ? comparison.changes : undefined
}

/** False if the part has to be replaced as a whole. */
function addChanges(comparison: Comparison, { path, old, now }: PartPair): boolean {
  if (partText(old) === partText(now)) return true
  if (old.kind === 'object' && now.kind === 'object')
    return addObject(comparison, { path, old, now })
  if (old.kind === 'list' && now.kind === 'list') {
    const { keep, items } = readTail(comparison, { old: old.tree, now: now.tree })
    const kept = keep === old.tree.length ? {} : { keep }
    comparison.changes.push({ path, ...kept, append: items })
    return true
  }
  if (old.kind === 'entries' && now.kind === 'entries') {
    const { keep, items } = readTail(comparison, { old: old.tree, now: now.tree })
    // Added entries are keys that were set. Any other change replaces the object.
    if (keep !== old.tree.length) return false
    for (const item of items) {
      const [key, set] = parseEntry(item, comparison.after)
      comparison.changes.push({ path: [...path, key], set })
    }
    return true
  }
  return false
}

function addObject(
  comparison: Comparison,
  { path, old, now }: PartPair & { readonly old: ObjectPart; readonly now: ObjectPart },
): boolean {
  const [olds, nows] = [new Map(old.entries), new Map(now.entries)]
  const kept = [...olds.keys()].filter((key) => nows.has(key))
  const order = [...kept, ...[...nows.keys()].filter((key) => !olds.has(key))]
  // Setting a key keeps its position, and a new key comes last. Changes cannot produce any other order.
  if (now.entries.some(([key], index) => key !== order[index])) return false
  for (const key of olds.keys())
    if (!nows.has(key)) comparison.changes.push({ path: [...path, key], remove: true })
  for (const [key, part] of now.entries) {
    const before = olds.get(key)
    const inner = [...path, key]
    const isFound =
      before !== undefined && addChanges(comparison, { path: inner, old: before, now: part })
    if (isFound) continue
    const { rows, classes, after } = comparison
    comparison.changes.push({ path: inner, set: readPart({ rows, classes, state: after }, part) })
  }
  return true
}

/** `keep` is the length of the prefix that both lists share; `items` are the new items after it. */
function readTail(
  { rows, classes, before, after }: Comparison,
  { old, now }: { readonly old: Tree; readonly now: Tree },
): { readonly keep: number; readonly items: readonly unknown[] } {
  let [olds, nows]: [readonly number[], readonly number[]] = [[], []]
  const countShared = () => {
    const first = nows.findIndex((id, index) => id !== olds[index])
    return first === -1 ? nows.length : first
  }
  // Level by level from the top: equal nodes have equal subtrees.
  for (let level = Math.max(old.height, now.height); level >= 0; level -= 1) {
    if (level === old.height && old.length > 0) olds = [old.node]
    if (level === now.height && now.length > 0) nows = [now.node]
    const same = countShared()
    olds = openNodes(rows, { ids: olds.slice(same), state: before }).flat()
    nows = openNodes(rows, { ids: nows.slice(same), state: after }).flat()
  }
  const tail = nows.slice(countShared())
  const items = readItems({ rows, classes, state: after }, tail)
  return { keep: now.length - tail.length, items }
}
