// Makes a list of a state longer, without looking at the rest of the state.
import { resolvePath, SavestateError, shownPath, type StateId } from '../../model/index.js'
import { extendTree, remakeTree } from './list-tree.js'
import { claimRoots, isObject } from './ownership.js'
import { readBody, readState } from './read-state.js'
import { isPlainArray } from './record.js'
import { releaseChanged } from './release-changed.js'
import { EMPTY_TREE, type Part, type Tree } from './state-body.js'
import { newSlot } from './state-memory.js'
import { type Pass, storeFresh } from './store-fresh.js'
import { keyOf, sequenceAt, storeState, writeState } from './write-state.js'

export type Addition = {
  /** Undefined: an empty object. */
  readonly base: StateId | undefined
  readonly path: readonly string[]
  readonly items: readonly unknown[]
}

const NOTHING: Part = { kind: 'object', entries: [] }

/** As if the state had been read, its list made longer, and all of it written. */
export function appendToState(pass: Pass, addition: Addition): StateId {
  const { base, path, items } = addition
  const { root, hasFar } =
    base === undefined ? { root: NOTHING, hasFar: false } : readBody(pass, base)
  const tree = treeAt(root, path)
  if (tree === undefined) return rewrite(pass, addition)
  // An empty list may still have to be made.
  if (base !== undefined && items.length === 0 && tree.length > 0) return base
  const extended = extend(pass, { ...addition, root, tree })
  return storeState(pass, {
    root: withList(root, { path, tree: extended.tree }),
    hasFar: hasFar || extended.hasFar,
  })
}

function extend(
  pass: Pass,
  { base, path, items, root, tree }: Addition & { readonly root: Part; readonly tree: Tree },
): { readonly tree: Tree; readonly hasFar: boolean } {
  const { beliefs } = pass
  if (base === undefined || beliefs.last?.id !== base) {
    // Nothing of that state is known, and what is known is of another.
    beliefs.pass += 1
    beliefs.containers = new Map()
    beliefs.sequences = new Map()
  }
  const sequence = sequenceAt(beliefs, { kind: 'list', path })
  beliefs.sequences.set(keyOf(sequence), sequence)
  releaseChanged(pass, { root, path, items })
  const isComplete = sequence.slots.length === tree.length
  const slots = items.map((item, place) =>
    newSlot(beliefs, { sequence, index: tree.length + place, key: undefined, root: item }),
  )
  claimRoots(beliefs, slots)
  const fresh = slots.map((slot) => ({ slot, before: undefined, isCopy: false }))
  const hasFar = storeFresh(pass, fresh)
  if (!isComplete) {
    const longer = extendTree(pass, { tree, elements: slots, state: base })
    return { tree: longer, hasFar }
  }
  for (const slot of slots) sequence.slots.push(slot)
  const { known, slots: elements } = sequence
  remakeTree(pass, { known, elements, changedFrom: tree.length })
  return { tree: known.tree, hasFar }
}

/** The tree of the list at the path; an empty one if there is nothing yet; undefined if it has none of its own. */
function treeAt(part: Part, path: readonly string[]): Tree | undefined {
  const [key, ...rest] = path
  if (key === undefined) return part.kind === 'list' ? part.tree : undefined
  if (part.kind !== 'object') return undefined
  const inner = part.entries.find(([name]) => name === key)?.[1]
  if (inner === undefined) return rest.length === 0 ? EMPTY_TREE : undefined
  return treeAt(inner, rest)
}

function withList(
  part: Part,
  { path, tree }: { readonly path: readonly string[]; readonly tree: Tree },
): Part {
  const [key, ...rest] = path
  if (key === undefined || part.kind !== 'object') return { kind: 'list', tree }
  const { entries } = part
  const place = entries.findIndex(([name]) => name === key)
  const inner = withList(entries[place]?.[1] ?? NOTHING, { path: rest, tree })
  return place === -1
    ? { kind: 'object', entries: [...entries, [key, inner]] }
    : { kind: 'object', entries: entries.with(place, [key, inner]) }
}

/** For a list that is stored as a part of something else. */
function rewrite(pass: Pass, { base, path, items }: Addition): StateId {
  const { classes } = pass
  const state: unknown = base === undefined ? {} : readState(pass, { state: base, classes })
  const list = listAt(state, path)
  for (const item of items) list.push(item)
  return writeState(pass, state)
}

function listAt(state: unknown, path: readonly string[]): unknown[] {
  const around = resolvePath(state, path.slice(0, -1))
  const key = path.at(-1)
  if (key !== undefined && isRecord(around) && !Object.hasOwn(around, key)) {
    const value: unknown[] = []
    Object.defineProperty(around, key, {
      value,
      enumerable: true,
      writable: true,
      configurable: true,
    })
    return value
  }
  const list = resolvePath(state, path)
  if (Array.isArray(list) && isPlainArray(list)) return list
  throw new SavestateError('BAD_INPUT', `${shownPath(path)} is not a list`, {
    hint: 'Append to an array of the state, or to a key that it does not have yet.',
  })
}

function isRecord(value: unknown): value is object {
  if (!isObject(value)) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || prototype === Object.prototype
}
