// Cline, on paper: its code and its page, no recording of ours. The two name a tool differently; both are read.
import {
  type Answer,
  type AgentEvent,
  jsonAnswer,
  type Mapper,
  type Outcome,
  type Tool,
} from './event.js'
import { effectOf, type EventMap, mapEvent, type ToolTable } from './map-event.js'
import type { Payload } from './payload.js'

const TOOLS: ToolTable = {
  reads: [
    'ask_followup_question',
    'ask_question',
    'attempt_completion',
    'fetch_web_content',
    'list_code_definition_names',
    'list_files',
    'plan_mode_respond',
    'read_file',
    'read_files',
    'search_codebase',
    'search_files',
    'web_fetch',
    'web_search',
  ],
  writes: ['apply_patch', 'editor', 'replace_in_file', 'write_to_file'],
}

const MAP: EventMap = {
  agent: 'cline',
  types: {
    TaskStart: 'session-start',
    TaskResume: 'session-start',
    UserPromptSubmit: 'turn-start',
    PreToolUse: 'before-tool',
    PostToolUse: 'after-tool',
    PreCompact: 'compaction',
    TaskComplete: 'turn-end',
    TaskError: 'turn-end',
    TaskCancel: 'turn-end',
    SessionShutdown: 'session-end',
  },
  facts: (payload) => ({
    sessionId: payload.needed('taskId'),
    turnId: undefined,
    agentId: payload.id('parent_agent_id') === undefined ? undefined : payload.id('agent_id'),
    cwd: payload.firstOf('workspaceRoots'),
    transcriptPath: undefined,
  }),
  prompt: (payload) =>
    payload.inner('userPromptSubmit')?.text('prompt') ?? payload.text('prompt') ?? '',
  tool: clineTool,
}

export const cline: Mapper = {
  runsToolsTogether: false,
  types: MAP.types,
  parse: (eventName, payload) => mapEvent(MAP, eventName, payload),
  answer,
}

function clineTool(payload: Payload, eventName: string): Tool {
  const isBefore = eventName === 'PreToolUse'
  const call = payload.inner(isBefore ? 'tool_call' : 'tool_result')
  if (call !== undefined) {
    const name = call.toolName('name')
    const effect = effectOf(TOOLS, name)
    return { name, input: call.value('input'), callId: call.id('id'), effect }
  }
  const use = payload.inner(isBefore ? 'preToolUse' : 'postToolUse')
  if (use === undefined) throw payload.malformed('it names no tool')
  const name = use.toolName('toolName')
  const effect = effectOf(TOOLS, name)
  return { name, input: use.value('parameters'), callId: undefined, effect }
}

function answer({ type }: AgentEvent, outcome: Outcome): Answer {
  if (outcome.type === 'stop')
    return jsonAnswer({ cancel: type === 'before-tool', errorMessage: outcome.reason })
  const { tell: errorMessage, context } = outcome
  // Under the name that its code has, and under the one of its page.
  return jsonAnswer({ cancel: false, errorMessage, context, contextModification: context })
}
