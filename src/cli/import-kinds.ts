// How each kind of file that we export becomes a list of { id, name, timestamp, data, metadata }.
import { createHash } from 'node:crypto'
import { parseYamlText, SavestateError } from '../index.js'
import { valueOf } from './any-classes.js'
import { type GivenText, readGiven } from './given-text.js'
import { parseJsonText } from './json-text.js'
import type { IMPORT_KINDS } from './session-commands.js'
import { isRecord, stateOfYaml } from './state-yaml.js'

type ImportKind = (typeof IMPORT_KINDS)[number]

/** From a path as typed; `-` is stdin. Throws BAD_INPUT for what is not of that kind. */
export const READERS: Readonly<Record<ImportKind, (path: string) => Promise<readonly unknown[]>>> =
  { json: readExportedJson, yaml: readStateYaml }

/** As `savestate export` prints it. */
async function readExportedJson(path: string): Promise<readonly unknown[]> {
  const given = await readGiven(path)
  const items = parseJsonText(given)
  if (Array.isArray(items)) return readable(given, () => items.map(untagged))
  throw new SavestateError('BAD_INPUT', `${given.source} does not contain a list of checkpoints`, {
    hint: 'Expected the output of `savestate export`: [{ "id", "name", "timestamp", "data", "metadata" }].',
  })
}

/** What is wrong is wrong with what was handed over: nothing is stored yet, and there is no checkpoint to go back to. */
function readable<Value>({ source }: GivenText, read: () => Value): Value {
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

function untagged(item: unknown): unknown {
  if (!isRecord(item) || item['tagged'] !== true) return item
  const { data, metadata } = item
  return { ...item, data: valueOf(data ?? null), metadata: valueOf(metadata ?? null) }
}

/** One state. Its id is made from the text, so that the same file is known again. */
async function readStateYaml(path: string): Promise<readonly unknown[]> {
  const given = await readGiven(path)
  const mapping = await parseYamlText(given)
  if (!isRecord(mapping)) {
    throw new SavestateError('BAD_INPUT', `${given.source} does not contain a mapping`, {
      hint: 'Expected the output of `savestate export --format yaml`: one `key: value` per line.',
    })
  }
  const id = `yaml:${createHash('sha256').update(given.text).digest('hex').slice(0, 32)}`
  const data = readable(given, () => stateOfYaml(given.text, mapping))
  return [{ id, timestamp: timeOf(mapping['updated']).toISOString(), data }]
}

/** Without a zone it is local: that is how agents write it. Now, if it is no time. */
function timeOf(updated: unknown): Date {
  const time = new Date(typeof updated === 'string' || updated instanceof Date ? updated : NaN)
  return Number.isNaN(time.getTime()) ? new Date() : time
}
