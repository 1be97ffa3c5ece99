// Claude Code: lines with `type` and, for messages, Anthropic's content blocks. Cursor writes similar lines.
import { type Fields, fieldsOf, isRecord } from '../../../base/index.js'
import type { StartedSubagent } from '../items.js'
import { CLAUDE_TAGS, CURSOR_TAGS } from './injected-text.js'
import { readBlocks } from './message.js'
import {
  BOOKKEEPING,
  idIn,
  listIn,
  note,
  numberIn,
  type RawItem,
  type RawPart,
  startedBy,
  textIn,
  withText,
} from './raw-item.js'

/** Written for the program itself. */
const BOOKKEEPING_TYPES: ReadonlySet<unknown> = new Set([
  'agent-name',
  'ai-title',
  'api-request',
  'api-request-blob',
  'api-request-shape',
  'atis-latch',
  'cost-state',
  'custom-title',
  'file-history-delta',
  'file-history-snapshot',
  'last-prompt',
  'mode',
  'permission-mode',
  'pr-link',
  'queue-operation',
  'tag',
  'tools-used',
])

/** Reports that only matter while the program runs. */
const SILENT_SUBTYPES: ReadonlySet<unknown> = new Set(['stop_hook_summary', 'turn_duration'])

export function readClaude(entry: Fields): RawItem | undefined {
  const { type, timestamp: at } = entry
  if (BOOKKEEPING_TYPES.has(type)) return BOOKKEEPING
  const subagent = subagentOf(entry)
  switch (type) {
    case 'user':
    case 'assistant':
      return { at, subagent, parts: withText(messageParts(entry, type)), ...startedIn(entry) }
    case 'system': {
      const parts = SILENT_SUBTYPES.has(entry['subtype']) ? [] : [note(systemText(entry))]
      return { at, subagent, parts: withText(parts) }
    }
    case 'summary':
      return { at, subagent, parts: withText([note(textIn(entry['summary']))]) }
    case 'attachment':
      return { at, subagent, parts: attachmentParts(fieldsOf(entry['attachment'])) }
    case 'progress':
      return progressItem(entry)
    default:
      return undefined
  }
}

/** Lines of a subagent have its id, in older versions only a mark. */
function subagentOf({ agentId, isSidechain }: Fields): string | null {
  const id = idIn(agentId)
  if (id !== '') return id
  return isSidechain === true ? 'sidechain' : null
}

/** The id of a subagent is in the result of its call. Until then its own file names the call. */
function startedIn({ message, toolUseResult }: Fields): Pick<RawItem, 'started'> {
  const blocks = listIn(fieldsOf(message)['content']).map(fieldsOf)
  const agent = idIn(fieldsOf(toolUseResult)['agentId'])
  const started = blocks.flatMap(
    ({ type, name, id, tool_use_id: callId }): readonly StartedSubagent[] => {
      if (type === 'tool_use' && name === 'Agent') return [{ call: idIn(id), agent: null }]
      return type === 'tool_result' && agent !== '' ? [{ call: idIn(callId), agent }] : []
    },
  )
  return startedBy(started)
}

function messageParts(entry: Fields, role: 'user' | 'assistant'): readonly RawPart[] {
  const { content, model } = fieldsOf(entry['message'])
  const parts = readBlocks(content, { role, tags: CLAUDE_TAGS })
  // Messages of the program: an error of the API, an answer that no model has given, a summary of the earlier conversation.
  const isOwn =
    entry['isMeta'] === true ||
    entry['isCompactSummary'] === true ||
    entry['isApiErrorMessage'] === true ||
    model === '<synthetic>'
  const durationMs = durationOf(entry['toolUseResult'])
  return parts.map((part) => {
    if (part.kind === 'result') return { ...part, durationMs }
    const isRemark = part.kind === 'prompt' && OWN_TEXT.test(part.text)
    return (isOwn || isRemark) && 'text' in part ? note(part.text) : part
  })
}

const OWN_TEXT =
  /^(?:\[Request interrupted by user|Caveat: The messages below were generated|This session is being continued from a previous)/

function durationOf(result: unknown): number | null {
  const { durationMs, totalDurationMs, duration_ms: duration, durationSeconds } = fieldsOf(result)
  const seconds = numberIn(durationSeconds)
  const other = seconds === null ? null : Math.round(seconds * 1000)
  return numberIn(durationMs, totalDurationMs, duration, other)
}

function systemText({ content, subtype, error }: Fields): string {
  if (typeof content === 'string') {
    // A local command, with its name or output in tags.
    const parts = readBlocks(content, { role: 'user', tags: CLAUDE_TAGS })
    return parts.map((part) => ('text' in part ? part.text : '')).join('\n')
  }
  const { message } = fieldsOf(error)
  return typeof message === 'string' ? message : textIn(subtype).replaceAll('_', ' ')
}

/** A prompt that the user sent while the agent worked. Other attachments are context for the model. */
function attachmentParts({ type, prompt }: Fields): readonly RawPart[] {
  if (type !== 'queued_command') return []
  return withText(readBlocks(prompt, { role: 'user', tags: CLAUDE_TAGS }))
}

/** A message of a subagent, in versions that report them in the main transcript. */
function progressItem({ data, timestamp }: Fields): RawItem {
  const { type, message, agentId } = fieldsOf(data)
  if (type !== 'agent_progress' || !isRecord(message)) return BOOKKEEPING
  const { type: role } = message
  if (role !== 'user' && role !== 'assistant') return BOOKKEEPING
  const subagent = idIn(agentId) || 'sidechain'
  return { at: timestamp, subagent, parts: withText(messageParts(message, role)) }
}

/** `{ role, message: { content } }`, without times, results and ids. */
export function readCursor(entry: Fields): RawItem | undefined {
  const { type, role, message } = entry
  if (type === 'turn_ended') {
    const { error } = entry
    const parts = withText([note(textIn(error) || textIn(fieldsOf(error)['message']))])
    return { at: null, subagent: null, parts }
  }
  if ((role !== 'user' && role !== 'assistant') || !isRecord(message)) return undefined
  const parts = readBlocks(message['content'], { role, tags: CURSOR_TAGS })
  return { at: entry['timestamp'], subagent: null, parts: withText(parts) }
}
