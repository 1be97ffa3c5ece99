// Claude Code. Recorded on 2.1.325.
import {
  type Answer,
  type AgentEvent,
  jsonAnswer,
  type Mapper,
  type Outcome,
  SILENCE,
} from './event.js'
import {
  type EventMap,
  mapEvent,
  type ToolTable,
  usualFacts,
  usualPrompt,
  usualTool,
} from './map-event.js'

const TOOLS: ToolTable = {
  reads: [
    'AskUserQuestion',
    'BashOutput',
    'EnterPlanMode',
    'ExitPlanMode',
    'Glob',
    'Grep',
    'LS',
    'LSP',
    'ListMcpResourcesTool',
    'NotebookRead',
    'Read',
    'ReadMcpResourceTool',
    'TaskCreate',
    'TaskGet',
    'TaskList',
    'TaskOutput',
    'TaskUpdate',
    'TodoRead',
    'TodoWrite',
    'ToolSearch',
    'WebFetch',
    'WebSearch',
  ],
  writes: ['Edit', 'MultiEdit', 'NotebookEdit', 'Write'],
  delegates: ['Agent', 'Task'],
}

const MAP: EventMap = {
  agent: 'claude',
  types: {
    SessionStart: 'session-start',
    UserPromptSubmit: 'turn-start',
    PreToolUse: 'before-tool',
    PostToolUse: 'after-tool',
    // A shell command that ends with another code than 0 comes here, and may have changed files.
    PostToolUseFailure: 'after-tool',
    SubagentStart: 'subagent-start',
    SubagentStop: 'subagent-end',
    Stop: 'turn-end',
    StopFailure: 'turn-end',
    PreCompact: 'compaction',
    SessionEnd: 'session-end',
  },
  facts: (payload) => ({ ...usualFacts(payload), turnId: payload.id('prompt_id') }),
  prompt: usualPrompt,
  tool: (payload) => usualTool(payload, TOOLS),
}

export const claude: Mapper = {
  runsToolsTogether: false,
  types: MAP.types,
  parse(eventName, payload) {
    const event = mapEvent(MAP, eventName, payload)
    // The end of a command in the background comes in the form of a prompt, and is none of the person's.
    const isNotice = event?.type === 'turn-start' && event.prompt.startsWith('<task-notification>')
    return isNotice ? { ...event, type: 'turn-end' } : event
  },
  answer: claudeAnswer,
}

const TAKES_CONTEXT = ['SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse']

/** Codex reads the same. Never `continue: false`, which lets the tool run, and never `allow`, which asks nobody. */
export function claudeAnswer({ type, eventName }: AgentEvent, outcome: Outcome): Answer {
  if (outcome.type === 'stop') {
    if (type !== 'before-tool') return jsonAnswer({ systemMessage: outcome.reason })
    return jsonAnswer({
      hookSpecificOutput: {
        hookEventName: eventName,
        permissionDecision: 'deny',
        permissionDecisionReason: outcome.reason,
      },
    })
  }
  const { tell, context } = outcome
  const takesContext = context !== undefined && TAKES_CONTEXT.includes(eventName)
  if (tell === undefined && !takesContext) return SILENCE
  return jsonAnswer({
    ...(tell === undefined ? {} : { systemMessage: tell }),
    ...(takesContext
      ? { hookSpecificOutput: { hookEventName: eventName, additionalContext: context } }
      : {}),
  })
}
