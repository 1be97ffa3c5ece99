// The checkpoints of ares: a JSON file for each step of a session, and for each session one that names the latest.
// Which session a file belongs to is what it says inside: `a_1` may be step 1 of `a`, or a session of that name.
import { createHash } from 'node:crypto'
import * as z from 'zod/mini'
import {
  type BytePath,
  bytePath,
  IN_PROGRESS,
  joinPath,
  nameOf,
  parseSessionId,
  pathText,
  type Status,
} from '../model/index.js'
import {
  type Findings,
  isRecord,
  isThere,
  namesIn,
  parseJson,
  readText,
  type StateItem,
  unreadable,
} from './import-source.js'
import { inputFault } from './input-fault.js'
import { wholeText } from './text-schema.js'

const MAX_BYTES = 256 << 20
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
type FoundStep = { readonly step: number; readonly agent: string | null; readonly item: StateItem }

export async function findAres(folder: BytePath, findings: Findings): Promise<void> {
  const sessions = new Map<string, FoundStep[]>()
  for (const name of namesIn(folder)) {
    const path = joinPath(folder, name)
    if (!name.endsWith('.json')) continue
    await findings.attempt(pathText(path), async () => {
      if (name.endsWith('_latest.json')) return checkPointer(folder, path)
      const { parsed, hash, modifiedAtMs } = readStep(path)
      const found = foundStep(path, parsed, { hash, modifiedAtMs })
      const steps = sessions.get(parsed.session_id)
      if (steps === undefined) sessions.set(parsed.session_id, [found])
      else steps.push(found)
    })
  }
  for (const [id, steps] of sessions) {
    const inOrder = steps.sort((a, b) => a.step - b.step)
    findings.sources.push({
      type: 'session',
      kind: 'ares',
      source: pathText(folder),
      id,
      agent: inOrder.at(-1)?.agent ?? null,
      originPrefix: null,
      items: inOrder.map(({ item }) => item),
    })
  }
}

/** It adds nothing of its own, but if what it names is gone the latest step is missing. */
function checkPointer(folder: BytePath, path: BytePath): void {
  const { text } = readText(path, MAX_BYTES)
  const named = text.trim().replace(/^"|"$/g, '')
  const name = Buffer.from(named.slice(named.lastIndexOf('/') + 1), 'utf8').toString('latin1')
  if (name === '' || name.length > 255 || name.includes('\0')) throw unreadable('it names no file')
  if (!isThere(joinPath(folder, name)))
    throw unreadable(`it names ${JSON.stringify(named)}, which does not exist`)
}

function readStep(path: BytePath): {
  readonly parsed: Step
  readonly hash: string
  readonly modifiedAtMs: number
} {
  const { text, modifiedAtMs } = readText(path, MAX_BYTES)
  const parsed = stepSchema.safeParse(parseJson(text))
  if (!parsed.success) {
    throw unreadable(
      `it is not an ares checkpoint: ${parsed.error.issues.map(inputFault).join('; ')}`,
    )
  }
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 32)
  return { parsed: parsed.data, hash, modifiedAtMs }
}

function foundStep(
  path: BytePath,
  { session_id: session, step, timestamp, agent_name: agent, status, id }: Step,
  { hash, modifiedAtMs }: { readonly hash: string; readonly modifiedAtMs: number },
): FoundStep {
  parseSessionId(session)
  const wanted = `${session}_${step}.json`
  if (nameOf(path) !== bytePath(wanted))
    throw unreadable(
      `inside it is step ${step} of ${JSON.stringify(session)}, which is another file`,
    )
  const known = statusOf(status)
  const item = {
    source: pathText(path),
    origin: `ares:${session}:${step}:${hash}`,
    createdAtMs: timestamp === undefined ? modifiedAtMs : Math.round(timestamp * 1000),
    name: null,
    reason: null,
    status: known ?? IN_PROGRESS,
    metadata: {
      step,
      ...(id === undefined ? {} : { id }),
      ...(known === undefined ? { status } : {}),
    },
    operationId: null,
    readState: async () => {
      const again = readStep(path)
      if (again.hash === hash) return stateOf(again.parsed)
      throw unreadable('it was changed while it was imported')
    },
  }
  return { step, agent: agent ?? null, item }
}

/** The usual shape of a state, and everything else as it is. */
function stateOf({
  messages,
  tool_calls: calls,
  partial_results: partials,
  ...rest
}: Step): unknown {
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

/** Undefined for one that ares does not have; absent is going on. */
function statusOf(status: unknown): Status | undefined {
  if (status === undefined || status === 'InProgress') return IN_PROGRESS
  if (status === 'Completed') return { state: 'completed' }
  if (!isRecord(status)) return undefined
  const { Failed: failed, Halted: halted } = status
  if (typeof failed === 'string') return { state: 'failed', reason: failed }
  if (typeof halted === 'string') return { state: 'halted', reason: halted }
  return undefined
}
