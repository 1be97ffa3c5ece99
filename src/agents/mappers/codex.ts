// Codex. Recorded on 0.166.0. Typing into a running shell fires no hook, and a command that still runs when its call
// returns never gets its "after": the next checkpoint finds what those change.
import { denyLikeClaude } from './claude.js'
import { defineAgent, names, sayLikeClaude } from './map-event.js'

/** For the agents of a team. They change no file; the hooks of an agent that gets a message report what it does. */
const TEAM_TOOLS = names(
  'close_agent followup_task interrupt_agent list_agents send_input send_message wait_agent',
)

export const codex = defineAgent({
  agent: 'codex',
  runsToolsTogether: true,
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
  tools: {
    reads: [
      ...names(`get_goal list_mcp_resource_templates list_mcp_resources read_mcp_resource request_user_input tool_search
        update_goal update_plan view_image web_search`),
      ...TEAM_TOOLS,
      // The group of a tool comes before its name, without a separator.
      ...TEAM_TOOLS.map((name) => `collaboration${name}`),
    ],
    writes: ['apply_patch'],
    delegates: names('spawn_agent collaborationspawn_agent'),
  },
  deny: denyLikeClaude,
  say: sayLikeClaude(['SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse']),
})
