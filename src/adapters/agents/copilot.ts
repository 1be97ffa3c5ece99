// GitHub Copilot CLI, on paper: its page, no recording of ours. Not every version sends an id of the session.
import { basename } from 'node:path'
import { isRecord, tryParseJson } from '../../base/index.js'
import {
  type Answer,
  type AgentEvent,
  jsonAnswer,
  type Mapper,
  type Outcome,
  SILENCE,
} from './event.js'
import { effectOf, type EventMap, mapEvent, type ToolTable, usualPrompt } from './map-event.js'
import { type Payload } from './payload.js'

const TOOLS: ToolTable = {
  reads: [
    'ask_user',
    'fetch_copilot_cli_documentation',
    'glob',
    'grep',
    'report_intent',
    'rg',
    'show_file',
    'update_todo',
    'view',
    'web_fetch',
    'web_search',
  ],
  writes: ['apply_patch', 'create', 'edit', 'str_replace_editor'],
}

const MAP: EventMap = {
  agent: 'copilot',
  types: {
    sessionStart: 'session-start',
    userPromptSubmitted: 'turn-start',
    preToolUse: 'before-tool',
    postToolUse: 'after-tool',
    postToolUseFailure: 'after-tool',
    subagentStart: 'subagent-start',
    subagentStop: 'subagent-end',
    agentStop: 'turn-end',
    errorOccurred: 'turn-end',
    preCompact: 'compaction',
    sessionEnd: 'session-end',
  },
  facts(payload) {
    const cwd = payload.path('cwd')
    return {
      sessionId: payload.id('sessionId') ?? idOfFolder(payload, cwd),
      turnId: undefined,
      agentId: payload.id('agentId'),
      cwd,
      transcriptPath: payload.path('transcriptPath'),
    }
  },
  prompt: usualPrompt,
  tool(payload) {
    const name = payload.toolName('toolName')
    const input = parsedArguments(payload.value('toolArgs'))
    return { name, input, callId: payload.id('toolCallId'), effect: effectOf(TOOLS, name) }
  },
}

export const copilot: Mapper = {
  runsToolsTogether: true,
  types: MAP.types,
  parse: (eventName, payload) => mapEvent(MAP, eventName, payload),
  answer,
}

/** One session for each folder: better than none. */
function idOfFolder(payload: Payload, cwd: string | undefined): string {
  if (cwd === undefined) throw payload.malformed('it has neither sessionId nor cwd')
  return `copilot-${basename(cwd).slice(0, 100)}`
}

/** The arguments come as JSON in a text. What is none stays the text it is. */
function parsedArguments(given: unknown): unknown {
  if (typeof given !== 'string') return given
  const parsed = tryParseJson(given)
  return isRecord(parsed) ? parsed : given
}

function answer({ type }: AgentEvent, outcome: Outcome): Answer {
  if (outcome.type === 'stop') {
    const { reason } = outcome
    if (type !== 'before-tool') return { ...SILENCE, stderr: `${reason}\n` }
    return jsonAnswer({ permissionDecision: 'deny', permissionDecisionReason: reason })
  }
  const { tell, context } = outcome
  // It has no message for the person, but shows what a hook writes to stderr in its log.
  const stderr = tell === undefined ? '' : `${tell}\n`
  return context === undefined
    ? { ...SILENCE, stderr }
    : { ...jsonAnswer({ additionalContext: context }), stderr }
}
