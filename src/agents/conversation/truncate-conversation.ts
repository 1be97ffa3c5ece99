// Truncates a conversation at a checkpoint. Pure: it knows where each agent's transcript has turns and calls. Lines of an
// unknown form, such as those of a newer version of the agent, are kept.
import { fieldsOf, tryParseJson } from '../../base/index.js'
import { shortenPrompt } from '../hooks/describe.js'
import type { EventType } from '../mappers/event.js'

/** The point in the conversation at which a checkpoint was made. */
export type ConversationPoint = {
  readonly at: EventType
  readonly turnId: string | undefined
  readonly callId: string | undefined
  /** Shortened. */
  readonly prompt: string | undefined
}

/** The point at which the conversation ends. `then`: all that the checkpoint contains. */
type CutKind = 'before-turn' | 'before-call' | 'after-call' | 'then'

export type Cut = {
  readonly kind: CutKind
  /** Empty if nothing precedes the point, or if no copy contains it. */
  readonly lines: readonly string[]
  /** Whether one of the copies contains the point itself. */
  readonly isFound: boolean
}

export type TranscriptFormat = {
  /** The number of entries to keep; undefined if they do not contain the point. */
  readonly find: (
    kind: Exclude<CutKind, 'then'>,
    entries: readonly Entry[],
    point: ConversationPoint,
  ) => number | undefined
  /** Whether it is a message of the user or the model. */
  readonly isSaid: (entry: Entry) => boolean
  /** Whether a conversation may end with it; other entries are removed from the end. */
  readonly canEnd: (entry: Entry) => boolean
}

type Entry = Readonly<Record<string, unknown>>

/**
 * Searches several copies of a conversation: first the one in the checkpoint, then newer ones, because the agent may have
 * written the point after the checkpoint was made.
 */
export function truncateConversation(
  format: TranscriptFormat,
  point: ConversationPoint,
  copies: readonly (readonly string[])[],
): Cut {
  const parsed = copies.map((lines) => ({
    lines,
    entries: lines.map((line) => fieldsOf(tryParseJson(line))),
  }))
  for (const kind of KINDS[point.at]) {
    for (const { lines, entries } of parsed) {
      const count = format.find(kind, entries, point)
      if (count !== undefined)
        return { kind, lines: keepLines(format, { lines, entries }, count), isFound: true }
    }
  }
  const [own] = parsed
  const lines = own === undefined ? [] : keepLines(format, own, own.lines.length)
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

/** The first `count` lines; empty if they contain no message. */
function keepLines(
  { isSaid, canEnd }: TranscriptFormat,
  { lines, entries }: { readonly lines: readonly string[]; readonly entries: readonly Entry[] },
  count: number,
): readonly string[] {
  const kept = entries.slice(0, count)
  return kept.some(isSaid) ? lines.slice(0, kept.findLastIndex(canEnd) + 1) : []
}

/** Claude Code: entries have a `promptId`, their contents the ids of calls. A fork puts its new id into all old entries. */
export const claudeFormat: TranscriptFormat = {
  find(kind, entries, { turnId, callId, prompt }) {
    if (kind === 'after-call')
      return after(
        entries.findLastIndex((entry) =>
          hasPart(entry, { type: 'tool_result', tool_use_id: callId }),
        ),
      )
    if (kind === 'before-call') {
      const at = entries.findLastIndex((entry) => hasPart(entry, { type: 'tool_use', id: callId }))
      return at === -1 ? undefined : answerStart(entries, at)
    }
    const isOfTurn = (entry: Entry) =>
      turnId !== undefined && entry['type'] === 'user' && entry['promptId'] === turnId
    const asked = entries.findLastIndex(
      (entry) => isOfTurn(entry) && shortenPrompt(textOf(messageOf(entry)['content'])) === prompt,
    )
    return orUndefined(asked === -1 ? entries.findIndex(isOfTurn) : asked)
  },
  isSaid: ({ type }) => type === 'user' || type === 'assistant',
  canEnd: ({ type }) => type === 'user' || type === 'assistant',
}

/** The first entry of the answer that makes the call: the thoughts and text before the call are removed with it. */
function answerStart(entries: readonly Entry[], call: number): number {
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

/** Codex: the payload of an entry has the id of the turn or of the call. */
export const codexFormat: TranscriptFormat = {
  find(kind, entries, { turnId, callId }) {
    const payloads = entries.map(({ payload }) => fieldsOf(payload))
    if (kind === 'before-turn')
      return turnId === undefined
        ? undefined
        : orUndefined(payloads.findIndex((one) => one['turn_id'] === turnId))
    const isOutput = ({ type }: Entry) => typeof type === 'string' && type.endsWith('_output')
    const isCall = (one: Entry) => callId !== undefined && one['call_id'] === callId
    return kind === 'after-call'
      ? after(payloads.findLastIndex((one) => isCall(one) && isOutput(one)))
      : orUndefined(payloads.findIndex((one) => isCall(one) && !isOutput(one)))
  },
  isSaid: ({ type, payload }) => type === 'response_item' && fieldsOf(payload)['role'] === 'user',
  canEnd: () => true,
}

/** Gemini CLI: messages have no ids for turns and calls. A turn is found by its prompt and never cut in the middle. */
export const geminiFormat: TranscriptFormat = {
  find(kind, entries, { prompt }) {
    if (kind !== 'before-turn' || prompt === undefined) return undefined
    return orUndefined(
      entries.findLastIndex(
        ({ type, content }) => type === 'user' && shortenPrompt(textOf(content)) === prompt,
      ),
    )
  },
  isSaid: (entry) => entry['type'] === 'gemini' || isHistory(entry['$set']),
  canEnd: () => true,
}

/** A resumed session starts with an entry that contains all earlier messages. */
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

function orUndefined(index: number): number | undefined {
  return index === -1 ? undefined : index
}

function after(index: number): number | undefined {
  return index === -1 ? undefined : index + 1
}
