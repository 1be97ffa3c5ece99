// Records in the store what an install changed in a file, so that an uninstall can restore it exactly. Without a record, or
// if the file has changed since, an uninstall finds our entries by their form.
import { fieldsOf } from '../../base/index.js'
import { INSTALL_NOTE, type Store } from '../../internal.js'
import type { JsonPath } from './edit/json-edit.js'
import type { Trust } from './edit/toml-edit.js'
import { type Edited, type Undo, undoEdits, recordUndo } from './edit/text-edit.js'

export type InstallRecord = {
  readonly undo: Undo
  /** The file did not exist before. */
  readonly isCreated: boolean
  /** Folders that were created for it. */
  readonly folders: readonly string[]
  /** Lists and objects that were created in it. */
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

/** Without a record, deletes the stored one. */
export async function writeRecord(
  store: Store,
  path: string,
  record: InstallRecord | undefined,
): Promise<void> {
  const text = record === undefined ? undefined : JSON.stringify(record)
  await store.changeNote({ key: noteKey(path), change: () => text })
}

export type Step = {
  /** The record of earlier changes. */
  readonly record: InstallRecord | undefined
  /** The content before this change; undefined if there was no file. */
  readonly text: string | undefined
  readonly result: Edited
  readonly trusts: readonly Trust[]
}

/** The record after another change of the same file: its undo covers all changes. */
export function recordAfter({
  record,
  text,
  result,
  trusts,
}: Step): Omit<InstallRecord, 'folders'> {
  const own = recordUndo(result)
  if (record === undefined || text === undefined)
    return { undo: own, isCreated: text === undefined, made: [], trusts }
  // The file has changed since. Keep the old undo: it no longer matches, so an uninstall will not use it.
  if (undoEdits(text, record.undo) === undefined)
    return { undo: record.undo, isCreated: false, made: [], trusts }
  const undo = { mark: own.mark, steps: [...own.steps, ...record.undo.steps] }
  return { undo, isCreated: record.isCreated, made: [], trusts }
}

function noteKey(path: string): string {
  return `${INSTALL_NOTE}${path}`
}

function parseRecord(text: string | undefined): InstallRecord | undefined {
  if (text === undefined) return undefined
  const value: unknown = JSON.parse(text)
  const fields = fieldsOf(value)
  const undo = fieldsOf(fields['undo'])
  const isWhole =
    typeof undo['mark'] === 'string' &&
    Array.isArray(undo['steps']) &&
    ['folders', 'made', 'trusts'].every((key) => Array.isArray(fields[key]))
  return isWhole ? (value as InstallRecord) : undefined
}
