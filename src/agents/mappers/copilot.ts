// GitHub Copilot CLI. Written from its documentation, not recorded. Not every version sends a session id.
import { basename } from 'node:path'
import { fieldsOf, isRecord, tryParseJson } from '../../base/index.js'
import { defineAgent, names, numberIn } from './map-event.js'
import type { Payload } from './payload.js'

export const copilot = defineAgent({
  agent: 'copilot',
  runsToolsTogether: true,
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
  tools: {
    reads:
      names(`ask_user fetch_copilot_cli_documentation glob grep report_intent rg show_file update_todo view web_fetch
      web_search`),
    writes: names('apply_patch create edit str_replace_editor'),
  },
  fields(payload) {
    const cwd = payload.path('cwd')
    return {
      sessionId: payload.id('sessionId') ?? sessionIdForFolder(payload, cwd),
      turnId: undefined,
      agentId: payload.id('agentId'),
      cwd,
      transcriptPath: payload.path('transcriptPath'),
    }
  },
  tool: (payload) => ({
    name: payload.toolName('toolName'),
    input: parseArguments(payload.value('toolArgs')),
    callId: payload.id('toolCallId'),
  }),
  failed(payload, eventName) {
    const { resultType, textResultForLlm: text } = fieldsOf(payload.peek('toolResult'))
    const isFailure = eventName === 'postToolUseFailure' || resultType === 'failure'
    return isFailure || (typeof text === 'string' && FAILED_COMMAND.test(text))
  },
  exitStatus: (payload) =>
    numberIn(fieldsOf(payload.peek('toolResult'))['textResultForLlm'], ENDED_COMMAND),
  deny: (reason) => ({ permissionDecision: 'deny', permissionDecisionReason: reason }),
  // It has no field for a message to the user, but logs what a hook writes to stderr.
  say: ({ notice, context }) => ({
    json: { additionalContext: context },
    ...(notice === undefined ? {} : { stderr: notice }),
  }),
})

const ENDED_COMMAND = /<shellId: \d+ completed with exit code (\d+)>\s*$/
/** The end of a command's result. The command can fail although the call succeeded. */
const FAILED_COMMAND = /<shellId: \d+ completed with exit code [1-9]\d*>\s*$/

/** Without a session id, each folder is one session. */
function sessionIdForFolder(payload: Payload, cwd: string | undefined): string {
  if (cwd === undefined) throw payload.malformed('it has neither sessionId nor cwd')
  return `copilot-${basename(cwd).slice(0, 100)}`
}

/** Arguments arrive as a JSON string. If it does not parse, keep the string. */
function parseArguments(given: unknown): unknown {
  if (typeof given !== 'string') return given
  const parsed = tryParseJson(given)
  return isRecord(parsed) ? parsed : given
}
