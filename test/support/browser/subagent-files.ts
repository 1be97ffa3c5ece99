// Sessions with subagents as Claude Code 2.1.325 and Codex 0.166.0 have written them, without the fields that nothing reads.
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

export const SECRET = 'sk-ant-api03-q9Xw3Zr7Kd5Lm1Np8Vt2Bs6Yc4Hf0Jg-AbCdEfGh'

type Line = Readonly<Record<string, unknown>>

export const CLAUDE = {
  session: '5773f958-9c4f-4f58-8b1b-889cf0cd1c59',
  call: 'toolu_ede41a24f2784890bf56aab3dbb64e66',
  agent: 'a4dec050b5ef910d4',
  /** The subagent starts one itself. The result of that call does not name it. */
  innerCall: 'toolu_1aa0c656385c446d8f8dec4fb359f77c',
  innerAgent: 'aeee5333249222ad6',
} as const

export type ClaudeFiles = {
  readonly transcript: string
  /** The lines of the session up to the call, and the line of its result. */
  readonly lines: readonly string[]
  readonly result: string
  readonly subagent: string
}

/** In `projects/<project>`, as below `~/.claude`. The transcript has no result yet. */
export function writeClaudeFiles(folder: string): ClaudeFiles {
  const { session, call, agent, innerCall, innerAgent } = CLAUDE
  const main = claudeLines({ isSidechain: false })
  const lines = [
    main('user', { role: 'user', content: 'Let a subagent write the greeting' }),
    main('assistant', toolUse(call, 'Agent', task('Write s.txt'))),
  ]
  const report = [{ type: 'text', text: '[Subagent hand-back] From inside.' }]
  const toolUseResult = { status: 'completed', agentId: agent, agentType: 'general-purpose' }
  const result = main('user', toolResult(call, report), { toolUseResult })
  const outer = claudeLines({ isSidechain: true, agentId: agent })
  const write = 'toolu_a44f264c001e4726b20ab084878f100f'
  const subagent = [
    outer('user', { role: 'user', content: 'Write s.txt' }),
    outer('attachment', undefined, { attachment: { type: 'date', date: '2026-11-19' } }),
    json({ type: 'api-request', sessionId: session, agentId: agent, params: {} }),
    outer('assistant', toolUse(write, 'Write', { file_path: 's.txt', content: 'mine\n' })),
    outer('user', toolResult(write, `File created at s.txt, the key is ${SECRET}`)),
    outer('assistant', toolUse(innerCall, 'Agent', task('Go deeper'))),
    outer('user', toolResult(innerCall, [{ type: 'text', text: 'Deep.' }])),
    outer('assistant', said('From inside.')),
  ]
  const inner = claudeLines({ isSidechain: true, agentId: innerAgent })
  const transcript = join(folder, `${session}.jsonl`)
  const fileOf = (id: string) => join(folder, session, 'subagents', `agent-${id}.jsonl`)
  writeLines(transcript, lines)
  writeLines(fileOf(agent), subagent)
  writeLines(fileOf(innerAgent), [
    inner('user', { role: 'user', content: 'Go deeper' }),
    inner('assistant', said('Deep.')),
  ])
  const meta = { agentType: 'general-purpose', isBuiltIn: true, description: 'a step' }
  for (const [id, toolUseId, spawnDepth] of [
    [agent, call, 1],
    [innerAgent, innerCall, 2],
  ] as const)
    writeFileSync(
      fileOf(id).replace('.jsonl', '.meta.json'),
      json({ ...meta, toolUseId, spawnDepth }),
    )
  return { transcript, lines, result, subagent: fileOf(agent) }
}

export const CODEX = {
  session: '01a1f17b-db01-7370-925f-a063fffdf28d',
  call: 'call_f21e3608-8bf9-419a-8799-58b388b679b4',
  thread: '01a1f17b-dbed-74e2-9ee0-8acb1b7f0090',
} as const

export type CodexFiles = {
  readonly transcript: string
  readonly lines: readonly string[]
  readonly subagent: string
}

/** In `sessions/YYYY/MM/DD`, as below `~/.codex`. */
export function writeCodexFiles(sessions: string): CodexFiles {
  const { session, call, thread } = CODEX
  const folder = join(sessions, '2026/11/19')
  const asked = message('user', 'Let a subagent clean up')
  const input = { message: 'gAAAAABencrypted', task_name: 'subtask' }
  const spawned = {
    type: 'function_call',
    name: 'spawn_agent',
    namespace: 'collaboration',
    arguments: json(input),
    call_id: call,
  }
  const activity = { type: 'SubAgentActivity', id: call, agent_path: '/root/subtask' }
  const started = { ...activity, kind: 'started', agent_thread_id: thread }
  const ended = { ...activity, id: `subagent-completed-${thread}`, kind: 'completed' }
  const output = {
    type: 'function_call_output',
    call_id: call,
    output: '{"task_name":"/root/subtask"}',
  }
  const meta = { session_id: session, cli_version: '0.166.0', history_mode: 'paginated' }
  const own = { ...meta, id: session, source: 'exec', thread_source: 'user' }
  const lines = codexLines([
    ['session_meta', own],
    ['response_item', asked],
    ['response_item', spawned],
    ['event_msg', { type: 'item_completed', thread_id: session, item: started }],
    ['response_item', output],
    ['event_msg', { type: 'item_completed', thread_id: session, item: ended }],
  ])
  const spawn = { parent_thread_id: session, depth: 1, agent_path: '/root/subtask' }
  const child = {
    ...meta,
    id: thread,
    forked_from_id: session,
    parent_thread_id: session,
    source: { subagent: { thread_spawn: spawn } },
    thread_source: 'subagent',
    subagent_history_start_ordinal: 6,
  }
  const task = { type: 'input_text', text: 'Message Type: NEW_TASK\nTask name: /root/subtask\n' }
  const secret = { type: 'encrypted_content', encrypted_content: 'gAAAAABencrypted' }
  const shell = { type: 'custom_tool_call', call_id: 'call_237d', name: 'exec', input: 'text(1)' }
  const done = 'Script completed\nWall time 0.1 seconds\nOutput:\n'
  const subagent = codexLines([
    ['session_meta', child],
    ['session_meta', own],
    ['response_item', asked],
    ['response_item', spawned],
    ['event_msg', { type: 'turn_aborted', reason: 'interrupted' }],
    ['response_item', message('developer', 'You are now a newly spawned child agent.')],
    ['event_msg', { type: 'task_started', turn_id: 't' }],
    ['response_item', { type: 'agent_message', author: '/root', content: [task, secret] }],
    ['response_item', shell],
    [
      'response_item',
      {
        type: 'custom_tool_call_output',
        call_id: 'call_237d',
        output: [{ type: 'input_text', text: done }],
      },
    ],
    ['response_item', message('assistant', 'Cleaned up.')],
  ])
  const fileOf = (id: string) => join(folder, `rollout-2026-11-19T01-46-28-${id}.jsonl`)
  writeLines(fileOf(session), lines)
  writeLines(fileOf(thread), subagent)
  return { transcript: fileOf(session), lines, subagent: fileOf(thread) }
}

function claudeLines(marks: Line) {
  let second = 0
  return (type: string, given: Line | undefined, more: Line = {}): string => {
    second += 1
    const timestamp = new Date(Date.UTC(2026, 10, 19, 1, 46, second)).toISOString()
    const fields = { ...marks, type, ...(given === undefined ? {} : { message: given }) }
    return json({ ...fields, sessionId: CLAUDE.session, version: '2.1.325', timestamp, ...more })
  }
}

function codexLines(payloads: readonly (readonly [string, Line])[]): readonly string[] {
  return payloads.map(([type, payload], ordinal) =>
    json({ timestamp: '2026-11-19T01:46:28.536Z', ordinal, type, payload }),
  )
}

function message(role: string, text: string): Line {
  const type = role === 'assistant' ? 'output_text' : 'input_text'
  return { type: 'message', role, content: [{ type, text }] }
}

function task(prompt: string): Line {
  return { description: 'a step', prompt, subagent_type: 'general-purpose' }
}

function toolUse(id: string, name: string, input: Line): Line {
  return { role: 'assistant', content: [{ type: 'tool_use', id, name, input }] }
}

function toolResult(id: string, content: unknown): Line {
  return { role: 'user', content: [{ tool_use_id: id, type: 'tool_result', content }] }
}

function said(text: string): Line {
  return { role: 'assistant', content: [{ type: 'text', text }] }
}

function json(value: unknown): string {
  return JSON.stringify(value)
}

function writeLines(path: string, lines: readonly string[]): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, lines.map((line) => `${line}\n`).join(''))
}
