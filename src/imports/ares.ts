// Finds the checkpoints of ares: one JSON file for each step of a session, and one per session that names the latest.
// The content decides which session a file belongs to: `a_1` may be step 1 of `a`, or a session of that name.
import * as z from 'zod/mini'
import { isRecord } from '../base/index.js'
import {
  type BytePath,
  bytePath,
  IN_PROGRESS,
  joinPath,
  nameOf,
  parseSessionId,
  pathText,
  type StateItem,
  type Status,
} from '../internal.js'
import {
  exists,
  type Found,
  namesIn,
  parseItem,
  parseJson,
  readLater,
  readText,
  type TextFile,
  unreadable,
  wholeText,
} from './source.js'

const MAX_BYTES = 256 << 20
/** The end of the year 9999. */
const MAX_SECONDS = 253_402_300_799

const stepSchema = z.looseObject({
  session_id: z.string(),
  step: z.int().check(z.nonnegative()),
  timestamp: z.optional(z.number().check(z.nonnegative(), z.maximum(MAX_SECONDS))),
  agent_name: z.nullish(wholeText()),
  status: z.optional(z.unknown()),
  messages: z.optional(z.array(z.unknown())),
  tool_calls: z.optional(z.array(z.unknown())),
  partial_results: z.optional(z.array(z.unknown())),
})
type Step = z.infer<typeof stepSchema>

export async function findAres(folder: BytePath, found: Found): Promise<void> {
  const sessions = new Map<string, { readonly step: Step; readonly item: StateItem }[]>()
  for (const name of namesIn(folder)) {
    if (!name.endsWith('.json')) continue
    const path = joinPath(folder, name)
    await found.attempt(pathText(path), () => {
      if (name.endsWith('_latest.json')) return checkPointer(folder, path)
      const file = readText(path, MAX_BYTES)
      const step = parseStep(file.text)
      const steps = sessions.get(step.session_id) ?? []
      sessions.set(step.session_id, [...steps, { step, item: itemOf(path, step, file) }])
    })
  }
  for (const [id, steps] of sessions) {
    steps.sort((a, b) => a.step.step - b.step.step)
    const agent = steps.at(-1)?.step.agent_name ?? null
    const items = steps.map(({ item }) => item)
    found.addStates({ kind: 'ares', source: pathText(folder), id, agent, items })
  }
}

/** The pointer holds no state, but if the file it names is missing, so is the latest step. */
function checkPointer(folder: BytePath, path: BytePath): void {
  const { text } = readText(path, MAX_BYTES)
  const named = text.trim().replace(/^"|"$/g, '')
  const name = Buffer.from(named.slice(named.lastIndexOf('/') + 1), 'utf8').toString('latin1')
  if (name === '' || name.length > 255 || name.includes('\0')) throw unreadable('it names no file')
  if (!exists(joinPath(folder, name)))
    throw unreadable(`it names ${JSON.stringify(named)}, which does not exist`)
}

function parseStep(text: string): Step {
  return parseItem(stepSchema, parseJson(text), 'an ares checkpoint')
}

function itemOf(path: BytePath, step: Step, file: TextFile): StateItem {
  const { session_id: session, step: number, timestamp, status, id } = step
  parseSessionId(session)
  if (nameOf(path) !== bytePath(`${session}_${number}.json`))
    throw unreadable(
      `it contains step ${number} of ${JSON.stringify(session)}, which does not match its file name`,
    )
  const known = statusOf(status)
  return {
    source: pathText(path),
    origin: `ares:${session}:${number}:${file.hash}`,
    createdAtMs: timestamp === undefined ? file.modifiedAtMs : Math.round(timestamp * 1000),
    status: known ?? IN_PROGRESS,
    metadata: {
      step: number,
      ...(id === undefined ? {} : { id }),
      ...(known === undefined ? { status } : {}),
    },
    readState: readLater(path, file, (text) => stateOf(parseStep(text))),
  }
}

/** The usual keys of a state, and everything else as it is. */
function stateOf(step: Step): unknown {
  const { messages, tool_calls: calls, partial_results: partials, ...rest } = step
  return {
    ...rest,
    messages: messages ?? [],
    toolCalls: (calls ?? []).map(toolCallOf),
    partialResults: partials ?? [],
  }
}

function toolCallOf(call: unknown): unknown {
  if (!isRecord(call) || !('tool_name' in call)) return call
  const { tool_name: toolName, ...rest } = call
  return { toolName, ...rest }
}

/** Undefined for a status that ares does not have. No status means in progress. */
function statusOf(status: unknown): Status | undefined {
  if (status === undefined || status === 'InProgress') return IN_PROGRESS
  if (status === 'Completed') return { state: 'completed' }
  if (!isRecord(status)) return undefined
  const { Failed: failed, Halted: halted } = status
  if (typeof failed === 'string') return { state: 'failed', reason: failed }
  if (typeof halted === 'string') return { state: 'halted', reason: halted }
  return undefined
}
