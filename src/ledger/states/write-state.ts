// Writes a whole state: its new elements, the nodes that lead to them, and its row.
import { RecordedList } from '../../base/index.js'
import { parseStateId, type StateId } from '../../model/index.js'
import { insertRow } from '../rows.js'
import type { Layout, Spread } from './layout.js'
import { emptyTree, rebuildTree } from './tree/list-tree.js'
import { matchSlots, type Pass } from './match-slots.js'
import { nextId } from './rows.js'
import { bodyText, type Part, partText, sealBody } from './state-body.js'
import type { Sequence, StoredView } from './stored-view.js'

/** Returns the id of the last state if nothing has changed. */
export function writeState(pass: Pass, layout: Layout): StateId {
  const { view } = pass
  const sequences = new Map<Spread, Sequence>()
  for (const spread of listSpreads(layout)) {
    const sequence = sequenceAt(view, spread)
    sequence.containers = spread.containers
    sequences.set(spread, sequence)
    const { values, keys } = spread
    const changedFrom = matchSlots(pass, { sequence, values, keys })
    if (changedFrom === undefined || sequence.kind === 'value') continue
    const { known, list } = sequence
    rebuildTree(pass, { known, elements: list.payloads, changedFrom })
  }
  view.sequences = new Map([...sequences.values()].map((it) => [sequenceKey(it), it]))
  return storeState(pass, partOf(layout, sequences))
}

/** Adds the row of a state, unless the last state has the same root. */
export function storeState(pass: Pass, root: Part): StateId {
  const { view } = pass
  const text = partText(root)
  if (view.last?.root === text) return view.last.id
  const { database, key } = pass
  const id = parseStateId(nextId(database, 'states'))
  const body = sealBody(bodyText({ mark: view.mark, root: text }), { id, root, key })
  insertRow(database, 'states', { id, body })
  view.last = { id, body, root: text }
  return id
}

export function sequenceAt(
  { sequences }: StoredView,
  { kind, path }: Pick<Sequence, 'kind' | 'path'>,
): Sequence {
  return (
    sequences.get(sequenceKey({ kind, path })) ?? {
      kind,
      path,
      list: new RecordedList(),
      known: emptyTree(),
      containers: [],
    }
  )
}

export function sequenceKey({ kind, path }: Pick<Sequence, 'kind' | 'path'>): string {
  return kind + JSON.stringify(path)
}

function listSpreads(layout: Layout): readonly Spread[] {
  if (layout.kind === 'primitive') return []
  if (layout.kind === 'object') return layout.entries.flatMap(([, inner]) => listSpreads(inner))
  return [layout]
}

function partOf(layout: Layout, sequences: ReadonlyMap<Spread, Sequence>): Part {
  switch (layout.kind) {
    case 'primitive':
      return layout
    case 'object':
      return {
        kind: 'object',
        entries: layout.entries.map(([key, inner]) => [key, partOf(inner, sequences)]),
      }
    case 'value':
      return { kind: 'element', id: sequences.get(layout)?.list.payloads[0]?.id ?? 0 }
    default:
      return { kind: layout.kind, tree: sequences.get(layout)?.known.tree ?? emptyTree().tree }
  }
}
