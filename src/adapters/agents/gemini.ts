// Gemini CLI. Recorded on 0.61.0. It has no ids of turns and calls.
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
    'ask_user',
    'get_internal_docs',
    'glob',
    'google_web_search',
    'grep_search',
    'list_directory',
    'read_file',
    'read_many_files',
    'search_file_content',
    'web_fetch',
    'write_todos',
  ],
  writes: ['replace', 'save_memory', 'write_file'],
}

const MAP: EventMap = {
  agent: 'gemini',
  types: {
    SessionStart: 'session-start',
    BeforeAgent: 'turn-start',
    BeforeTool: 'before-tool',
    AfterTool: 'after-tool',
    AfterAgent: 'turn-end',
    // Comes before every call of the model, whether anything is compacted or not.
    PreCompress: 'compaction',
    SessionEnd: 'session-end',
  },
  facts: usualFacts,
  prompt: usualPrompt,
  tool(payload) {
    const tool = usualTool(payload, TOOLS)
    // A server may give its tools the names of built-in ones.
    return payload.value('mcp_context') === undefined ? tool : { ...tool, effect: 'anything' }
  },
}

export const gemini: Mapper = {
  runsToolsTogether: true,
  types: MAP.types,
  parse: (eventName, payload) => mapEvent(MAP, eventName, payload),
  answer,
}

const TAKES_CONTEXT = ['SessionStart', 'BeforeAgent', 'AfterTool']

function answer({ type, eventName }: AgentEvent, outcome: Outcome): Answer {
  if (outcome.type === 'stop')
    return type === 'before-tool'
      ? jsonAnswer({ decision: 'deny', reason: outcome.reason })
      : jsonAnswer({ systemMessage: outcome.reason })
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
