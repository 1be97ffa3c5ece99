// Gemini CLI. Recorded on 0.61.0. It has no ids for turns and calls.
import { fieldsOf } from '../../base/index.js'
import { defineAgent, names, numberIn, sayLikeClaude, usualTool } from './map-event.js'

export const gemini = defineAgent({
  agent: 'gemini',
  runsToolsTogether: true,
  types: {
    SessionStart: 'session-start',
    BeforeAgent: 'turn-start',
    BeforeTool: 'before-tool',
    AfterTool: 'after-tool',
    AfterAgent: 'turn-end',
    // Sent before every model request, even if nothing is compacted.
    PreCompress: 'compaction',
    SessionEnd: 'session-end',
  },
  tools: {
    reads:
      names(`ask_user get_internal_docs glob google_web_search grep_search list_directory read_file read_many_files
      search_file_content web_fetch write_todos`),
    writes: names('replace save_memory write_file'),
  },
  tool(payload) {
    // An MCP server may give its tools the names of built-in ones.
    const isServer = payload.value('mcp_context') !== undefined
    return { ...usualTool(payload), ...(isServer ? { effect: 'anything' as const } : {}) }
  },
  failed(payload) {
    const { error, llmContent } = fieldsOf(payload.peek('tool_response'))
    if (error !== undefined && error !== null) return true
    // A shell command that fails is no error; its result has this line after the output.
    return (
      payload.peek('tool_name') === 'run_shell_command' &&
      typeof llmContent === 'string' &&
      /\nExit Code: [1-9]\d*\n/.test(`${llmContent}\n`)
    )
  },
  exitStatus(payload) {
    if (payload.peek('tool_name') !== 'run_shell_command') return undefined
    const { llmContent } = fieldsOf(payload.peek('tool_response'))
    const { is_background: isBackground } = fieldsOf(payload.peek('tool_input'))
    // A command that was cancelled, or whose shell was killed by a signal, has no exit status.
    const isEnded = /^(?:<untrusted_context>\n)?Output: /.test(String(llmContent))
    if (!isEnded || isBackground === true || /\nSignal: /.test(String(llmContent))) return undefined
    // The line is left out for 0.
    return numberIn(`${String(llmContent)}\n`, /\nExit Code: (\d+)\n/) ?? 0
  },
  deny: (reason) => ({ decision: 'deny', reason }),
  endPrompt: (reason) => ({ decision: 'deny', reason }),
  say: sayLikeClaude(['SessionStart', 'BeforeAgent', 'AfterTool']),
})
