// Reads an export of Breakpilot: a list of { id, name, timestamp, data, metadata } with ids `<session>:<n>`.
import * as z from 'zod/mini'
import {
  type BytePath,
  IN_PROGRESS,
  importFault,
  labelOf,
  parseSessionId,
  parseTime,
  pathText,
  type StateItem,
} from '../internal.js'
import { type Found, parseItem, parseJson, readText, unreadable, wholeText } from './source.js'

const MAX_BYTES = 512 << 20

const itemSchema = z.object({
  id: wholeText(),
  name: z.nullish(z.string()),
  reason: z.optional(z.string()),
  isNamed: z.optional(z.boolean()),
  timestamp: z.string(),
  data: z.optional(z.unknown()),
  metadata: z.optional(z.unknown()),
})

/** `session`: the session of all items, instead of the one that the id of each names. */
export async function findBreakpilot(
  file: BytePath,
  found: Found,
  session: string | undefined,
): Promise<void> {
  const list = readJson(file)
  if (!Array.isArray(list))
    throw unreadable(`${pathText(file)} does not contain a list of checkpoints`)
  const sessions = new Map<string, StateItem[]>()
  for (const [at, value] of list.entries()) {
    const source = `${pathText(file)} item ${at + 1}`
    await found.attempt(source, () => {
      const { id, item } = readItem(source, value, session)
      const items = sessions.get(id)
      if (items === undefined) sessions.set(id, [item])
      else items.push(item)
    })
  }
  for (const [id, items] of sessions)
    found.addStates({ kind: 'breakpilot', source: pathText(file), id, items })
}

function readJson(file: BytePath): unknown {
  try {
    return parseJson(readText(file, MAX_BYTES).text)
  } catch (error) {
    throw unreadable(`${pathText(file)} cannot be read: ${importFault(error)}`)
  }
}

function readItem(
  source: string,
  value: unknown,
  session: string | undefined,
): { readonly id: string; readonly item: StateItem } {
  if (typeof value === 'object' && value !== null && 'changes' in value)
    throw unreadable('it is from an export of Savestate; use `savestate import json`')
  const parsed = parseItem(itemSchema, value, 'a checkpoint')
  const { id, timestamp, data, metadata } = parsed
  const target = session ?? /^([^]+):[0-9]+$/.exec(id)?.[1]
  if (target === undefined)
    throw unreadable(`its id, ${JSON.stringify(id)}, names no session; name one with --session`)
  const item = {
    source,
    origin: `breakpilot:${parseSessionId(target)}:${id}`,
    createdAtMs: parseTime(timestamp),
    ...labelOf(parsed),
    status: IN_PROGRESS,
    metadata,
    operationId: id,
    readState: async () => data ?? null,
  }
  return { id: target, item }
}
