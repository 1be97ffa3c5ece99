// Codex: lines `{ timestamp, type, payload }`. The items of the model (`response_item`) are the conversation; events repeat
// them for the user interface.
import { type Fields, fieldsOf } from '../../../base/index.js'
import { CODEX_TAGS } from './injected-text.js'
import { readMessage } from './message.js'
import {
  BOOKKEEPING,
  idIn,
  listIn,
  note,
  type RawItem,
  type RawPart,
  startedBy,
  textIn,
  withText,
} from './raw-item.js'
import { readResponseItem } from './response-item.js'

export function readCodex({ type, timestamp: at, payload: given }: Fields): RawItem | undefined {
  const payload = fieldsOf(given)
  const item = (parts: readonly RawPart[]): RawItem => ({
    at,
    subagent: null,
    parts: withText(parts),
  })
  switch (type) {
    case 'response_item': {
      if (SILENT_ITEMS.has(payload['type'])) return BOOKKEEPING
      // From one agent of a team to another.
      if (payload['type'] === 'agent_message') return item([note(textsOf(payload['content']))])
      const parts = readResponseItem(payload) ?? readMessage(payload, CODEX_TAGS)?.parts
      return parts === undefined ? undefined : item(parts.map(markInstructions))
    }
    case 'event_msg':
      return { ...item(eventParts(payload)), ...startedIn(payload) }
    case 'compacted':
      return item([note(textIn(payload['message']) || 'The conversation was compacted.')])
    case 'inter_agent_communication_metadata':
    case 'session_meta':
    case 'turn_context':
    case 'world_state':
    case 'token_usage_record':
      return BOOKKEEPING
    default:
      return undefined
  }
}

const SILENT_ITEMS: ReadonlySet<unknown> = new Set([
  'compaction',
  'compaction_summary',
  'context_compaction',
  'ghost_snapshot',
])

/** The content of AGENTS.md arrives as a message of the user. */
function markInstructions(part: RawPart): RawPart {
  const isInstruction = part.kind === 'prompt' && part.text.startsWith('# AGENTS.md instructions')
  return isInstruction ? note(part.text) : part
}

/** Without encrypted blocks. */
function textsOf(content: unknown): string {
  return listIn(content)
    .map((block) => textIn(fieldsOf(block)['text']))
    .join('')
}

function startedIn({ type, item }: Fields): Pick<RawItem, 'started'> {
  const { type: kind, kind: activity, id, agent_thread_id: thread } = fieldsOf(item)
  const isStart = type === 'item_completed' && kind === 'SubAgentActivity' && activity === 'started'
  return startedBy(isStart ? [{ call: idIn(id), agent: idIn(thread) }] : [])
}

function eventParts({ type, message, reason }: Fields): readonly RawPart[] {
  switch (type) {
    case 'turn_aborted':
      return [note(`The turn was aborted${typeof reason === 'string' ? `: ${reason}` : ''}.`)]
    case 'error':
    case 'stream_error':
    case 'warning':
      return [note(textIn(message))]
    case 'context_compacted':
      return [note('The conversation was compacted.')]
    case 'thread_rolled_back':
      return [note('Earlier turns were taken back.')]
    default:
      return []
  }
}
