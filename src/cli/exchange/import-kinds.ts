// Reads exported files as lists of { id, name, timestamp, data, metadata }.
import { createHash } from 'node:crypto'
import { isRecord } from '../../base/index.js'
import { type ExchangedItems, SavestateError } from '../../index.js'
import { valueOf } from '../runtime/opaque-classes.js'
import { openGiven, readGiven } from '../runtime/read-text-argument.js'
import { jsonItems } from './json-items.js'
import type { IMPORT_KINDS } from '../args/session-commands.js'
import { stateOfYaml } from './state-yaml.js'

type ImportKind = (typeof IMPORT_KINDS)[number]
/** Reads the items from the start each time. Throws BAD_INPUT, perhaps in the middle. */
type Items = () => ExchangedItems

/** They take a path as typed; `-` is stdin. They throw BAD_INPUT for a file of another kind. */
export const READERS: Readonly<Record<ImportKind, (path: string) => Promise<Items>>> = {
  json: readExportedJson,
  yaml: readStateYaml,
}

/** As `savestate export` prints it. */
async function readExportedJson(path: string): Promise<Items> {
  const given = await openGiven(path)
  return async function* items() {
    for await (const item of jsonItems(given)) yield explainUnreadable(given, () => untag(item))
  }
}

/** An unreadable state is a fault of the file here, not of a stored checkpoint. */
function explainUnreadable<Value>(
  { source }: { readonly source: string },
  read: () => Value,
): Value {
  try {
    return read()
  } catch (cause) {
    if (!(cause instanceof SavestateError) || cause.code !== 'STATE_UNREADABLE') throw cause
    throw new SavestateError('BAD_INPUT', `${source} contains a state that cannot be read`, {
      hint: `${cause.message}. The file was edited, or written by a newer version of Savestate.`,
      cause,
    })
  }
}

function untag(item: unknown): unknown {
  if (!isRecord(item) || item['tagged'] !== true) return item
  const { data, changes, metadata } = item
  return {
    ...item,
    ...(changes === undefined ? { data: valueOf(data ?? null) } : { changes: valueOf(changes) }),
    metadata: valueOf(metadata ?? null),
  }
}

/** One state. Its id is derived from the text, so that the same file is not imported twice. */
async function readStateYaml(path: string): Promise<Items> {
  const given = await readGiven(path)
  const { parseYaml } = await import('../../yaml/index.js')
  const mapping = parseYaml(given)
  if (!isRecord(mapping)) {
    throw new SavestateError('BAD_INPUT', `${given.source} does not contain a mapping`, {
      hint: 'Expected the output of `savestate export --format yaml`: one `key: value` per line.',
    })
  }
  const id = `yaml:${createHash('sha256').update(given.text).digest('hex').slice(0, 32)}`
  const data = explainUnreadable(given, () => stateOfYaml(given.text, mapping))
  const items = [{ id, timestamp: timeOf(mapping['updated']).toISOString(), data }]
  return () => items
}

/** Local time if it has no time zone, as agents write it. The current time if it is invalid. */
function timeOf(updated: unknown): Date {
  const time = new Date(typeof updated === 'string' || updated instanceof Date ? updated : NaN)
  return Number.isNaN(time.getTime()) ? new Date() : time
}
