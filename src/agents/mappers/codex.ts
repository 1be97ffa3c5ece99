// Codex. Recorded on 0.166.0. Input to a running shell fires no hook, and a command that outlives its call gets no end event.
// The next checkpoint includes their changes.
import { denyLikeClaude } from './claude.js'
import { blockPrompt, defineAgent, names, numberIn, sayLikeClaude } from './map-event.js'

/** Tools for teams of agents. They change no files: an agent that gets a message reports its own calls. */
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
      // Codex puts the group of a tool before its name, without a separator.
      ...TEAM_TOOLS.map((name) => `collaboration${name}`),
    ],
    writes: ['apply_patch'],
    delegates: names('spawn_agent collaborationspawn_agent'),
  },
  // The response to a shell command is its output alone, without the exit code.
  failed: (payload) =>
    /^Exit code: [1-9]\d*\nWall time: /.test(String(payload.peek('tool_response'))),
  exitStatus: (payload) =>
    payload.peek('tool_name') === 'Bash'
      ? numberIn(payload.peek('tool_response'), /^Exit code: (\d+)\nWall time: /)
      : undefined,
  deny: denyLikeClaude,
  endPrompt: blockPrompt,
  say: sayLikeClaude(['SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse']),
})
