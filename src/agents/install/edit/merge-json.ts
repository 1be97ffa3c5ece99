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
import { detectLineEnd } from './text-edit.js'

export type JsonTarget = Extract<Target, { type: 'json' }>

/** Every entry is up to date, and there are no entries of an older form. */
export function isMerged(text: string, target: JsonTarget, made: readonly JsonPath[]): boolean {
  if (text.trim() === '') return isEmptyTarget(target)
  const root = parseJson(text)
  const { entry } = target
  if (entry?.value !== undefined && nodeAt(root, entry.at) === undefined) return false
  const isThere = target.add.every(({ at, value }) => hasItem(root, at, value))
  const isComplete = target.properties.every(({ at }) => nodeAt(root, at) !== undefined)
  return isThere && isComplete && ourItems(root, target, made).every(({ isWanted }) => isWanted)
}

/** The file should contain none of our entries. */
export function isEmptyTarget({ add, properties, entry }: JsonTarget): boolean {
  return add.length === 0 && properties.length === 0 && entry?.value === undefined
}

/** Throws CONFIG_INVALID. */
export function mergeOurs(text: string, { add, properties, entry }: JsonTarget): string {
  let result = text.trim() === '' ? `{}${detectLineEnd(text)}` : text
  const own = entry?.value === undefined ? [] : [entry]
  for (const { at, value } of properties)
    if (nodeAt(parseJson(result), at) === undefined) result = addProperty(result, at, value)
  for (const { at, value } of add)
    if (!hasItem(parseJson(result), at, value)) result = addItem(result, at, value)
  for (const { at, value } of own)
    if (nodeAt(parseJson(result), at) === undefined) result = addProperty(result, at, value)
  return result
}

/** The path of our MCP server, if an install has to add it. */
export function missingEntry(text: string, { entry }: JsonTarget): readonly JsonPath[] {
  if (entry?.value === undefined) return []
  const isThere = text.trim() !== '' && nodeAt(parseJson(text), entry.at) !== undefined
  return isThere ? [] : [entry.at]
}

/** Removes our entries, and the lists and objects that become empty. `made`: from the record of the install. */
export function removeOurs(text: string, target: JsonTarget, made: readonly JsonPath[]): string {
  if (text.trim() === '') return text
  let result = text
  for (;;) {
    const [first] = ourItems(parseJson(result), target, made)
    if (first === undefined) return result
    result = removeAt(result, first.container, first.index)
  }
}

/** The object is empty, or has only properties that we set. */
export function isBare(text: string, { properties }: JsonTarget): boolean {
  const value = valueOf(parseJson(text))
  const ours = Object.fromEntries(properties.map(({ at: [key = ''], value: set }) => [key, set]))
  return isDeepStrictEqual(value, {}) || isDeepStrictEqual(value, ours)
}

type Found = { readonly container: Node; readonly index: number; readonly isWanted: boolean }

/** Also finds hooks for events that we no longer subscribe to. */
function ourItems(root: Node, target: JsonTarget, made: readonly JsonPath[]): readonly Found[] {
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
  return [...items, ...ourEntry(root, target, made)]
}

/** Our hooks in a group to which the user has added others. They belong in a separate group, so they are removed. */
function oursAmong(group: Node, isOurs: JsonTarget['isOurs']): readonly Found[] {
  const container = group.type === 'object' ? nodeAt(group, ['hooks']) : undefined
  if (container?.type !== 'array') return []
  return (container.children ?? []).flatMap((hook, index) =>
    isOurs(valueOf(hook)) ? [{ container, index, isWanted: false }] : [],
  )
}

/** Our MCP server. Without a record it may be the user's. */
function ourEntry(root: Node, { entry }: JsonTarget, made: readonly JsonPath[]): readonly Found[] {
  if (entry === undefined) return []
  const isMade = made.some((path) => isDeepStrictEqual(path, entry.at))
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
