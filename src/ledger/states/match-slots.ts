// Updates the elements of a list: finds the values that are stored already, and stores the others. Most lists change at one index,
// usually at the end, so it matches the unchanged front and back first, and searches only the part between them.
import { isObject, type RecordedItem, recordShape } from '../../base/index.js'
import { type ClassRegistry, encodeValue } from '../../model/index.js'
import type { Captures } from './captures.js'
import { countTrailingZeros } from './tree/list-tree.js'
import { type Element, hashElement, PLAIN, storeElement, TAGGED } from './tree/element-rows.js'
import type { Rows } from './rows.js'
import type { Sequence, Slot, StoredView } from './stored-view.js'

/** The tables, settings and memory of one write. */
export type Pass = Rows & {
  readonly classes: ClassRegistry | undefined
  readonly view: StoredView
  readonly captures: Captures
}

type Values = {
  readonly values: readonly unknown[]
  /** Only for entries. */
  readonly keys?: readonly string[] | undefined
}

/** Gives `sequence` a stored slot for each value. Returns the first index that changed; undefined if none did. */
export function matchSlots(
  pass: Pass,
  { sequence, values, keys }: Values & { readonly sequence: Sequence },
): number | undefined {
  const { list } = sequence
  const { captures } = pass
  const isKept = (old: number, index: number) => {
    if (list.payloads[old]?.key !== keys?.[index]) return false
    const value = values[index]
    if (list.isUnchangedAt(old, value)) return true
    const capture = isObject(value) ? captures.of(value) : undefined
    return capture !== undefined && list.hasRecordAt(old, capture.original, capture.record)
  }
  const shift = list.length - values.length
  let start = 0
  while (start < Math.min(list.length, values.length) && isKept(start, start)) start += 1
  let end = values.length
  while (end > start && end + shift > start && isKept(end + shift - 1, end - 1)) end -= 1
  if (start === end && shift === 0) return undefined

  const oldIndexes = indexOldValues(sequence, { start, end: end + shift })
  const items: RecordedItem<Slot>[] = []
  for (let index = start; index < end; index += 1) {
    const value = values[index]
    const original = (isObject(value) && captures.of(value)?.original) || value
    const moved = oldIndexes.get(keys === undefined ? original : keys[index])
    if (moved !== undefined && isKept(moved, index)) items.push(...itemsAt(sequence, moved))
    else
      items.push(storeItem(pass, { sequence, values, keys, index, near: [index, index + shift] }))
  }
  list.splice(start, end + shift, items)
  return start
}

/** Stores values as further elements of a list. */
export function appendSlots(
  pass: Pass,
  { sequence, values, start }: Values & { readonly sequence: Sequence; readonly start: number },
): RecordedItem<Slot>[] {
  return values.map((_, index) =>
    storeItem(pass, { sequence, values, index, near: [], step: start + index }),
  )
}

/** The old index of each value (or key) in a range of the sequence. */
function indexOldValues(
  { kind, list }: Sequence,
  { start, end }: { readonly start: number; readonly end: number },
): ReadonlyMap<unknown, number> {
  const oldIndexes = new Map<unknown, number>()
  for (let index = start; index < end; index += 1)
    oldIndexes.set(kind === 'entries' ? list.payloads[index]?.key : list.values[index], index)
  return oldIndexes
}

function itemsAt({ list }: Sequence, index: number): RecordedItem<Slot>[] {
  const item = list.itemAt(index)
  return item === undefined ? [] : [item]
}

type Item = Values & {
  readonly sequence: Sequence
  readonly index: number
  /** Old indexes that may hold an equal value. */
  readonly near: readonly number[]
  /** The index in the list, if it is not `index`. */
  readonly step?: number
}

function storeItem(pass: Pass, item: Item): RecordedItem<Slot> {
  const { sequence, values, keys, index, near } = item
  const { list } = sequence
  const key = keys?.[index]
  const { value, record } = recordItem(pass, values[index])
  const olds = near.flatMap((old) => {
    const slot = list.payloads[old]
    return slot !== undefined && slot.key === key ? [{ old, slot }] : []
  })
  if (record !== undefined) {
    const equal = olds.find(({ old }) => list.isEqualAt(old, record))
    if (equal !== undefined) return { value, payload: equal.slot, record }
  }
  const element = encodeElement(pass, item)
  const hash = hashElement(element, pass)
  const same = olds.find(({ slot }) => slot.hash === hash)?.slot
  const id = same?.id ?? storeElement(pass, { ...element, hash })
  return { value, payload: same ?? { key, id, hash, zeros: countTrailingZeros(hash) }, record }
}

/** The value to compare with at the next save, and its record. */
function recordItem(
  { captures, classes }: Pass,
  value: unknown,
): Pick<RecordedItem<Slot>, 'value' | 'record'> {
  if (!isObject(value)) return { value, record: undefined }
  const capture = captures.of(value)
  if (capture !== undefined) return { value: capture.original, record: capture.record }
  return { value, record: recordShape(value, (object) => isOrdinary(object, classes)) }
}

function encodeElement({ classes }: Pass, { sequence, values, keys, index, step }: Item): Element {
  const { kind, path, containers } = sequence
  const key = keys?.[index]
  const { text, plain } = encodeValue(values[index], {
    path: kind === 'value' ? path : [...path, key ?? step ?? index],
    containers,
    classes,
  })
  return {
    form: plain ? PLAIN : TAGGED,
    text: key === undefined ? text : `[${JSON.stringify(key)},${text}]`,
  }
}

/** True if a shape record describes the object completely. Other objects must be encoded to be compared. */
export function isOrdinary(object: object, classes: ClassRegistry | undefined): boolean {
  const prototype: unknown = Object.getPrototypeOf(object)
  if (prototype === Date.prototype) return classes?.withPrototype(prototype) === undefined
  if (prototype === Array.prototype) return true
  return prototype === Object.prototype && Object.getOwnPropertySymbols(object).length === 0
}
