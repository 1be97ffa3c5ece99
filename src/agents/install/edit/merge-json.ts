// Adds our entries to a JSON configuration, and removes them.
import { isDeepStrictEqual } from 'node:util'
import type { Node } from 'jsonc-parser'
import {
  addItem,
  addProperty,
  itemsAt,
  type JsonPath,
  nodeAt,
  parseJson,
  propertiesOf,
  removeAt,
  valueOf,
} from './json-edit.js'
import { isOurServer } from '../mcp-server.js'
import type { Target } from '../recipes.js'
import { type Edited, applyEdit, detectLineEnd, startEdit } from './text-edit.js'

export type JsonTarget = Extract<Target, { type: 'json' }>

/** Every entry is up to date, and there are no entries of an older form. */
export function isMerged(
  text: string,
  target: JsonTarget,
  entries: readonly JsonPath[] | undefined,
): boolean {
  if (text.trim() === '') return isEmptyTarget(target)
  const root = parseJson(text)
  const { entry } = target
  if (entry?.value !== undefined && nodeAt(root, entry.at) === undefined) return false
  const isThere = target.add.every(({ at, value }) => hasItem(root, at, value))
  const isComplete = target.properties.every(({ at }) => nodeAt(root, at) !== undefined)
  return isThere && isComplete && ourItems(root, target, entries).every(({ isWanted }) => isWanted)
}

/** The file should contain none of our entries. */
export function isEmptyTarget({ add, properties, entry }: JsonTarget): boolean {
  return add.length === 0 && properties.length === 0 && entry?.value === undefined
}

/** Throws CONFIG_INVALID. */
export function mergeOurs(text: string, { add, properties, entry }: JsonTarget): Edited {
  let result = startEdit(text)
  if (text.trim() === '') {
    const inserted = `{}${detectLineEnd(text)}`
    result = applyEdit(result, { offset: 0, removed: text, inserted })
  }
  for (const { at, value } of properties) {
    if (nodeAt(parseJson(result.text), at) === undefined) result = addProperty(result, at, value)
  }
  for (const { at, value } of add) {
    if (!hasItem(parseJson(result.text), at, value)) result = addItem(result, at, value)
  }
  if (entry?.value === undefined || nodeAt(parseJson(result.text), entry.at) !== undefined)
    return result
  const [parent = '', name = ''] = entry.at
  return nodeAt(parseJson(result.text), [parent]) === undefined
    ? addProperty(result, [parent], { [name]: entry.value })
    : addProperty(result, entry.at, entry.value)
}

/** Lists and objects that an install has to create. */
export function missingPaths(text: string, { add, entry }: JsonTarget): readonly JsonPath[] {
  const root = text.trim() === '' ? undefined : parseJson(text)
  const paths = new Map<string, JsonPath>()
  // Without a text, everything that an install could have created.
  const isMade = entry !== undefined && (entry.value !== undefined || root === undefined)
  for (const { at } of [...add, ...(isMade ? [entry] : [])]) {
    for (let depth = 1; depth <= at.length; depth++) {
      const path = at.slice(0, depth)
      if (root === undefined || nodeAt(root, path) === undefined) paths.set(path.join('\n'), path)
    }
  }
  return [...paths.values()]
}

export type Stripping = {
  /** Only entries of an older form. */
  readonly onlyStale: boolean
  /** Lists and objects to remove once they are empty; if unknown, all that an install could have created. */
  readonly made?: readonly JsonPath[] | undefined
  /** Our entries; if unknown, every entry of our form. */
  readonly entries?: readonly JsonPath[] | undefined
}

/** Removes our entries, and the lists and objects that become empty. */
export function removeOurs(
  text: string,
  target: JsonTarget,
  { onlyStale, made, entries }: Stripping,
): string {
  if (text.trim() === '') return text
  let result = startEdit(text)
  for (;;) {
    const found = ourItems(parseJson(result.text), target, entries)
    const first = found.find(({ isWanted }) => !onlyStale || !isWanted)
    if (first === undefined) break
    result = removeAt(result, first.container, first.index)
  }
  if (result.edits.length === 0) return text
  const emptied = (made ?? missingPaths('', target)).toSorted((a, b) => b.length - a.length)
  for (const path of emptied) result = withoutEmpty(result, path)
  return result.text
}

/** The object is empty, or has only properties that we set. */
export function isBare(text: string, { properties }: JsonTarget): boolean {
  const value = valueOf(parseJson(text))
  const ours = Object.fromEntries(properties.map(({ at: [key = ''], value: set }) => [key, set]))
  return isDeepStrictEqual(value, {}) || isDeepStrictEqual(value, ours)
}

type Found = { readonly container: Node; readonly index: number; readonly isWanted: boolean }

/** Also finds hooks for events that we no longer subscribe to. */
function ourItems(
  root: Node,
  target: JsonTarget,
  entries: readonly JsonPath[] | undefined,
): readonly Found[] {
  const { add, isOurs } = target
  const hooks = nodeAt(root, ['hooks'])
  const events = hooks?.type === 'object' ? propertiesOf(hooks) : []
  const lists = [
    ...events.map(([event, list]) => ({ at: ['hooks', event], list })),
    ...OTHER_LISTS.map((at) => ({ at, list: nodeAt(root, at) })),
  ]
  const items = lists.flatMap(({ at, list }) => {
    if (list?.type !== 'array') return []
    const wanted = add.filter((one) => isDeepStrictEqual(one.at, at)).map(({ value }) => value)
    return (list.children ?? []).flatMap((item, index) => {
      const value = valueOf(item)
      if (!isOurs(value)) return oursAmong(item, isOurs)
      const isWanted = wanted.some((one) => isDeepStrictEqual(one, value))
      return [{ container: list, index, isWanted }]
    })
  })
  return [...items, ...ourEntry(root, target, entries)]
}

/** Our hooks in a group to which the user has added others. They belong in a separate group, so they are removed. */
function oursAmong(group: Node, isOurs: JsonTarget['isOurs']): readonly Found[] {
  const container = group.type === 'object' ? nodeAt(group, ['hooks']) : undefined
  if (container?.type !== 'array') return []
  return (container.children ?? []).flatMap((hook, index) =>
    isOurs(valueOf(hook)) ? [{ container, index, isWanted: false }] : [],
  )
}

/** Our MCP server, unless the records show that the user wrote it. */
function ourEntry(
  root: Node,
  { entry }: JsonTarget,
  entries: readonly JsonPath[] | undefined,
): readonly Found[] {
  if (entry === undefined) return []
  const isMade = entries?.some((path) => isDeepStrictEqual(path, entry.at)) ?? true
  const node = nodeAt(root, entry.at)
  const container = nodeAt(root, entry.at.slice(0, -1))
  if (!isMade || node === undefined || container === undefined) return []
  const value = valueOf(node)
  if (!isOurServer(value)) return []
  const index = (container.children ?? []).findIndex(({ children }) => children?.[1] === node)
  return [{ container, index, isWanted: isDeepStrictEqual(value, entry.value) }]
}

const OTHER_LISTS: readonly JsonPath[] = [['permissions', 'deny']]

function hasItem(root: Node, at: JsonPath, value: unknown): boolean {
  const items = itemsAt(root, at) ?? []
  return items.some((item) => isDeepStrictEqual(valueOf(item), value))
}

function withoutEmpty(before: Edited, path: JsonPath): Edited {
  const root = parseJson(before.text)
  const node = nodeAt(root, path)
  const parent = nodeAt(root, path.slice(0, -1))
  if (node === undefined || parent === undefined || (node.children ?? []).length > 0) return before
  const index = (parent.children ?? []).findIndex(({ children }) => children?.[1] === node)
  return removeAt(before, parent, index)
}
