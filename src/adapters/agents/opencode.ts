// opencode, by the plugin that `savestate install opencode` writes. It sends what a handler was given as `input` and
// `output` (recorded on 1.18.33), with the folder, and with the session that a subagent's session belongs to.
import { fieldsOf } from '../../base/index.js'
import {
  type Answer,
  type AgentEvent,
  jsonAnswer,
  type Mapper,
  type Outcome,
  SILENCE,
} from './event.js'
import { effectOf, type EventMap, mapEvent, type ToolTable } from './map-event.js'
import { type Payload } from './payload.js'

const TOOLS: ToolTable = {
  reads: [
    'codesearch',
    'glob',
    'grep',
    'list',
    'lsp',
    'question',
    'read',
    'todoread',
    'todowrite',
    'webfetch',
    'websearch',
  ],
  writes: ['apply_patch', 'edit', 'multiedit', 'patch', 'write'],
  delegates: ['task'],
}

const MAP: EventMap = {
  agent: 'opencode',
  types: {
    'session.created': 'session-start',
    'chat.message': 'turn-start',
    'tool.execute.before': 'before-tool',
    'tool.execute.after': 'after-tool',
    'session.idle': 'turn-end',
    'experimental.session.compacting': 'compaction',
    dispose: 'session-end',
  },
  facts(payload) {
    const own = payload.inner('input')?.needed('sessionID') ?? payload.needed('sessionID')
    const parent = payload.id('parentID')
    return {
      sessionId: parent ?? own,
      turnId: payload.inner('output')?.inner('message')?.id('id'),
      agentId: parent === undefined ? undefined : own,
      cwd: payload.path('directory'),
      transcriptPath: undefined,
    }
  },
  prompt: (payload) => textOfParts(payload.inner('output')),
  tool(payload, eventName) {
    const input = payload.inner('input')
    if (input === undefined) throw payload.malformed('input is missing')
    const name = input.toolName('tool')
    const args =
      eventName === 'tool.execute.before'
        ? payload.inner('output')?.value('args')
        : input.value('args')
    return { name, input: args, callId: input.id('callID'), effect: effectOf(TOOLS, name) }
  },
}

export const opencode: Mapper = {
  runsToolsTogether: true,
  types: MAP.types,
  parse(eventName, payload) {
    const event = mapEvent(MAP, eventName, payload)
    if (event?.agentId === undefined) return event
    // A subagent is a session of its own: its prompt and its end are not the person's turn.
    if (event.type === 'turn-start') return { ...event, type: 'subagent-start' }
    if (event.type === 'turn-end') return { ...event, type: 'subagent-end' }
    return event.type === 'session-start' || event.type === 'session-end' ? undefined : event
  },
  answer,
}

/** Read by our plugin. */
function answer({ type }: AgentEvent, outcome: Outcome): Answer {
  if (outcome.type === 'stop')
    return jsonAnswer(type === 'before-tool' ? { stop: outcome.reason } : { tell: outcome.reason })
  const { tell, context } = outcome
  if (tell === undefined && context === undefined) return SILENCE
  return jsonAnswer({ tell, context })
}

function textOfParts(output: Payload | undefined): string {
  const parts = output?.value('parts')
  if (!Array.isArray(parts)) return ''
  const texts = parts.flatMap((part: unknown) => {
    const { type, text } = fieldsOf(part)
    return type === 'text' && typeof text === 'string' ? [text] : []
  })
  return texts.join('\n')
}
