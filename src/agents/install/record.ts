// Records in the store what an install changed in a file, so that an uninstall can restore it exactly. Without a record, or
// if the file has changed since, an uninstall finds our entries by their form.
import { fieldsOf, tryParseJson } from '../../base/index.js'
import { INSTALL_NOTE, type Store } from '../../internal.js'
import type { JsonPath } from './edit/json-edit.js'
import type { Trust } from './edit/toml-edit.js'
import type { Undo } from './edit/text-edit.js'

export type InstallRecord = {
  readonly undo: Undo
  /** The file did not exist before. */
  readonly isCreated: boolean
  /** Folders that were created for it. */
  readonly folders: readonly string[]
  /** The path of our MCP server in it, if an install added it. */
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

/** Undefined if malformed: an uninstall then finds our entries by their form. */
function parseRecord(text: string | undefined): InstallRecord | undefined {
  const value = tryParseJson(text)
  const fields = fieldsOf(value)
  const { mark, steps } = fieldsOf(fields['undo'])
  const isWhole =
    typeof mark === 'string' &&
    Array.isArray(steps) &&
    ['folders', 'made', 'trusts'].every((key) => Array.isArray(fields[key]))
  return isWhole ? (value as InstallRecord) : undefined
}

function noteKey(path: string): string {
  return `${INSTALL_NOTE}${path}`
}

/** The configurations with HTTP hooks. The daemon opens its TCP port only if there is one. */
const HTTP_KEY = 'install-http'

export async function usesHttp(store: Store): Promise<boolean> {
  return pathsIn(await store.note(HTTP_KEY)).length > 0
}

export async function recordHttp(
  store: Store,
  { path, isUsed }: { readonly path: string; readonly isUsed: boolean },
): Promise<void> {
  if (pathsIn(await store.note(HTTP_KEY)).includes(path) === isUsed) return
  await store.changeNote({
    key: HTTP_KEY,
    change(before) {
      const others = pathsIn(before).filter((known) => known !== path)
      const all = isUsed ? [...others, path] : others
      return all.length === 0 ? undefined : JSON.stringify(all)
    },
  })
}

function pathsIn(text: string | undefined): readonly string[] {
  const list = tryParseJson(text)
  return Array.isArray(list) ? list.filter((item) => typeof item === 'string') : []
}
