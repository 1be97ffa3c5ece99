// What an install has done to a file, kept in the store: with it an uninstall is exact. Without it, or when somebody
// has changed the file since, an uninstall finds what is ours by its form.
import type { Store } from '../../index.js'
import { recordOf } from '../agents/payload.js'
import type { JsonPath } from './json-edit.js'
import type { Trust } from './toml-edit.js'
import type { Undo } from './text-edit.js'

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

function noteKey(path: string): string {
  return `install:${path}`
}

function parseRecord(text: string | undefined): InstallRecord | undefined {
  if (text === undefined) return undefined
  // Written by `writeRecord` alone: its parts tell whether it is of this form.
  const value: unknown = JSON.parse(text)
  const fields = recordOf(value)
  const undo = recordOf(fields?.['undo'])
  const isWhole =
    typeof undo?.['mark'] === 'string' &&
    Array.isArray(undo['steps']) &&
    ['folders', 'made', 'trusts'].every((key) => Array.isArray(fields?.[key]))
  return isWhole ? (value as InstallRecord) : undefined
}
