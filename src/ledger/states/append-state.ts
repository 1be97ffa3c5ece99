// Appends items to a list of a state without reading the rest of the state.
import { isObject, isPlainArray } from '../../base/index.js'
import { SavestateError, shownPath, type StateId } from '../../model/index.js'
import { layOut } from './layout.js'
import { extendTree, rebuildTree } from './tree/list-tree.js'
import { appendSlots, type Pass } from './match-slots.js'
import { defineProperty, readBody, readState } from './read-state.js'
import { EMPTY_TREE, type Part, type Tree } from './state-body.js'
import { sequenceAt, sequenceKey, storeState, writeState } from './write-state.js'

export type Addition = {
  /** Undefined: an empty object. */
  readonly base: StateId | undefined
  readonly path: readonly string[]
  readonly items: readonly unknown[]
}

const NOTHING: Part = { kind: 'object', entries: [] }

/** Gives the same result as reading the state, extending the list, and writing all of it. */
export function appendToState(pass: Pass, addition: Addition): StateId {
  const { base, path, items } = addition
  const root = base === undefined ? NOTHING : readBody(pass, base).root
  const tree = treeAt(root, path)
  if (tree === undefined) return rewrite(pass, addition)
  // A list that does not exist yet is created even without items.
  if (base !== undefined && items.length === 0 && tree.length > 0) return base
  return storeState(pass, withList(root, { path, tree: extend(pass, { ...addition, tree }) }))
}

function extend(pass: Pass, { base, path, items, tree }: Addition & { readonly tree: Tree }): Tree {
  const { view } = pass
  // The view describes another state.
  if (base === undefined || view.last?.id !== base) view.sequences = new Map()
  const sequence = sequenceAt(view, { kind: 'list', path })
  view.sequences.set(sequenceKey(sequence), sequence)
  const { list, known } = sequence
  const added = appendSlots(pass, { sequence, values: items, start: tree.length })
  if (list.length !== tree.length)
    return extendTree(pass, { tree, elements: added.map(({ payload }) => payload), state: base })
  list.splice(tree.length, tree.length, added)
  rebuildTree(pass, { known, elements: list.payloads, changedFrom: tree.length })
  return known.tree
}

/** The tree of the list at the path; an empty one if there is no value; undefined if the list is stored within an element. */
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
  const index = entries.findIndex(([name]) => name === key)
  const inner = withList(entries[index]?.[1] ?? NOTHING, { path: rest, tree })
  return index === -1
    ? { kind: 'object', entries: [...entries, [key, inner]] }
    : { kind: 'object', entries: entries.with(index, [key, inner]) }
}

/** For a list that is stored within an element. */
function rewrite(pass: Pass, { base, path, items }: Addition): StateId {
  const { classes } = pass
  const state: unknown = base === undefined ? {} : readState(pass, { state: base, classes })
  const list = listAt(state, path)
  for (const item of items) list.push(item)
  return writeState(pass, layOut(state))
}

function listAt(state: unknown, path: readonly string[]): unknown[] {
  let value = state
  for (const [depth, key] of path.entries()) {
    if (!isObject(value)) throw notAListError(path)
    if (depth === path.length - 1 && isRecord(value) && !Object.hasOwn(value, key)) {
      const list: unknown[] = []
      defineProperty(value, key, list)
      return list
    }
    value = Object.hasOwn(value, key) ? value[key] : undefined
  }
  if (Array.isArray(value) && isPlainArray(value)) return value
  throw notAListError(path)
}

function notAListError(path: readonly string[]): SavestateError {
  return new SavestateError('BAD_INPUT', `${shownPath(path)} is not a list`, {
    hint: 'Append to an array of the state, or to a key that it does not have yet.',
  })
}

function isRecord(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || prototype === Object.prototype
}
