// How much of a conversation came before a point of it. Pure: each agent's form of lines, and where in them a turn
// and a call are. What is not of the expected form is passed over, so a line of a kind that came with a newer version
// of the agent stays where it is.
import { fieldsOf, tryParseJson } from '../../base/index.js'
import { shortPrompt } from '../hooks/describe.js'
import type { EventType } from '../mappers/event.js'

/** Where in the conversation a checkpoint was made. */
export type TalkPoint = {
  readonly at: EventType
  readonly turnId: string | undefined
  readonly callId: string | undefined
  /** Shortened. */
  readonly prompt: string | undefined
}

/** Which point the conversation goes back to. `then`: as much as the checkpoint holds. */
export type CutKind = 'before-turn' | 'before-call' | 'after-call' | 'then'

export type Cut = {
  readonly kind: CutKind
  /** Empty if nothing was said before the point, or if no copy has anything up to it. */
  readonly lines: readonly string[]
  /** Whether the point itself is in one of the copies. */
  readonly isFound: boolean
}

export type TalkForm = {
  /** How many entries are kept; undefined if the point is not in them. */
  readonly find: (
    kind: Exclude<CutKind, 'then'>,
    entries: readonly Entry[],
    point: TalkPoint,
  ) => number | undefined
  /** Whether something was said in it. */
  readonly isSaid: (entry: Entry) => boolean
  /** Whether a conversation can end with it; others go from the end. */
  readonly canEnd: (entry: Entry) => boolean
}

type Entry = Readonly<Record<string, unknown>>

/**
 * Out of several copies of a conversation: first what the checkpoint holds, then newer ones, which may have what was
 * not yet written when the checkpoint was made.
 */
export function cutTalk(
  form: TalkForm,
  point: TalkPoint,
  copies: readonly (readonly string[])[],
): Cut {
  const parsed = copies.map((lines) => ({ lines, entries: lines.map(entryOf) }))
  for (const kind of KINDS[point.at]) {
    for (const { lines, entries } of parsed) {
      const count = form.find(kind, entries, point)
      if (count !== undefined)
        return { kind, lines: ended(form, { lines, entries, count }), isFound: true }
    }
  }
  const [own] = parsed
  const lines = own === undefined ? [] : ended(form, { ...own, count: own.lines.length })
  return { kind: point.at === 'turn-start' ? 'before-turn' : 'then', lines, isFound: false }
}

const KINDS: Readonly<Record<EventType, readonly Exclude<CutKind, 'then'>[]>> = {
  'turn-start': ['before-turn'],
  'before-tool': ['before-call', 'before-turn'],
  'after-tool': ['after-call', 'before-turn'],
  // Its call was still running.
  quiet: ['before-call', 'before-turn'],
  'subagent-start': ['before-turn'],
  'subagent-end': ['before-turn'],
  compaction: ['before-turn'],
  'session-start': [],
  'turn-end': [],
  'session-end': [],
}

/** Empty if nothing was said up to there. */
function ended(
  { isSaid, canEnd }: TalkForm,
  {
    lines,
    entries,
    count,
  }: {
    readonly lines: readonly string[]
    readonly entries: readonly Entry[]
    readonly count: number
  },
): readonly string[] {
  const kept = entries.slice(0, count)
  return kept.some(isSaid) ? lines.slice(0, kept.findLastIndex(canEnd) + 1) : []
}

function entryOf(line: string): Entry {
  return fieldsOf(tryParseJson(line))
}

/** Claude Code: entries with `promptId`, contents with the ids of calls. A fork has the new id in all old entries. */
export const claudeTalk: TalkForm = {
  find(kind, entries, { turnId, callId, prompt }) {
    if (kind === 'after-call')
      return after(
        entries.findLastIndex((entry) =>
          hasPart(entry, { type: 'tool_result', tool_use_id: callId }),
        ),
      )
    if (kind === 'before-call') {
      const at = entries.findLastIndex((entry) => hasPart(entry, { type: 'tool_use', id: callId }))
      return at === -1 ? undefined : beginOfAnswer(entries, at)
    }
    const isOfTurn = (entry: Entry) =>
      turnId !== undefined && entry['type'] === 'user' && entry['promptId'] === turnId
    const asked = entries.findLastIndex(
      (entry) => isOfTurn(entry) && shortPrompt(textOf(messageOf(entry)['content'])) === prompt,
    )
    return found(asked === -1 ? entries.findIndex(isOfTurn) : asked)
  },
  isSaid: ({ type }) => type === 'user' || type === 'assistant',
  canEnd: ({ type }) => type === 'user' || type === 'assistant',
}

/** Of an answer that makes a call, what was thought and said just before the call goes too. */
function beginOfAnswer(entries: readonly Entry[], call: number): number {
  const { id } = messageOf(entries[call] ?? {})
  let from = call
  for (let at = call - 1; at >= 0; at -= 1) {
    const entry = entries[at] ?? {}
    if (entry['type'] === 'user' || hasPart(entry, { type: 'tool_use' })) break
    if (entry['type'] === 'assistant' && messageOf(entry)['id'] === id) from = at
  }
  return from
}

function hasPart(entry: Entry, wanted: Entry): boolean {
  const content = messageOf(entry)['content']
  if (!Array.isArray(content) || Object.values(wanted).includes(undefined)) return false
  return content.some((part: unknown) => {
    const fields = fieldsOf(part)
    return Object.entries(wanted).every(([key, value]) => fields[key] === value)
  })
}

function messageOf(entry: Entry): Entry {
  return fieldsOf(entry['message'])
}

/** Codex: entries with a payload that has the id of the turn or of the call. */
export const codexTalk: TalkForm = {
  find(kind, entries, { turnId, callId }) {
    const payloads = entries.map(({ payload }) => fieldsOf(payload))
    if (kind === 'before-turn')
      return turnId === undefined
        ? undefined
        : found(payloads.findIndex((one) => one['turn_id'] === turnId))
    const isOutput = ({ type }: Entry) => typeof type === 'string' && type.endsWith('_output')
    const isCall = (one: Entry) => callId !== undefined && one['call_id'] === callId
    return kind === 'after-call'
      ? after(payloads.findLastIndex((one) => isCall(one) && isOutput(one)))
      : found(payloads.findIndex((one) => isCall(one) && !isOutput(one)))
  },
  isSaid: ({ type, payload }) => type === 'response_item' && fieldsOf(payload)['role'] === 'user',
  canEnd: () => true,
}

/** Gemini CLI: messages without ids of turns and calls. A turn is found by its prompt, and is not cut inside. */
export const geminiTalk: TalkForm = {
  find(kind, entries, { prompt }) {
    if (kind !== 'before-turn' || prompt === undefined) return undefined
    return found(
      entries.findLastIndex(
        ({ type, content }) => type === 'user' && shortPrompt(textOf(content)) === prompt,
      ),
    )
  },
  isSaid: (entry) => entry['type'] === 'gemini' || isHistory(entry['$set']),
  canEnd: () => true,
}

/** A session that was resumed begins with all that was said before. */
function isHistory(set: unknown): boolean {
  const messages = fieldsOf(set)['messages']
  if (!Array.isArray(messages)) return false
  return messages.some((message: unknown) => fieldsOf(message)['type'] === 'gemini')
}

/** A text, or the texts of a list of parts. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  const texts = content.map((part: unknown) => fieldsOf(part)['text'])
  return texts.filter((text) => typeof text === 'string').join('')
}

function found(index: number): number | undefined {
  return index === -1 ? undefined : index
}

function after(index: number): number | undefined {
  return index === -1 ? undefined : index + 1
}
