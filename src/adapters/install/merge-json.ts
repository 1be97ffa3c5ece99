// Our entries in a configuration of JSON: in, and out again.
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
import type { Target } from './recipes.js'
import { type Edited, edited, lineEndOf, unedited } from './text-edit.js'

export type JsonTarget = Extract<Target, { type: 'json' }>

/** Every entry is there, exactly as it is wanted, and none of an older form beside it. */
export function isMerged(text: string, target: JsonTarget): boolean {
  if (text.trim() === '') return false
  const root = parseJson(text)
  const isThere = target.add.every(({ at, value }) => hasItem(root, at, value))
  const isComplete = target.properties.every(({ at }) => nodeAt(root, at) !== undefined)
  return isThere && isComplete && ourItems(root, target).every(({ isWanted }) => isWanted)
}

/** Throws CONFIG_INVALID. */
export function merged(text: string, { add, properties }: JsonTarget): Edited {
  let result = unedited(text)
  if (text.trim() === '') {
    const inserted = `{}${lineEndOf(text)}`
    result = edited(result, { offset: 0, removed: text, inserted })
  }
  for (const { at, value } of properties) {
    if (nodeAt(parseJson(result.text), at) === undefined) result = addProperty(result, at, value)
  }
  for (const { at, value } of add) {
    if (!hasItem(parseJson(result.text), at, value)) result = addItem(result, at, value)
  }
  return result
}

/** Lists and objects that are not there and will be made. */
export function missingPaths(text: string, { add }: JsonTarget): readonly JsonPath[] {
  const root = text.trim() === '' ? undefined : parseJson(text)
  const paths = new Map<string, JsonPath>()
  for (const { at } of add) {
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
  /** What may go when it is left empty; all that we could have made if that is not known. */
  readonly made?: readonly JsonPath[] | undefined
}

/** Takes out what is ours, and what that leaves empty. */
export function stripped(text: string, target: JsonTarget, { onlyStale, made }: Stripping): string {
  if (text.trim() === '') return text
  let result = unedited(text)
  for (;;) {
    const found = ourItems(parseJson(result.text), target)
    const first = found.find(({ isWanted }) => !onlyStale || !isWanted)
    if (first === undefined) break
    result = removeAt(result, first.container, first.index)
  }
  if (result.edits.length === 0) return text
  const emptied = (made ?? missingPaths('', target)).toSorted((a, b) => b.length - a.length)
  for (const path of emptied) result = withoutEmpty(result, path)
  return result.text
}

/** Nothing in it, or nothing but what we have set. */
export function isBare(text: string, { properties }: JsonTarget): boolean {
  const value = valueOf(parseJson(text))
  const ours = Object.fromEntries(properties.map(({ at: [key = ''], value: set }) => [key, set]))
  return isDeepStrictEqual(value, {}) || isDeepStrictEqual(value, ours)
}

type Found = { readonly container: Node; readonly index: number; readonly isWanted: boolean }

/** Also under events that are not asked for any more. */
function ourItems(root: Node, { add, isOurs }: JsonTarget): readonly Found[] {
  const hooks = nodeAt(root, ['hooks'])
  const events = hooks?.type === 'object' ? propertiesOf(hooks) : []
  const lists = [
    ...events.map(([event, list]) => ({ at: ['hooks', event], list })),
    ...OTHER_LISTS.map((at) => ({ at, list: nodeAt(root, at) })),
  ]
  return lists.flatMap(({ at, list }) => {
    if (list?.type !== 'array') return []
    const wanted = add.filter((one) => isDeepStrictEqual(one.at, at)).map(({ value }) => value)
    return (list.children ?? []).flatMap((item, index) => {
      const value = valueOf(item)
      if (!isOurs(value)) return []
      const isWanted = wanted.some((one) => isDeepStrictEqual(one, value))
      return [{ container: list, index, isWanted }]
    })
  })
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
