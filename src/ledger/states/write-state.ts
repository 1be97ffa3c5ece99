// Stores a whole state: what is new of it, the nodes that lead there, and its row.
import type { StateId } from '../../model/index.js'
import { parseStateId } from '../../model/index.js'
import { number } from '../rows.js'
import { formBlocks } from './blocks.js'
import { layOut, type Layout, type Spread } from './layout.js'
import { emptyTree, remakeTree } from './list-tree.js'
import { claimContainer, claimRoots } from './ownership.js'
import { dropBrokenLinks, settle } from './settle.js'
import { bodyPlace } from './read-state.js'
import { nextId, type Rows } from './rows.js'
import {
  bodyText,
  type Part,
  partText,
  referencesIn,
  referencesText,
  sealedBodyText,
} from './state-body.js'
import type { Beliefs, Sequence } from './state-memory.js'
import { type Pass, storeFresh } from './store-fresh.js'

/** The id of the state: that of the last one, if nothing is different. */
export function writeState(pass: Pass, state: unknown): StateId {
  const { beliefs } = pass
  beliefs.pass += 1
  const previous = beliefs.containers
  beliefs.containers = new Map()
  const layout = layOut(state, (object, path) =>
    claimContainer(beliefs, { object, path, previous }),
  )
  const sequences = new Map<Spread, Sequence>()
  const settled = spreadsIn(layout).map((spread) => {
    const sequence = sequenceAt(beliefs, spread)
    sequences.set(spread, sequence)
    return settle(beliefs, { sequence, spread })
  })
  beliefs.sequences = new Map([...sequences.values()].map((it) => [keyOf(it), it]))

  for (const { fresh } of settled)
    claimRoots(
      beliefs,
      fresh.map(({ slot }) => slot),
    )
  dropBrokenLinks(beliefs, settled)
  const isFreshFar = storeFresh(
    pass,
    settled.flatMap(({ fresh }) => fresh),
  )
  for (const { sequence, changedFrom } of settled) {
    if (changedFrom === undefined || sequence.kind === 'value') continue
    const { known, slots } = sequence
    remakeTree(pass, { known, elements: slots, changedFrom })
  }
  for (const { sequence } of settled) formBlocks(sequence, beliefs)
  const hasFar = isFreshFar || settled.some(({ linked }) => linked.some(isPresentIn(beliefs)))
  return storeState(pass, { root: partOf(layout, sequences), hasFar })
}

/** Adds the row of a state, unless it is that of the last one. */
export function storeState(
  pass: Pass,
  { root, hasFar }: { readonly root: Part; readonly hasFar: boolean },
): StateId {
  const { beliefs } = pass
  const text = partText(root)
  if (beliefs.last?.root === text) return beliefs.last.id
  const plain = bodyText({ mark: beliefs.mark, hasFar, root: text })
  const { id, body } = insertState(pass, { plain, root })
  beliefs.last = { id, body, root: text }
  return id
}

function insertState(
  { database, key }: Rows,
  { plain, root }: { readonly plain: string; readonly root: Part },
): { readonly id: StateId; readonly body: string } {
  if (key === undefined) {
    const row = database.get('INSERT INTO states (body) VALUES (?) RETURNING id', plain) ?? {}
    return { id: parseStateId(number(row, 'id')), body: plain }
  }
  const id = parseStateId(nextId(database, 'states'))
  const references = referencesText(referencesIn(root))
  const body = sealedBodyText({ sealed: key.seal(plain, bodyPlace(id, references)), references })
  database.run('INSERT INTO states (id, body) VALUES (?, ?)', id, body)
  return { id, body }
}

export function sequenceAt(
  { sequences }: Beliefs,
  { kind, path }: Pick<Sequence, 'kind' | 'path'>,
): Sequence {
  return (
    sequences.get(keyOf({ kind, path })) ?? {
      kind,
      path,
      slots: [],
      blocks: [],
      known: emptyTree(),
    }
  )
}

export function keyOf({ kind, path }: Pick<Sequence, 'kind' | 'path'>): string {
  return kind + JSON.stringify(path)
}

function isPresentIn({ pass }: Beliefs): (slot: { readonly pass: number }) => boolean {
  return (slot) => slot.pass === pass
}

function spreadsIn(layout: Layout): readonly Spread[] {
  if (layout.kind === 'primitive') return []
  if (layout.kind === 'object') return layout.entries.flatMap(([, inner]) => spreadsIn(inner))
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
      return { kind: 'element', id: sequences.get(layout)?.slots[0]?.id ?? 0 }
    default:
      return { kind: layout.kind, tree: sequences.get(layout)?.known.tree ?? emptyTree().tree }
  }
}
