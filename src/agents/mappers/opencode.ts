// opencode, through the plugin that `savestate install opencode` writes. The plugin sends the `input` and `output` of a
// handler (recorded on 1.18.33), the folder, and the parent session of a subagent's session.
import { fieldsOf } from '../../base/index.js'
import { defineAgent, names } from './map-event.js'
import type { Payload } from './payload.js'

export const opencode = defineAgent({
  agent: 'opencode',
  runsToolsTogether: true,
  types: {
    'session.created': 'session-start',
    'chat.message': 'turn-start',
    'tool.execute.before': 'before-tool',
    'tool.execute.after': 'after-tool',
    'session.idle': 'turn-end',
    'experimental.session.compacting': 'compaction',
    dispose: 'session-end',
  },
  tools: {
    reads: names(
      'codesearch glob grep list lsp question read todoread todowrite webfetch websearch',
    ),
    writes: names('apply_patch edit multiedit patch write'),
    delegates: ['task'],
  },
  fields(payload) {
    const own = payload.inner('input')?.needed('sessionID') ?? payload.needed('sessionID')
    const parent = payload.id('parentID')
    return {
      sessionId: parent ?? own,
      turnId: payload.inner('output')?.inner('message')?.id('id'),
      agentId: parent === undefined ? undefined : own,
      cwd: payload.path('directory'),
      transcriptPath: undefined,
    }
  },
  prompt: (payload) => joinTextParts(payload.inner('output')),
  tool(payload, eventName) {
    const input = payload.inner('input')
    if (input === undefined) throw payload.malformed('input is missing')
    const holder = eventName === 'tool.execute.before' ? payload.inner('output') : input
    return {
      name: input.toolName('tool'),
      input: holder?.value('args'),
      callId: input.id('callID'),
    }
  },
  failed(payload) {
    const { exit } = fieldsOf(fieldsOf(payload.peek('output'))['metadata'])
    return typeof exit === 'number' && exit !== 0
  },
  exitStatus(payload) {
    const { exit } = fieldsOf(fieldsOf(payload.peek('output'))['metadata'])
    return typeof exit === 'number' ? exit : undefined
  },
  adjust(event) {
    if (event.agentId === undefined) return event
    // A subagent has its own session, whose prompt and end are not those of the user's turn.
    if (event.type === 'turn-start') return { ...event, type: 'subagent-start' }
    if (event.type === 'turn-end') return { ...event, type: 'subagent-end' }
    return event.type === 'session-start' || event.type === 'session-end' ? undefined : event
  },
  // The keys that our plugin reads.
  deny: (reason) => ({ stop: reason }),
  endPrompt: (text) => ({ done: text }),
  say: ({ notice, context }) => ({ json: { tell: notice, context } }),
})

function joinTextParts(output: Payload | undefined): string {
  const parts = output?.value('parts')
  if (!Array.isArray(parts)) return ''
  const texts = parts.flatMap((part: unknown) => {
    const { type, text } = fieldsOf(part)
    return type === 'text' && typeof text === 'string' ? [text] : []
  })
  return texts.join('\n')
}
