// Hermes. Written from its documentation, not recorded.
import { defineAgent, names, usualFields, usualTool } from './map-event.js'

export const hermes = defineAgent({
  agent: 'hermes',
  runsToolsTogether: false,
  types: {
    on_session_start: 'session-start',
    pre_llm_call: 'turn-start',
    pre_tool_call: 'before-tool',
    post_tool_call: 'after-tool',
    subagent_stop: 'subagent-end',
    post_llm_call: 'turn-end',
    on_session_end: 'turn-end',
    on_session_finalize: 'session-end',
  },
  tools: {
    reads: names(
      'clarify read_file search_files session_search todo vision_analyze web_extract web_search',
    ),
    writes: names('patch write_file'),
  },
  fields(payload) {
    const extra = payload.inner('extra')
    return { ...usualFields(payload), turnId: payload.id('turn_id') ?? extra?.id('turn_id') }
  },
  prompt: (payload) => payload.text('prompt') ?? payload.inner('extra')?.text('user_message'),
  tool(payload) {
    const tool = usualTool(payload)
    return { ...tool, callId: tool.callId ?? payload.inner('extra')?.id('tool_call_id') }
  },
  deny: (reason) => ({ decision: 'block', reason }),
  say: ({ notice, context }, { type }) => ({
    json: type === 'turn-start' ? { context } : {},
    ...(notice === undefined ? {} : { stderr: notice }),
  }),
})
