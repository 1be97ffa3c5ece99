// Messages as SDKs and model APIs write them: OpenAI, Anthropic, Gemini, LangChain, the AI SDK, and opencode's export. They
// differ in the names of fields and agree in their meaning, so one reader accepts all of them.
import { type Fields, fieldsOf, isRecord } from '../../../base/index.js'
import { type InjectedTags, splitPrompt } from './injected-text.js'
import {
  argumentsIn,
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
import { readResponseItem } from './response-item.js'

type Role = 'user' | 'assistant' | 'tool' | 'system' | 'other'

const ROLES: ReadonlyMap<unknown, Role> = new Map<unknown, Role>([
  ['user', 'user'],
  ['human', 'user'],
  ['HumanMessage', 'user'],
  ['assistant', 'assistant'],
  ['ai', 'assistant'],
  ['model', 'assistant'],
  ['AIMessage', 'assistant'],
  ['AIMessageChunk', 'assistant'],
  ['tool', 'tool'],
  ['function', 'tool'],
  ['ToolMessage', 'tool'],
  ['system', 'system'],
  ['developer', 'system'],
  ['SystemMessage', 'system'],
])

/** Undefined if it has neither a role nor the form of a message. */
export function readMessage(entry: Fields, tags?: InjectedTags): RawItem | undefined {
  const message = unwrap(entry)
  const { role: given, parts: partList, content } = message
  const at = timeIn(entry) ?? timeIn(message)
  if (given === undefined) {
    const parts = readResponseItem(message)
    return parts === undefined ? undefined : { at, subagent: null, parts }
  }
  const role = ROLES.get(given) ?? 'other'
  const blocks = Array.isArray(partList) ? partList : content
  const parts = withText([
    ...thoughtsIn(message),
    ...(role === 'tool' && !hasResults(blocks)
      ? [resultOf(message, blocks)]
      : readBlocks(blocks, { role, tags })),
    ...listIn(message['tool_calls']).flatMap((call) => callIn(call)),
    ...(isRecord(message['function_call']) ? callIn({ function: message['function_call'] }) : []),
    // The AI SDK up to version 4.
    ...listIn(message['toolInvocations']).flatMap((one) => toolPart({ toolInvocation: one })),
    { kind: 'answer', text: textIn(message['refusal']) },
  ])
  if (role !== 'other') return { at, subagent: null, parts }
  return { at, subagent: null, parts: [note(`${textIn(given)}: ${jsonText(entry)}`)] }
}

/** The fields of a message that its library has wrapped: `role` is set if the entry has a known form. */
function unwrap(entry: Fields): Fields {
  const { role, type, id, kwargs, lc_kwargs: ownKwargs, data, info, parts } = entry
  if (role !== undefined) return entry
  // opencode: `{ info: { role }, parts }`
  if (isRecord(info) && info['role'] !== undefined) return { ...info, parts }
  // LangChain: `{ lc, id: [..., 'HumanMessage'], kwargs }`, or `{ type: 'human', data }`, or a message itself
  const inner = isRecord(kwargs) ? kwargs : isRecord(ownKwargs) ? ownKwargs : data
  const name = Array.isArray(id) ? id.at(-1) : type
  if (!ROLES.has(name)) return entry
  return { ...(isRecord(inner) ? inner : entry), role: name }
}

function timeIn(message: Fields): unknown {
  const { timestamp, createdAt, created_at: created, ts, time } = message
  return timestamp ?? createdAt ?? created ?? ts ?? fieldsOf(time)['created']
}

function thoughtsIn(message: Fields): readonly RawPart[] {
  const { reasoning_content: content, reasoning } = message
  const text = textIn(content) === '' ? textIn(reasoning) : textIn(content)
  return [{ kind: 'thinking', text }]
}

function hasResults(blocks: unknown): boolean {
  return listIn(blocks)
    .map(fieldsOf)
    .some(({ type, functionResponse }) => {
      return isRecord(functionResponse) || /^tool[-_]result$/.test(textIn(type))
    })
}

function resultOf(message: Fields, content: unknown): RawPart {
  const { tool_call_id: callId, toolCallId, name, status, is_error: isError } = message
  return {
    kind: 'result',
    id: idIn(callId, toolCallId, name),
    isError: status === 'error' || isError === true,
    text: resultText(content),
    durationMs: numberIn(message['durationMs'], message['duration_ms']),
  }
}

/** OpenAI: `{ id, function: { name, arguments } }`. LangChain: `{ id, name, args }`. */
function callIn(value: unknown): readonly RawPart[] {
  const call = fieldsOf(value)
  const inner = fieldsOf(call['function'] ?? call['custom'])
  const tool = idIn(inner['name'], call['name'], call['toolName'])
  const input = inner['arguments'] ?? inner['input'] ?? call['args'] ?? call['arguments']
  const id = idIn(call['id'], call['toolCallId'])
  return tool === '' ? [] : [{ kind: 'call', id, tool, input: argumentsIn(input) }]
}

type BlockContext = { readonly role: Role; readonly tags: InjectedTags | undefined }

/** The parts of a message's content: a text, a block, or a list of them. */
export function readBlocks(content: unknown, context: BlockContext): readonly RawPart[] {
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [content]
  return blocks.flatMap((block) => {
    if (block === undefined || block === null) return []
    if (typeof block === 'string') return said(block, context)
    return isRecord(block) ? readBlock(block, context) : [note(jsonText(block))]
  })
}

function said(text: string, { role, tags }: BlockContext): readonly RawPart[] {
  if (role === 'assistant') return [{ kind: 'answer', text }]
  if (role !== 'user') return [note(text)]
  return tags === undefined ? [{ kind: 'prompt', text }] : splitPrompt(text, tags)
}

function readBlock(block: Fields, context: BlockContext): readonly RawPart[] {
  const { type, text, functionCall, functionResponse } = block
  if (isRecord(functionCall)) return callIn(functionCall)
  if (isRecord(functionResponse)) return [geminiResult(functionResponse)]
  if (block['thought'] === true) return [{ kind: 'thinking', text: textIn(text) }]
  switch (type) {
    case undefined:
    case 'text':
    case 'input_text':
    case 'output_text':
      // opencode marks what the user has not written.
      if (typeof text === 'string')
        return block['synthetic'] === true ? [note(text)] : said(text, context)
      break
    case 'thinking':
    case 'reasoning':
      return [{ kind: 'thinking', text: textIn(block['thinking']) || textIn(text) }]
    case 'tool_use':
    case 'server_tool_use':
    case 'mcp_tool_use':
      return [
        { kind: 'call', id: idIn(block['id']), tool: idIn(block['name']), input: block['input'] },
      ]
    case 'tool-call':
      return callIn({ ...block, id: block['toolCallId'], args: block['input'] ?? block['args'] })
    case 'tool_result':
    case 'web_search_tool_result':
    case 'mcp_tool_result':
      return [
        {
          kind: 'result',
          id: idIn(block['tool_use_id']),
          isError: block['is_error'] === true,
          text: resultText(block['content']),
          durationMs: null,
        },
      ]
    case 'tool-result':
      return [modelResult(block)]
    case 'tool':
    case 'dynamic-tool':
    case 'tool-invocation':
      return toolPart(block)
    case 'step-start':
    case 'step-finish':
    case 'snapshot':
    case 'patch':
    case 'redacted_thinking':
      return []
    default:
      if (typeof type === 'string' && type.startsWith('tool-')) return toolPart(block)
  }
  const { mimeType } = fieldsOf(block['inlineData'] ?? block['fileData'])
  if (typeof mimeType === 'string') return [note(`[${idIn(mimeType)}]`)]
  // Never the data of an image.
  if (typeof type === 'string' && /image|audio|file|document|video/.test(type))
    return [note(`[${idIn(block['filename'], type)}]`)]
  return Object.keys(block).length === 0 ? [] : [note(jsonText(block))]
}

function geminiResult({ id, name, response }: Fields): RawPart {
  const { output, error } = fieldsOf(response)
  const isError = error !== undefined
  const text = resultText(isError ? error : (output ?? response))
  return { kind: 'result', id: idIn(id, name), isError, text, durationMs: null }
}

/** AI SDK, a message for the model: the output has a type. */
function modelResult(block: Fields): RawPart {
  const { toolCallId, output, result, isError } = block
  const { type, value } = fieldsOf(output)
  return {
    kind: 'result',
    id: idIn(toolCallId),
    isError: isError === true || (typeof type === 'string' && type.startsWith('error')),
    text: resultText(value ?? output ?? result),
    durationMs: null,
  }
}

/** AI SDK, a message for a page, and opencode: call and result are one part. */
function toolPart(block: Fields): readonly RawPart[] {
  const old = fieldsOf(block['toolInvocation'])
  // opencode: `state` is a record. AI SDK: it is a word.
  const state = fieldsOf(block['state'])
  const kind = textIn(block['type'])
  const tool = idIn(block['toolName'], old['toolName'], block['tool'], kind.replace(/^tool-/, ''))
  const id = idIn(block['toolCallId'], old['toolCallId'], block['callID'])
  const input = block['input'] ?? block['args'] ?? old['args'] ?? state['input']
  const call: RawPart = { kind: 'call', id, tool, input: argumentsIn(input) }
  const error = block['errorText'] ?? state['error']
  const output = block['output'] ?? old['result'] ?? state['output']
  if (error === undefined && output === undefined) return [call]
  const { start, end } = fieldsOf(state['time'])
  const durationMs = typeof start === 'number' && typeof end === 'number' ? end - start : null
  const isError = error !== undefined
  const text = resultText(isError ? error : output)
  return [call, { kind: 'result', id, isError, text, durationMs }]
}
