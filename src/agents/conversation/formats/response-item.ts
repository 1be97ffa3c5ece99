// Items of OpenAI's Responses API. Codex stores them, and so do programs that use the API themselves.
import { type Fields, fieldsOf, tryParseJson } from '../../../base/index.js'
import {
  argumentsIn,
  idIn,
  listIn,
  numberIn,
  type RawPart,
  resultText,
  textIn,
  withText,
} from './raw-item.js'

/** Calls, results and thoughts; undefined for messages and everything else. */
export function readResponseItem(item: Fields): readonly RawPart[] | undefined {
  const { type, call_id: callId, id } = item
  switch (type) {
    case 'function_call':
    case 'custom_tool_call':
    case 'mcp_call':
    case 'tool_search_call': {
      const input = argumentsIn(item['arguments'] ?? item['input'])
      return [{ kind: 'call', id: idIn(callId, id), tool: idIn(item['name'], type), input }]
    }
    case 'local_shell_call':
      return [{ kind: 'call', id: idIn(callId, id), tool: 'shell', input: item['action'] }]
    case 'web_search_call':
      return [{ kind: 'call', id: idIn(callId, id), tool: 'web_search', input: item['action'] }]
    case 'function_call_output':
    case 'custom_tool_call_output':
    case 'local_shell_call_output':
    case 'mcp_tool_call_output':
      return [outputOf(idIn(callId, id), item['output'])]
    case 'tool_search_output':
      return [outputOf(idIn(callId, id), item['tools'] ?? item['output'])]
    case 'reasoning': {
      const texts = [...listIn(item['summary']), ...listIn(item['content'])]
      const text = texts.map((one) => textIn(fieldsOf(one)['text'])).join('\n\n')
      return withText([{ kind: 'thinking', text }])
    }
    default:
      return undefined
  }
}

/** Codex puts the exit code and the time into the text, as JSON or as lines before the output. */
function outputOf(id: string, output: unknown): RawPart {
  const value = typeof output === 'string' ? (tryParseJson(output) ?? output) : output
  const { output: inner, content, metadata, success } = fieldsOf(value)
  const { exit_code: exitCode, duration_seconds: seconds } = fieldsOf(metadata)
  const isWrapped = typeof (inner ?? content) === 'string'
  const text = isWrapped ? textIn(inner ?? content) : resultText(output)
  const head = HEAD.exec(text)?.[0] ?? ''
  const code = numberIn(exitCode) ?? numberAfter(head, /(?:Exit code:|exited with code) (\d{1,9})/)
  const time = numberIn(seconds) ?? numberAfter(head, /Wall time:? (\d{1,9}(?:\.\d{1,9})?) seconds/)
  return {
    kind: 'result',
    id,
    isError: success === false || (code !== null && code !== 0),
    text: text.slice(head.length),
    durationMs: time === null ? null : Math.round(time * 1000),
  }
}

const HEAD =
  /^(?:(?:Script [a-z]|Chunk ID|Exit code|Wall time|Process exited with code|Original token count|Total output lines)[^\n]{0,100}\n){1,6}Output:\n/

function numberAfter(text: string, pattern: RegExp): number | null {
  const found = pattern.exec(text)?.[1]
  return found === undefined ? null : Number(found)
}
