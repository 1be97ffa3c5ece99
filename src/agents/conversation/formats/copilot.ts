// GitHub Copilot CLI: events `{ type, data, timestamp }`. Written from published transcripts, not recorded.
import { type Fields, fieldsOf } from '../../../base/index.js'
import {
  argumentsIn,
  BOOKKEEPING,
  idIn,
  jsonText,
  listIn,
  note,
  numberIn,
  type RawItem,
  type RawPart,
  resultText,
  textIn,
  withText,
} from './raw-item.js'

export function readCopilot(entry: Fields): RawItem | undefined {
  const { type, timestamp: at } = entry
  const data = fieldsOf(entry['data'])
  const parts = partsOf(type, data)
  if (parts === undefined)
    return typeof type === 'string' && SILENT.test(type) ? BOOKKEEPING : undefined
  const parent = idIn(data['parentToolCallId'], data['agentId'])
  return { at, subagent: parent === '' ? null : parent, parts: withText(parts) }
}

const SILENT = /^(?:assistant|session|hook|tool|subagent|skill|permission|pending_messages)\./

function partsOf(type: unknown, data: Fields): readonly RawPart[] | undefined {
  switch (type) {
    case 'user.message':
      return [{ kind: 'prompt', text: textIn(data['content']) }]
    case 'assistant.message':
      return [
        { kind: 'thinking', text: textIn(data['reasoningText']) },
        { kind: 'answer', text: textIn(data['content']) },
        // `tool.execution_start` repeats them.
        ...listIn(data['toolRequests']).map((request) => callOf(fieldsOf(request))),
      ]
    case 'tool.execution_complete':
      return [resultOf(data)]
    case 'system.message':
      return [note(textIn(data['content']))]
    case 'abort':
      return [note(`The turn was aborted${idIn(data['reason']) && `: ${idIn(data['reason'])}`}.`)]
    case 'session.error':
    case 'session.warning':
    case 'session.info':
      return [note(textIn(data['message']))]
    case 'session.compaction_complete':
      return [note(textIn(data['summaryContent']) || 'The conversation was compacted.')]
    case 'subagent.failed':
      return [note(textIn(data['error']) || jsonText(data))]
    default:
      return undefined
  }
}

function callOf(request: Fields): RawPart {
  const input = argumentsIn(request['arguments'])
  return { kind: 'call', id: idIn(request['toolCallId']), tool: idIn(request['name']), input }
}

function resultOf({ toolCallId, success, result, error, durationMs }: Fields): RawPart {
  const isError = success === false || (error !== undefined && error !== null)
  const { message } = fieldsOf(error)
  const failure = typeof message === 'string' ? message : resultText(error)
  return {
    kind: 'result',
    id: idIn(toolCallId),
    isError,
    text: resultText(result) || failure,
    durationMs: numberIn(durationMs),
  }
}
