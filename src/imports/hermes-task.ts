// The task file of a Hermes session: one YAML file that Hermes overwrites, so it holds the latest state only.
import { basename } from 'node:path'
import { isRecord } from '../base/index.js'
import {
  type BytePath,
  IN_PROGRESS,
  nameOf,
  parseSessionId,
  parseStatus,
  pathText,
  type Status,
  STATUS_WORDS,
} from '../internal.js'
import { parseYaml } from '../yaml/index.js'
import { type Found, readText, unreadable } from './source.js'

const MAX_BYTES = 16 << 20

type Mapping = Readonly<Record<string, unknown>>

/** Throws BAD_INPUT for a file that is not a task. */
export function findTask(path: BytePath, found: Found): void {
  const source = pathText(path)
  const { mapping, hash, modifiedAtMs } = readTask(path)
  const name = Buffer.from(nameOf(path), 'latin1').toString('utf8')
  const id = sessionIdOf(mapping, name.replace(/\.yaml$/, ''))
  const { status, word } = statusOf(mapping)
  const originPrefix = `hermes-task:${id}:`
  const item = {
    source,
    origin: `${originPrefix}${hash}`,
    createdAtMs: timeOf(mapping['updated']) ?? modifiedAtMs,
    name: null,
    reason: null,
    status,
    metadata: word === undefined ? undefined : { status: word },
    operationId: null,
    readState: async () => {
      const again = readTask(path)
      if (again.hash === hash) return again.mapping
      throw unreadable('it was changed while it was imported')
    },
  }
  found.histories.push({
    type: 'states',
    kind: 'hermes-task',
    source,
    id,
    agent: null,
    originPrefix,
    items: [item],
  })
}

function readTask(path: BytePath): {
  readonly mapping: Mapping
  readonly hash: string
  readonly modifiedAtMs: number
} {
  const { text, ...file } = readText(path, MAX_BYTES)
  const mapping = parseYaml({ text, source: 'it' })
  if (!isRecord(mapping) || Object.getPrototypeOf(mapping) !== Object.prototype)
    throw unreadable('it does not contain a mapping')
  return { mapping, ...file }
}

/** The file's name, or the id inside if Hermes made that name from it (`../x` becomes `x.yaml`). */
function sessionIdOf(mapping: Mapping, stem: string): string {
  const inside = mapping['session_id']
  return parseSessionId(typeof inside === 'string' && basename(inside) === stem ? inside : stem)
}

/** `word`: a status that we do not have, for the metadata. */
function statusOf(mapping: Mapping): { readonly status: Status; readonly word?: unknown } {
  const { status: word, reason } = mapping
  if (word === undefined || word === null) return { status: IN_PROGRESS }
  const known = STATUS_WORDS.find((each) => each === word)
  if (known === undefined) return { status: IN_PROGRESS, word }
  return { status: parseStatus(known, typeof reason === 'string' ? reason : null) }
}

/** A time without a zone is local: Hermes writes it that way. */
function timeOf(updated: unknown): number | undefined {
  const time = new Date(typeof updated === 'string' || updated instanceof Date ? updated : NaN)
  return Number.isNaN(time.getTime()) ? undefined : time.getTime()
}
