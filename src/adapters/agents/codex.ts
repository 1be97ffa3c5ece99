// Codex. Recorded on 0.166.0. Typing into a running shell fires no hook, and a command that still runs when its
// call returns never gets its "after": what those change is found by the next checkpoint.
import { claudeAnswer } from './claude.js'
import type { Mapper } from './event.js'
import {
  type EventMap,
  mapEvent,
  type ToolTable,
  usualFacts,
  usualPrompt,
  usualTool,
} from './map-event.js'

/** For the agents of a team. They change no file; what an agent that is told something does, its own hooks tell. */
const TEAM_TOOLS = [
  'close_agent',
  'followup_task',
  'interrupt_agent',
  'list_agents',
  'send_input',
  'send_message',
  'wait_agent',
]

const TOOLS: ToolTable = {
  reads: [
    'get_goal',
    'list_mcp_resource_templates',
    'list_mcp_resources',
    'read_mcp_resource',
    'request_user_input',
    'tool_search',
    'update_goal',
    'update_plan',
    'view_image',
    'web_search',
    ...TEAM_TOOLS,
    // The group of a tool stands before its name without a sign between.
    ...TEAM_TOOLS.map((name) => `collaboration${name}`),
  ],
  writes: ['apply_patch'],
  delegates: ['spawn_agent', 'collaborationspawn_agent'],
}

const MAP: EventMap = {
  agent: 'codex',
  types: {
    SessionStart: 'session-start',
    UserPromptSubmit: 'turn-start',
    PreToolUse: 'before-tool',
    PostToolUse: 'after-tool',
    SubagentStart: 'subagent-start',
    SubagentStop: 'subagent-end',
    Stop: 'turn-end',
    PreCompact: 'compaction',
    SessionEnd: 'session-end',
  },
  facts: usualFacts,
  prompt: usualPrompt,
  tool: (payload) => usualTool(payload, TOOLS),
}

export const codex: Mapper = {
  runsToolsTogether: true,
  types: MAP.types,
  parse: (eventName, payload) => mapEvent(MAP, eventName, payload),
  answer: claudeAnswer,
}
