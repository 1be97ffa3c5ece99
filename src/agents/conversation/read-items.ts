// Turns the stored entries of a conversation into items that a person can read. Pure, and never fails: an entry of an unknown
// form becomes a note with its text. Each entry is read by itself, so that any slice of a long conversation can be shown.
import {
  AGENT_NAMES,
  type AgentName,
  type Fields,
  isRecord,
  maskNamedValues,
  maskSecrets,
  tryParseJson,
} from '../../base/index.js'
import { callSummary } from './formats/call-summary.js'
import { readClaude, readCursor } from './formats/claude.js'
import { readCodex } from './formats/codex.js'
import { readCopilot } from './formats/copilot.js'
import { readGemini } from './formats/gemini.js'
import { CLINE_TAGS } from './formats/injected-text.js'
import { readMessage } from './formats/message.js'
import {
  BOOKKEEPING,
  inputText,
  jsonText,
  note,
  type RawItem,
  type RawPart,
  type ReadEntry,
} from './formats/raw-item.js'
import type { ConversationItem, ConversationPart, ItemText } from './items.js'

/** `messages`: the messages of a program that uses the SDK. */
export type ConversationFormat = AgentName | 'messages'

const READERS: Readonly<Record<ConversationFormat, ReadEntry>> = {
  claude: readClaude,
  codex: readCodex,
  gemini: readGemini,
  copilot: readCopilot,
  cursor: readCursor,
  cline: (entry) => readMessage(entry, CLINE_TAGS),
  // They store the messages of a model's API.
  hermes: (entry) => readMessage(entry),
  opencode: (entry) => readMessage(entry),
  messages: (entry) => readMessage(entry),
}

/** The format of a session's conversation, by the name of its agent. */
export function formatOf(agent: string | null): ConversationFormat {
  return AGENT_NAMES.find((name) => name === agent) ?? 'messages'
}

/** The key of a session's state that holds the conversation. */
export function conversationKey(format: ConversationFormat): 'transcript' | 'messages' {
  return format === 'messages' ? 'messages' : 'transcript'
}

const MAX_TEXT_CHARS = 16 * 1024
const MAX_MORE_CHARS = 64 * 1024
const MAX_SUMMARY_CHARS = 200

type TextOptions = {
  /** Shows secrets, which are masked otherwise. */
  readonly reveal?: boolean
  readonly maxChars?: number
}

export type ReadItemsOptions = TextOptions & {
  readonly format: ConversationFormat
  /** The index of the first entry in the stored list. */
  readonly firstIndex?: number
}

/** One item per entry, in the same order. */
export function readConversationItems(
  entries: readonly unknown[],
  options: ReadItemsOptions,
): readonly ConversationItem[] {
  const { format, firstIndex = 0, reveal = false, maxChars = MAX_TEXT_CHARS } = options
  const items = addDurations(entries.map((entry) => readEntry(entry, format)))
  const newest = new Map(items.flatMap((item) => (item.id === undefined ? [] : [[item.id, item]])))
  return items.map((item, at) => {
    const isReplaced = item.id !== undefined && newest.get(item.id) !== item
    return {
      index: firstIndex + at,
      at: isoTime(item.at),
      subagent: item.subagent,
      parts: isReplaced ? [] : item.parts.map((part) => finishPart(part, { reveal, maxChars })),
      ...(item.started === undefined ? {} : { started: item.started }),
    }
  })
}

/**
 * Most agents do not store how long a call took. The time between the entries of the call and the result is close to it,
 * and includes waiting for the user's permission.
 */
function addDurations(items: readonly RawItem[]): readonly RawItem[] {
  const startMs = new Map<string, number>()
  return items.map((item) => {
    const timeMs = Date.parse(isoTime(item.at) ?? '')
    const parts = item.parts.map((part) => {
      if (part.kind !== 'result' || part.durationMs !== null) return part
      const durationMs = timeMs - (startMs.get(part.id) ?? Number.NaN)
      return durationMs >= 0 ? { ...part, durationMs } : part
    })
    for (const part of parts) if (part.kind === 'call') startMs.set(part.id, timeMs)
    return { ...item, parts }
  })
}

export type ReadItemTextOptions = TextOptions & {
  readonly format: ConversationFormat
  /** The index of the part in the item. */
  readonly part: number
  readonly offset: number
}

/** A piece of a text that was cut: of the input of a call, or of the text of any other part. Empty if there is none. */
export function readItemText(
  entry: unknown,
  options: ReadItemTextOptions,
): Pick<ItemText, 'text' | 'restLength'> {
  const { format, part, offset, reveal = false, maxChars = MAX_MORE_CHARS } = options
  const found = readEntry(entry, format).parts[part]
  if (found === undefined) return { text: '', restLength: 0 }
  // Masked as a whole before it is cut: half of a secret cannot be recognized.
  const { text } = maskPart(found, reveal)
  return cut(text.slice(offset), maxChars)
}

function readEntry(entry: unknown, format: ConversationFormat): RawItem {
  const value = typeof entry === 'string' ? tryParseJson(entry) : entry
  const item = isRecord(value) ? readRecord(value, format) : undefined
  if (item !== undefined) return item
  const text = typeof entry === 'string' ? entry : jsonText(entry)
  return text.trim() === '' ? BOOKKEEPING : { ...BOOKKEEPING, parts: [note(text)] }
}

/** A session with the name of an agent may have been written by a program that uses the SDK. */
function readRecord(entry: Fields, format: ConversationFormat): RawItem | undefined {
  return READERS[format](entry) ?? (format === 'messages' ? undefined : readMessage(entry))
}

type FinishOptions = Required<TextOptions>

function finishPart(part: RawPart, { reveal, maxChars }: FinishOptions): ConversationPart {
  const { text, masked, input } = maskPart(part, reveal)
  const finished = { ...cut(text, maxChars), masked }
  switch (part.kind) {
    case 'call': {
      const { kind, id, tool } = part
      return {
        kind,
        id,
        tool,
        summary: oneLine(mask(callSummary(input), reveal).text),
        input: finished,
      }
    }
    case 'result': {
      const { kind, id, isError, durationMs } = part
      return { kind, id, isError, text: finished, durationMs }
    }
    default:
      return { kind: part.kind, text: finished }
  }
}

type Masked = { readonly text: string; readonly masked: number }

/** The whole text of a part; `input` is that of a call. */
function maskPart(part: RawPart, reveal: boolean): Masked & { readonly input?: unknown } {
  if (part.kind !== 'call') {
    const isOutput = part.kind === 'result' || part.kind === 'note'
    return mask(isOutput ? withoutAnsi(part.text) : part.text, reveal)
  }
  // The text of the arguments has no quotes, and the summary has no names. Both would hide what is a secret.
  const { values: input, masked } =
    reveal || !isRecord(part.input)
      ? { values: part.input, masked: 0 }
      : maskNamedValues(part.input)
  const shown = mask(inputText(input), reveal)
  return { text: shown.text, masked: shown.masked + masked, input }
}

function mask(text: string, reveal: boolean): Masked {
  return reveal ? { text, masked: 0 } : maskSecrets(text)
}

/** Never between the two halves of a character. */
function cut(
  text: string,
  maxChars: number,
): { readonly text: string; readonly restLength: number } {
  if (text.length <= maxChars) return { text, restLength: 0 }
  const isSplit = /^[\ud800-\udbff][\udc00-\udfff]$/.test(text.slice(maxChars - 1, maxChars + 1))
  const end = isSplit && maxChars > 1 ? maxChars - 1 : maxChars
  return { text: text.slice(0, end), restLength: text.length - end }
}

function oneLine(text: string): string {
  // Enough for the line, however many spaces follow each other in a long command.
  const line = text
    .slice(0, 100 * MAX_SUMMARY_CHARS)
    .replace(/\s+/g, ' ')
    .trim()
  if (line.length <= MAX_SUMMARY_CHARS) return line
  return `${cut(line, MAX_SUMMARY_CHARS - 1).text}…`
}

/** Sequences that color text or move the cursor, and titles of terminals. */
const ANSI =
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)|\u001b[ -/]*[0-Z\\^-~]/g

function withoutAnsi(text: string): string {
  return text.includes('\u001b') || text.includes('\u009b') ? text.replace(ANSI, '') : text
}

/** Numbers are milliseconds, or seconds if they are too small for that. Null for anything that is not a time. */
function isoTime(value: unknown): string | null {
  const isTime = typeof value === 'string' || typeof value === 'number' || value instanceof Date
  if (!isTime) return null
  const date = new Date(typeof value === 'number' && value < 1e11 ? value * 1000 : value)
  return Number.isNaN(date.getTime()) ? null : date.toISOString()
}
