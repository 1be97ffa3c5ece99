// Cline. Written from its source and documentation, not recorded. The two name a tool differently; both are supported.
import { fieldsOf } from '../../base/index.js'
import { defineAgent, names } from './map-event.js'

export const cline = defineAgent({
  agent: 'cline',
  runsToolsTogether: false,
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
  tools: {
    reads:
      names(`ask_followup_question ask_question attempt_completion fetch_web_content list_code_definition_names
      list_files plan_mode_respond read_file read_files search_codebase search_files web_fetch web_search`),
    writes: names('apply_patch editor replace_in_file write_to_file'),
  },
  fields: (payload) => ({
    sessionId: payload.needed('taskId'),
    turnId: undefined,
    agentId: payload.id('parent_agent_id') === undefined ? undefined : payload.id('agent_id'),
    cwd: payload.firstOf('workspaceRoots'),
    transcriptPath: undefined,
  }),
  prompt: (payload) => payload.inner('userPromptSubmit')?.text('prompt') ?? payload.text('prompt'),
  tool(payload, eventName) {
    const isBefore = eventName === 'PreToolUse'
    const call = payload.inner(isBefore ? 'tool_call' : 'tool_result')
    if (call !== undefined)
      return { name: call.toolName('name'), input: call.value('input'), callId: call.id('id') }
    const use = payload.inner(isBefore ? 'preToolUse' : 'postToolUse')
    if (use === undefined) throw payload.malformed('it names no tool')
    return { name: use.toolName('toolName'), input: use.value('parameters'), callId: undefined }
  },
  failed(payload) {
    const { output } = fieldsOf(payload.peek('tool_result'))
    const outputs: readonly unknown[] = Array.isArray(output) ? output : [output]
    return [payload.peek('postToolUse'), ...outputs].some(
      (one) => fieldsOf(one)['success'] === false,
    )
  },
  deny: (reason) => ({ cancel: true, errorMessage: reason }),
  // The name of the context in its source, and the one in its documentation.
  say: ({ notice: errorMessage, context }) => ({
    json: { cancel: false, errorMessage, context, contextModification: context },
  }),
})
