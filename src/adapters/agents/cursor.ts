// Cursor, on paper: its page and other people's programs, no recording of ours.
import {
  type Answer,
  type AgentEvent,
  jsonAnswer,
  type Mapper,
  type Outcome,
  SILENCE,
  type Tool,
} from './event.js'
import { effectOf, type EventMap, mapEvent, type ToolTable, usualPrompt } from './map-event.js'
import type { Payload } from './payload.js'

const TOOLS: ToolTable = {
  reads: [
    'Glob',
    'Grep',
    'LS',
    'Read',
    'ReadLints',
    'SemanticSearch',
    'TodoWrite',
    'WebFetch',
    'WebSearch',
  ],
  writes: ['Delete', 'Edit', 'EditNotebook', 'MultiEdit', 'StrReplace', 'Write'],
}

const MAP: EventMap = {
  agent: 'cursor',
  types: {
    sessionStart: 'session-start',
    beforeSubmitPrompt: 'turn-start',
    preToolUse: 'before-tool',
    beforeShellExecution: 'before-tool',
    beforeMCPExecution: 'before-tool',
    postToolUse: 'after-tool',
    postToolUseFailure: 'after-tool',
    afterShellExecution: 'after-tool',
    afterMCPExecution: 'after-tool',
    afterFileEdit: 'after-tool',
    subagentStart: 'subagent-start',
    subagentStop: 'subagent-end',
    stop: 'turn-end',
    preCompact: 'compaction',
    sessionEnd: 'session-end',
  },
  facts(payload) {
    const conversation = payload.id('conversation_id')
    return {
      sessionId: conversation ?? payload.needed('session_id'),
      turnId: payload.id('generation_id'),
      agentId: payload.id('subagent_id'),
      cwd: payload.firstOf('workspace_roots') ?? payload.path('cwd'),
      transcriptPath: payload.path('transcript_path'),
    }
  },
  prompt: usualPrompt,
  tool: cursorTool,
}

export const cursor: Mapper = {
  runsToolsTogether: true,
  types: MAP.types,
  parse: (eventName, payload) => mapEvent(MAP, eventName, payload),
  answer,
}

/** The older events are of one tool each and do not name it. */
function cursorTool(payload: Payload, eventName: string): Tool {
  const callId = payload.id('tool_use_id')
  if (eventName.endsWith('ShellExecution')) {
    const command = payload.text('command')
    return { name: 'Shell', input: { command }, callId, effect: 'anything' }
  }
  if (eventName === 'afterFileEdit') {
    const file_path = payload.path('file_path')
    return { name: 'Edit', input: { file_path }, callId, effect: 'writes' }
  }
  const name = payload.toolName('tool_name')
  const effect = eventName.endsWith('MCPExecution') ? 'anything' : effectOf(TOOLS, name)
  return { name, input: payload.value('tool_input'), callId, effect }
}

/** Never `allow`: it would take the question away from the person. */
function answer({ type }: AgentEvent, outcome: Outcome): Answer {
  if (outcome.type === 'stop') {
    if (type !== 'before-tool') return jsonAnswer({ user_message: outcome.reason })
    const { reason } = outcome
    return jsonAnswer({ permission: 'deny', user_message: reason, agent_message: reason })
  }
  const { tell, context } = outcome
  if (tell === undefined && context === undefined) return SILENCE
  return jsonAnswer({ user_message: tell, additional_context: context })
}
