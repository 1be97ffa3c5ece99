// The task checkpoint of a Hermes session: one YAML file, written over each time, so it holds the latest state only.
import { createHash } from 'node:crypto'
import { basename } from 'node:path'
import {
  type BytePath,
  IN_PROGRESS,
  nameOf,
  parseSessionId,
  parseStatus,
  pathText,
  type Status,
  STATUS_WORDS,
} from '../model/index.js'
import { type Findings, isRecord, readText, unreadable } from './import-source.js'
import { parseYamlText } from './yaml-text.js'

const MAX_BYTES = 16 << 20

type Mapping = Readonly<Record<string, unknown>>

export async function findTask(path: BytePath, findings: Findings): Promise<void> {
  const source = pathText(path)
  await findings.attempt(source, async () => {
    const { mapping, hash, modifiedAtMs } = await readTask(path)
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
        const again = await readTask(path)
        if (again.hash === hash) return again.mapping
        throw unreadable('it was changed while it was imported')
      },
    }
    findings.sources.push({
      type: 'session',
      kind: 'hermes-task',
      source,
      id,
      agent: null,
      originPrefix,
      items: [item],
    })
  })
}

async function readTask(
  path: BytePath,
): Promise<{ readonly mapping: Mapping; readonly hash: string; readonly modifiedAtMs: number }> {
  const { text, modifiedAtMs } = readText(path, MAX_BYTES)
  const mapping = await parseYamlText({ text, source: 'it' })
  if (!isRecord(mapping) || Object.getPrototypeOf(mapping) !== Object.prototype)
    throw unreadable('it does not contain a mapping')
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 32)
  return { mapping, hash, modifiedAtMs }
}

/** The name of the file, or the id inside of which that is what is left once it was taken for a path. */
function sessionIdOf(mapping: Mapping, stem: string): string {
  const inside = mapping['session_id']
  return parseSessionId(typeof inside === 'string' && basename(inside) === stem ? inside : stem)
}

/** A word that we do not know is kept beside the state. */
function statusOf(mapping: Mapping): { readonly status: Status; readonly word?: unknown } {
  const { status: word, reason } = mapping
  if (word === undefined || word === null) return { status: IN_PROGRESS }
  const known = STATUS_WORDS.find((each) => each === word)
  if (known === undefined) return { status: IN_PROGRESS, word }
  return { status: parseStatus(known, typeof reason === 'string' ? reason : null) }
}

/** Without a zone it is local: that is how Hermes writes it. */
function timeOf(updated: unknown): number | undefined {
  const time = new Date(typeof updated === 'string' || updated instanceof Date ? updated : NaN)
  return Number.isNaN(time.getTime()) ? undefined : time.getTime()
}
