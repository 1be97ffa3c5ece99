// Hermes, on paper: its page, no recording of ours.
import {
  type Answer,
  type AgentEvent,
  jsonAnswer,
  type Mapper,
  type Outcome,
  SILENCE,
} from './event.js'
import { type EventMap, mapEvent, type ToolTable, usualFacts, usualTool } from './map-event.js'

const TOOLS: ToolTable = {
  reads: [
    'clarify',
    'read_file',
    'search_files',
    'session_search',
    'todo',
    'vision_analyze',
    'web_extract',
    'web_search',
  ],
  writes: ['patch', 'write_file'],
}

const MAP: EventMap = {
  agent: 'hermes',
  types: {
    on_session_start: 'session-start',
    pre_llm_call: 'turn-start',
    pre_tool_call: 'before-tool',
    post_tool_call: 'after-tool',
    subagent_stop: 'subagent-end',
    post_llm_call: 'turn-end',
    on_session_end: 'turn-end',
    on_session_finalize: 'session-end',
  },
  facts(payload) {
    const extra = payload.inner('extra')
    return { ...usualFacts(payload), turnId: payload.id('turn_id') ?? extra?.id('turn_id') }
  },
  prompt: (payload) => payload.text('prompt') ?? payload.inner('extra')?.text('user_message') ?? '',
  tool(payload) {
    const tool = usualTool(payload, TOOLS)
    return { ...tool, callId: tool.callId ?? payload.inner('extra')?.id('tool_call_id') }
  },
}

export const hermes: Mapper = {
  runsToolsTogether: false,
  types: MAP.types,
  parse: (eventName, payload) => mapEvent(MAP, eventName, payload),
  answer,
}

function answer({ type }: AgentEvent, outcome: Outcome): Answer {
  if (outcome.type === 'stop') {
    const { reason } = outcome
    if (type !== 'before-tool') return { ...SILENCE, stderr: `${reason}\n` }
    return jsonAnswer({ decision: 'block', reason })
  }
  const { tell, context } = outcome
  const stderr = tell === undefined ? '' : `${tell}\n`
  return context === undefined || type !== 'turn-start'
    ? { ...SILENCE, stderr }
    : { ...jsonAnswer({ context }), stderr }
}
