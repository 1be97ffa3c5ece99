// Gemini CLI: one record per message. The same id again replaces the message; `$set` and `$rewindTo` change the list.
import { type Fields, fieldsOf } from '../../../base/index.js'
import { GEMINI_TAGS } from './injected-text.js'
import { readBlocks } from './message.js'
import {
  argumentsIn,
  BOOKKEEPING,
  idIn,
  listIn,
  note,
  numberIn,
  type RawItem,
  type RawPart,
  resultText,
  textIn,
  withText,
} from './raw-item.js'

export function readGemini(entry: Fields): RawItem | undefined {
  const { id, type, timestamp: at, $set: set, $rewindTo: rewindTo } = entry
  if (rewindTo !== undefined)
    return {
      at,
      subagent: null,
      parts: [note('The conversation was rewound to an earlier message.')],
    }
  if (set !== undefined) {
    // A resumed session starts with all its earlier messages.
    const messages = listIn(fieldsOf(set)['messages']).map(fieldsOf)
    const parts = messages.flatMap((one) => partsOf(one) ?? [])
    return { at: messages.at(-1)?.['timestamp'], subagent: null, parts }
  }
  if (type === undefined && entry['sessionId'] !== undefined) return BOOKKEEPING
  const parts = partsOf(entry)
  if (parts === undefined) return undefined
  return { at, subagent: null, parts, ...(typeof id === 'string' ? { id } : {}) }
}

function partsOf(message: Fields): readonly RawPart[] | undefined {
  const { type, content } = message
  switch (type) {
    case 'user': {
      const parts = readBlocks(content, { role: 'user', tags: GEMINI_TAGS })
      // They repeat the results in `toolCalls`.
      return withText(parts.filter(({ kind }) => kind !== 'result').map(markSetup))
    }
    case 'gemini':
      return withText([
        ...listIn(message['thoughts']).map(thoughtOf),
        ...readBlocks(content, { role: 'assistant', tags: undefined }).filter(isSaid),
        ...listIn(message['toolCalls']).flatMap((call) =>
          callParts(fieldsOf(call), message['timestamp']),
        ),
      ])
    case 'info':
    case 'warning':
    case 'error':
      return withText([note(resultText(content))])
    default:
      return undefined
  }
}

/** Calls are in `toolCalls` too. */
function isSaid({ kind }: RawPart): boolean {
  return kind !== 'call'
}

function markSetup(part: RawPart): RawPart {
  const isSetup = part.kind === 'prompt' && part.text.startsWith('This is the Gemini CLI.')
  return isSetup ? note(part.text) : part
}

function thoughtOf(value: unknown): RawPart {
  const { subject, description } = fieldsOf(value)
  const text = [textIn(subject), textIn(description)].filter((one) => one !== '').join('\n')
  return { kind: 'thinking', text }
}

/** The time of the message is before its calls, the time of a call is its end. */
function callParts(call: Fields, startedAt: unknown): readonly RawPart[] {
  const { status, result, resultDisplay } = call
  const [id, tool] = [idIn(call['id'], call['name']), idIn(call['name'])]
  const made: RawPart = { kind: 'call', id, tool, input: argumentsIn(call['args']) }
  const [first] = readBlocks(result, { role: 'tool', tags: undefined })
  if (first === undefined && resultDisplay === undefined && status === undefined) return [made]
  const text = first !== undefined && 'text' in first ? first.text : resultText(resultDisplay)
  const isError =
    status === 'error' || status === 'cancelled' || (first?.kind === 'result' && first.isError)
  const durationMs = numberIn(Date.parse(textIn(call['timestamp'])) - Date.parse(textIn(startedAt)))
  return [made, { kind: 'result', id, isError, text, durationMs }]
}
