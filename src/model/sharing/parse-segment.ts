// Checks the form of a segment that another host wrote: every field, and every column of every row. Numbers are checked against each
// other in `check-numbers.ts`.
import { isRecord, tryParseJson } from '../../base/index.js'
import { isStorableText } from '../reference.js'
import { SKIP_REASONS } from '../entry.js'
import { type Column, type ColumnType, SHARED_COLUMNS, tablesOfLog } from './columns.js'
import { segmentFault } from './faults.js'
import type { LogKind } from './log.js'
import type { SegmentContent, SharedRow, SharedTable } from './segment.js'
import { referencesOf } from './state-root.js'

/** A node has at most this many children (src/ledger/states/tree/list-tree.ts). */
const MAX_CHILDREN = 128
const MAX_LABEL_CHARS = 1000
/** Twice a number must be exact, as in the rows of nodes. */
const MAX_NUMBER = 2 ** 50
const ID_FORM = /^[bcdfghjklmnpqrstvwxz]{18}$/
const MARK_FORM = /^[0-9a-f]{16}$/
const TREE_FORM = /^[0-9a-f]{40}$/
const PACK_FORM = /^[\w.-]{1,200}$/
const SERIAL_FORM = /^data:([^,]{0,1000}),/s
/** The form of an element: JSON, or JSON with tags (src/ledger/states/tables.ts). */
const ELEMENT_FORMS: readonly unknown[] = [0, 1]
/** The columns that are null for a checkpoint without files. */
const FILE_COLUMNS = ['files', 'insertions', 'deletions', 'size_bytes', 'skipped_counts']

/** Returns the same content. Throws BAD_INPUT. */
export function parseSegment(content: unknown, kind: LogKind): SegmentContent {
  if (!isRecord(content)) throw segmentFault('a segment is not an object')
  const { version, isBase, replaced, nextNumber, elements, nodes, states, rows, removed } = content
  if (version !== 1)
    throw segmentFault(`a segment has the unknown version ${JSON.stringify(version)}`)
  if (typeof isBase !== 'boolean') throw segmentFault('a segment does not say whether it is a base')
  if (replaced !== undefined && (!isBase || !isListOfMarks(replaced)))
    throw segmentFault('the segments that a base replaces are not a list of marks')
  if (!isNumber(nextNumber)) throw segmentFault('a segment has no next number')
  for (const element of listOf(elements, 'elements')) checkElement(element)
  for (const node of listOf(nodes, 'nodes')) checkNode(node)
  for (const state of listOf(states, 'states')) checkState(state)
  checkTables(rows, { kind, isKeyOnly: false })
  const removes = checkTables(removed, { kind, isKeyOnly: true })
  if (isBase && removes) throw segmentFault('a base removes rows')
  return content as SegmentContent
}

function checkElement(element: unknown): void {
  const [number, form, text] = listOf(element, 'an element')
  if (!isNumber(number) || !ELEMENT_FORMS.includes(form) || typeof text !== 'string')
    throw segmentFault('an element has another form')
  // Its text becomes a part of a longer JSON text when states are read, so it must be JSON by itself.
  if (!isStorableText(text) || !isJson(text)) throw segmentFault(`element ${number} is not JSON`)
}

function checkNode(node: unknown): void {
  const [number, children] = listOf(node, 'a node')
  const ids = listOf(children, 'the children of a node')
  if (!isNumber(number) || ids.length === 0 || ids.length > MAX_CHILDREN || !ids.every(isNumber))
    throw segmentFault('a node has another form')
}

function checkState(state: unknown): void {
  const [number, root] = listOf(state, 'a state')
  if (!isNumber(number) || root === undefined) throw segmentFault('a state has another form')
  const references = referencesOf(root)
  if (!references.every(({ id }) => isNumber(id)) || !isStorableText(JSON.stringify(root)))
    throw segmentFault(`state ${number} has another form`)
}

/** Whether there is one. */
function checkTables(
  tables: unknown,
  { kind, isKeyOnly }: { readonly kind: LogKind; readonly isKeyOnly: boolean },
): boolean {
  if (!isRecord(tables)) throw segmentFault('the rows of a segment are missing')
  const known: readonly string[] = tablesOfLog(kind)
  for (const [table, rows] of Object.entries(tables)) {
    if (!known.includes(table))
      throw segmentFault(`a ${kind} has no table ${JSON.stringify(table)}`)
    const { key, columns } = SHARED_COLUMNS[table as SharedTable]
    const names = isKeyOnly ? key : Object.keys(columns)
    for (const row of listOf(rows, `the rows of ${table}`)) checkRow(row, { table, names, columns })
    if (!isKeyOnly && table === 'checkpoints')
      for (const row of rows as readonly SharedRow[]) checkFiles(row)
  }
  return Object.keys(tables).length > 0
}

function checkRow(
  row: unknown,
  {
    table,
    names,
    columns,
  }: {
    readonly table: string
    readonly names: readonly string[]
    readonly columns: Readonly<Record<string, Column>>
  },
): void {
  if (!isRecord(row) || Object.keys(row).length !== names.length)
    throw segmentFault(`a row of ${table} has other columns`)
  for (const name of names) {
    const column = columns[name]
    const value = row[name]
    if (column === undefined || !Object.hasOwn(row, name))
      throw segmentFault(`a row of ${table} has no ${name}`)
    if (value === null ? !column.isOptional : !isOfType(value, column.type))
      throw segmentFault(`the column ${name} of a row of ${table} has another form`)
  }
}

/** Either all figures of the files are there, or none; only their number outlives them. */
function checkFiles(row: SharedRow): void {
  const hasFiles = row['tree'] !== null
  const isComplete = FILE_COLUMNS.every((column) => (row[column] !== null) === hasFiles)
  const isCounted = !hasFiles || row['file_count'] !== null
  const isAlone = hasFiles || (row['pack'] === null && row['details'] === null)
  if (!isComplete || !isCounted || !isAlone)
    throw segmentFault(`the files of checkpoint ${String(row['id'])} are described in part`)
}

function isOfType(value: unknown, type: ColumnType): boolean {
  if (typeof type === 'object') return type.some((word) => word === value)
  switch (type) {
    case 'integer':
      return Number.isSafeInteger(value)
    case 'count':
      return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
    case 'flag':
      return value === 0 || value === 1
    case 'state':
    case 'call':
    case 'details':
      return isNumber(value)
    default:
      return typeof value === 'string' && isStorableText(value) && isTextOfType(value, type)
  }
}

function isTextOfType(text: string, type: string): boolean {
  switch (type) {
    case 'label':
      return text.length <= MAX_LABEL_CHARS
    case 'json':
      return isJson(text)
    case 'skip-counts':
      return isSkipCounts(tryParseJson(text))
    case 'names': {
      const names = tryParseJson(text)
      return Array.isArray(names) && names.every((name) => typeof name === 'string')
    }
    case 'serial':
      return isSerial(text)
    case 'checkpoint':
      return ID_FORM.test(text)
    case 'tree':
      return TREE_FORM.test(text)
    case 'pack':
      return PACK_FORM.test(text)
    default:
      return true
  }
}

function isSkipCounts(value: unknown): boolean {
  return (
    isRecord(value) &&
    Object.entries(value).every(
      ([reason, count]) => Object.hasOwn(SKIP_REASONS, reason) && Number.isSafeInteger(count),
    )
  )
}

function isSerial(text: string): boolean {
  const name = SERIAL_FORM.exec(text)?.[1]
  if (name === undefined) return false
  try {
    decodeURIComponent(name)
    return true
  } catch (error) {
    if (error instanceof URIError) return false
    throw error
  }
}

function isListOfMarks(value: unknown): boolean {
  return (
    Array.isArray(value) && value.every((mark) => typeof mark === 'string' && MARK_FORM.test(mark))
  )
}

function isJson(text: string): boolean {
  return tryParseJson(text) !== undefined
}

function isNumber(value: unknown): value is number {
  return (
    typeof value === 'number' && Number.isSafeInteger(value) && value > 0 && value <= MAX_NUMBER
  )
}

function listOf(value: unknown, what: string): readonly unknown[] {
  if (Array.isArray(value)) return value
  throw segmentFault(`${what} is not a list`)
}
