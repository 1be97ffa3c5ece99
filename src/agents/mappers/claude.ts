// Claude Code. Recorded on 2.1.325.
import { type Fields, fieldsOf } from '../../base/index.js'
import type { AgentEvent } from './event.js'
import {
  blockPrompt,
  defineAgent,
  names,
  numberIn,
  sayLikeClaude,
  usualFields,
} from './map-event.js'

export const claude = defineAgent({
  agent: 'claude',
  runsToolsTogether: false,
  types: {
    SessionStart: 'session-start',
    UserPromptSubmit: 'turn-start',
    PreToolUse: 'before-tool',
    PostToolUse: 'after-tool',
    // Sent for a shell command that exits with a code other than 0. It may have changed files.
    PostToolUseFailure: 'after-tool',
    SubagentStart: 'subagent-start',
    SubagentStop: 'subagent-end',
    Stop: 'turn-end',
    StopFailure: 'turn-end',
    PreCompact: 'compaction',
    SessionEnd: 'session-end',
  },
  tools: {
    reads:
      names(`AskUserQuestion BashOutput EnterPlanMode ExitPlanMode Glob Grep LS LSP ListMcpResourcesTool NotebookRead
      Read ReadMcpResourceTool TaskCreate TaskGet TaskList TaskOutput TaskUpdate TodoRead TodoWrite ToolSearch WebFetch
      WebSearch`),
    writes: names('Edit MultiEdit NotebookEdit Write'),
    delegates: names('Agent Task'),
  },
  fields: (payload) => ({ ...usualFields(payload), turnId: payload.id('prompt_id') }),
  failed: (_, eventName) => eventName === 'PostToolUseFailure',
  exitStatus(payload, eventName) {
    if (payload.peek('tool_name') !== 'Bash' || payload.peek('is_interrupt') === true)
      return undefined
    if (eventName === 'PostToolUseFailure')
      return numberIn(payload.peek('error'), /^Exit code (\d+)(?:\n|$)/)
    const { interrupted, backgroundTaskId } = fieldsOf(payload.peek('tool_response'))
    const { run_in_background: isBackground } = fieldsOf(payload.peek('tool_input'))
    const isEnded = backgroundTaskId === undefined && isBackground !== true
    return interrupted === false && isEnded ? 0 : undefined
  },
  adjust(event) {
    // The end of a background command arrives as a prompt that the user did not write.
    const isNotice = event.type === 'turn-start' && event.prompt.startsWith('<task-notification>')
    return isNotice ? { ...event, type: 'turn-end' } : event
  },
  // Absent in older versions. `sdk`: the prompt of `-p`, of an editor or of another program.
  isMachine: (payload) => ![undefined, 'user', 'sdk'].some((who) => who === payload.peek('source')),
  deny: denyLikeClaude,
  endPrompt: blockPrompt,
  say: sayLikeClaude(['SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse']),
})

/** Also for Codex. Never `continue: false`, which lets the tool run, and never `allow`, which skips the user's consent. */
export function denyLikeClaude(reason: string, { eventName }: AgentEvent): Fields {
  const decision = { permissionDecision: 'deny', permissionDecisionReason: reason }
  return { hookSpecificOutput: { hookEventName: eventName, ...decision } }
}
