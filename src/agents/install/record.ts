// What an install has done to a file, kept in the store: with it an uninstall is exact. Without it, or when somebody
// has changed the file since, an uninstall finds what is ours by its form.
import { fieldsOf } from '../../base/index.js'
import { INSTALL_NOTE, type Store } from '../../internal.js'
import type { JsonPath } from './edit/json-edit.js'
import type { Trust } from './edit/toml-edit.js'
import { type Edited, type Undo, undone, undoOf } from './edit/text-edit.js'

export type InstallRecord = {
  readonly undo: Undo
  /** There was no file before. */
  readonly isCreated: boolean
  /** Folders that had to be made for it. */
  readonly folders: readonly string[]
  /** Lists and objects that had to be made in it. */
  readonly made: readonly JsonPath[]
  readonly trusts: readonly Trust[]
}

export type Records = ReadonlyMap<string, InstallRecord>

export async function readRecords(store: Store, paths: readonly string[]): Promise<Records> {
  const records = new Map<string, InstallRecord>()
  for (const path of paths) {
    const record = parseRecord(await store.note(noteKey(path)))
    if (record !== undefined) records.set(path, record)
  }
  return records
}

/** Undefined forgets it. */
export async function writeRecord(
  store: Store,
  path: string,
  record: InstallRecord | undefined,
): Promise<void> {
  const text = record === undefined ? undefined : JSON.stringify(record)
  await store.changeNote({ key: noteKey(path), change: () => text })
}

export type Step = {
  /** Of what was done to the file before. */
  readonly record: InstallRecord | undefined
  /** What the file held until now; undefined if it was not there. */
  readonly text: string | undefined
  readonly result: Edited
  readonly trusts: readonly Trust[]
}

/** What is known of a file to which something of ours was done again: the way back goes over all of it. */
export function recordAfter({
  record,
  text,
  result,
  trusts,
}: Step): Omit<InstallRecord, 'folders'> {
  const own = undoOf(result)
  if (record === undefined || text === undefined)
    return { undo: own, isCreated: text === undefined, made: [], trusts }
  // Somebody has changed it since: a way back that fits no text of ours says so.
  if (undone(text, record.undo) === undefined)
    return { undo: record.undo, isCreated: false, made: [], trusts }
  const undo = { mark: own.mark, steps: [...own.steps, ...record.undo.steps] }
  return { undo, isCreated: record.isCreated, made: [], trusts }
}

function noteKey(path: string): string {
  return `${INSTALL_NOTE}${path}`
}

function parseRecord(text: string | undefined): InstallRecord | undefined {
  if (text === undefined) return undefined
  // Written by `writeRecord` alone: its parts tell whether it is of this form.
  const value: unknown = JSON.parse(text)
  const fields = fieldsOf(value)
  const undo = fieldsOf(fields['undo'])
  const isWhole =
    typeof undo['mark'] === 'string' &&
    Array.isArray(undo['steps']) &&
    ['folders', 'made', 'trusts'].every((key) => Array.isArray(fields[key]))
  return isWhole ? (value as InstallRecord) : undefined
}
