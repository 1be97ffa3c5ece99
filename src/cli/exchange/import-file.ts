// Reads a file that `savestate export` has written, as a list of { id, name, timestamp, data, metadata }.
import { createHash } from 'node:crypto'
import { isRecord } from '../../base/index.js'
import { SavestateError } from '../../index.js'
import { valueOf } from '../runtime/opaque-classes.js'
import { type GivenText, parseJsonText, readGiven } from '../runtime/read-text-argument.js'
import { stateOfYaml } from './state-yaml.js'

/** `path` as typed; `-` is stdin. Throws BAD_INPUT for a file of another kind. */
export async function readImportFile(
  kind: 'json' | 'yaml',
  path: string,
): Promise<readonly unknown[]> {
  const given = await readGiven(path)
  try {
    return kind === 'json' ? jsonItems(given) : [await yamlItem(given)]
  } catch (cause) {
    // An unreadable state is a fault of the file here, not of a stored checkpoint.
    if (!(cause instanceof SavestateError) || cause.code !== 'STATE_UNREADABLE') throw cause
    throw new SavestateError('BAD_INPUT', `${given.source} contains a state that cannot be read`, {
      hint: `${cause.message}. The file was edited, or written by a newer version of Savestate.`,
      cause,
    })
  }
}

function jsonItems(given: GivenText): readonly unknown[] {
  const items = parseJsonText(given)
  if (Array.isArray(items)) return items.map(untag)
  throw new SavestateError('BAD_INPUT', `${given.source} does not contain a list of checkpoints`, {
    hint: 'Expected the output of `savestate export`: [{ "id", "name", "timestamp", "data", "metadata" }].',
  })
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
async function yamlItem(given: GivenText): Promise<unknown> {
  const { parseYaml } = await import('../../yaml/index.js')
  const mapping = parseYaml(given)
  if (!isRecord(mapping)) {
    throw new SavestateError('BAD_INPUT', `${given.source} does not contain a mapping`, {
      hint: 'Expected the output of `savestate export --format yaml`: one `key: value` per line.',
    })
  }
  const id = `yaml:${createHash('sha256').update(given.text).digest('hex').slice(0, 32)}`
  const { updated } = mapping
  // Local time if it has no time zone, as agents write it. The current time if it is invalid.
  const time = new Date(typeof updated === 'string' || updated instanceof Date ? updated : NaN)
  const timestamp = Number.isNaN(time.getTime()) ? new Date() : time
  return { id, timestamp: timestamp.toISOString(), data: stateOfYaml(given.text, mapping) }
}
