// Reads what the user and the agent said in a stored entry of a conversation: prompts, answers and the arguments of tool calls. The formats of agents and
// of model APIs agree in the words that matter here, so one reader takes them all; `agents/conversation`, which shows conversations,
// is a higher layer. Results of tools are left out: they repeat files and outputs.
import { type Fields, fieldsOf, isRecord, tryParseJson } from '../../base/index.js'

export type SaidText = { readonly where: 'prompt' | 'answer' | 'tool'; readonly text: string }
type Speaker = SaidText['where'] | 'nobody'

const SPEAKERS: ReadonlyMap<unknown, Speaker> = new Map<unknown, Speaker>([
  ...['user', 'human', 'HumanMessage', 'user.message'].map((word) => [word, 'prompt'] as const),
  ...['assistant', 'ai', 'model', 'gemini', 'AIMessage', 'AIMessageChunk', 'assistant.message'].map(
    (word) => [word, 'answer'] as const,
  ),
  ...['tool', 'function', 'ToolMessage', 'system', 'developer', 'SystemMessage'].map(
    (word) => [word, 'nobody'] as const,
  ),
])

/** Calls by the `type` of their record. A record of an opencode or AI SDK call has its result too. */
const CALL =
  /^(?:(?:server_|mcp_)?tool_use|tool-.*|tool|dynamic-tool|(?:function|custom_tool|mcp|local_shell|web_search|tool_search)_call)$/
const SILENT = /(?:result|output|thinking|reasoning|compaction|summary)$|^(?:event_msg|attachment)$/
const CALL_KEYS: ReadonlySet<string> = new Set([
  'tool_calls',
  'toolCalls',
  'toolRequests',
  'toolInvocations',
  'toolInvocation',
  'function_call',
  'functionCall',
])
const TEXT_KEYS: ReadonlySet<string> = new Set([
  'text',
  'content',
  'message',
  'messages',
  'parts',
  'payload',
  'data',
  'kwargs',
  'lc_kwargs',
  '$set',
])
/** Deeper values are data, not text for a reader. */
const MAX_DEPTH = 12

/** `entry`: a line of a transcript, or a message. */
export function conversationTexts(entry: unknown): readonly SaidText[] {
  const value = typeof entry === 'string' ? (tryParseJson(entry) ?? entry) : entry
  const found: SaidText[] = []
  collect(value, typeof value === 'string' ? 'answer' : 'nobody', { found, depth: 0 })
  return found
}

type Collecting = { readonly found: SaidText[]; readonly depth: number }

function collect(value: unknown, speaker: Speaker, { found, depth }: Collecting): void {
  if (depth > MAX_DEPTH) return
  const deeper = { found, depth: depth + 1 }
  if (typeof value === 'string') {
    if (speaker !== 'nobody' && value.trim() !== '') found.push({ where: speaker, text: value })
  } else if (Array.isArray(value)) for (const one of value) collect(one, speaker, deeper)
  else if (isRecord(value)) collectRecord(value, speaker, deeper)
}

function collectRecord(record: Fields, around: Speaker, collecting: Collecting): void {
  const { type, role, info, id, thought } = record
  const kind = typeof type === 'string' ? type : ''
  if (CALL.test(kind) && !kind.endsWith('result') && record['content'] === undefined) {
    collectArguments(argumentsOf(record), collecting)
    return
  }
  if (SILENT.test(kind) || thought === true) return
  const name = Array.isArray(id) ? id.at(-1) : undefined
  const given = role ?? fieldsOf(info)['role'] ?? name
  const speaker = SPEAKERS.get(given) ?? SPEAKERS.get(type) ?? around
  // LangChain names the role of a message twice; the result of a tool has neither of these speakers.
  for (const [key, value] of Object.entries(record)) {
    if (CALL_KEYS.has(key)) {
      for (const call of Array.isArray(value) ? value : [value])
        collectArguments(argumentsOf(fieldsOf(call)), collecting)
    } else if (TEXT_KEYS.has(key)) collect(value, speaker, collecting)
  }
}

function argumentsOf(call: Fields): unknown {
  const inner = fieldsOf(call['function'] ?? call['custom'] ?? call['toolInvocation'])
  const given = inner['arguments'] ?? inner['input'] ?? inner['args'] ?? call['input']
  const own = given ?? call['args'] ?? call['arguments'] ?? call['action']
  return own ?? fieldsOf(call['state'])['input']
}

/** Every text in the arguments, which many models write as JSON in a string. */
function collectArguments(value: unknown, { found, depth }: Collecting): void {
  if (depth > MAX_DEPTH) return
  const deeper = { found, depth: depth + 1 }
  const parsed = typeof value === 'string' ? tryParseJson(value) : value
  if (isRecord(parsed) || Array.isArray(parsed))
    for (const one of Object.values(parsed)) collectArguments(one, deeper)
  else if (typeof value === 'string' && value.trim() !== '')
    found.push({ where: 'tool', text: value })
}
