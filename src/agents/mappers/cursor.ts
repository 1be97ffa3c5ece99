// Cursor. Written from its documentation and from other programs' hooks, not recorded.
import { defineAgent, names, usualTool } from './map-event.js'

export const cursor = defineAgent({
  agent: 'cursor',
  runsToolsTogether: true,
  types: {
    sessionStart: 'session-start',
    beforeSubmitPrompt: 'turn-start',
    preToolUse: 'before-tool',
    beforeShellExecution: 'before-tool',
    beforeMCPExecution: 'before-tool',
    postToolUse: 'after-tool',
    postToolUseFailure: 'after-tool',
    afterShellExecution: 'after-tool',
    afterMCPExecution: 'after-tool',
    afterFileEdit: 'after-tool',
    subagentStart: 'subagent-start',
    subagentStop: 'subagent-end',
    stop: 'turn-end',
    preCompact: 'compaction',
    sessionEnd: 'session-end',
  },
  tools: {
    reads: names('Glob Grep LS Read ReadLints SemanticSearch TodoWrite WebFetch WebSearch'),
    writes: names('Delete Edit EditNotebook MultiEdit StrReplace Write'),
  },
  fields: (payload) => ({
    sessionId: payload.id('conversation_id') ?? payload.needed('session_id'),
    turnId: payload.id('generation_id'),
    agentId: payload.id('subagent_id'),
    cwd: payload.firstOf('workspace_roots') ?? payload.path('cwd'),
    transcriptPath: payload.path('transcript_path'),
  }),
  /** The older events belong to one tool each and do not name it. */
  tool(payload, eventName) {
    const callId = payload.id('tool_use_id')
    if (eventName.endsWith('ShellExecution'))
      return { name: 'Shell', input: { command: payload.text('command') }, callId }
    if (eventName === 'afterFileEdit')
      return { name: 'Edit', input: { file_path: payload.path('file_path') }, callId }
    const isServer = eventName.endsWith('MCPExecution')
    return { ...usualTool(payload), ...(isServer ? { effect: 'anything' as const } : {}) }
  },
  failed: (_, eventName) => eventName === 'postToolUseFailure',
  // Never `allow`: Cursor would not ask the user.
  deny: (reason) => ({ permission: 'deny', user_message: reason, agent_message: reason }),
  say: ({ notice, context }) => ({ json: { user_message: notice, additional_context: context } }),
})
