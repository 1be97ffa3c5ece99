// The payloads have the shapes that the real programs sent or document.
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { AGENT_NAMES, type AgentName } from '../../src/base/index.js'
import { SavestateError } from '../../src/index.js'
import { type AgentEvent, type Outcome } from '../../src/agents/mappers/event.js'
import { MAPPERS } from '../../src/agents/mappers/mappers.js'

const claudeCommon = {
  session_id: 's-1',
  transcript_path: '/home/user/.claude/projects/-home-user-project/s-1.jsonl',
  cwd: '/home/user/project',
  prompt_id: 'p-1',
  permission_mode: 'default',
}
const codexCommon = {
  session_id: 's-2',
  turn_id: 't-2',
  transcript_path: '/home/user/.codex/sessions/rollout-s-2.jsonl',
  cwd: '/home/user/project',
  model: 'a-model',
}
const geminiCommon = {
  session_id: 's-3',
  transcript_path: '/home/user/.gemini/tmp/project/chats/session-s-3.jsonl',
  cwd: '/home/user/project',
  timestamp: '2026-11-15T19:24:06.633Z',
}
const cursorCommon = { conversation_id: 's-5', generation_id: 'g-5', workspace_roots: ['/w'] }
const clineCommon = { clineVersion: '4.0.0', taskId: 's-6', workspaceRoots: ['/w'], userId: 'u' }

type Case = readonly [
  agent: AgentName,
  eventName: string,
  payload: Record<string, unknown>,
  expected: Partial<AgentEvent> | undefined,
]

const CASES: readonly Case[] = [
  [
    'claude',
    'SessionStart',
    { ...claudeCommon, source: 'resume' },
    {
      type: 'session-start',
      source: 'resume',
      sessionId: 's-1',
      turnId: 'p-1',
      cwd: '/home/user/project',
    },
  ],
  [
    'claude',
    'UserPromptSubmit',
    { ...claudeCommon, prompt: 'Do it' },
    { type: 'turn-start', prompt: 'Do it' },
  ],
  [
    'claude',
    'UserPromptSubmit',
    { ...claudeCommon, prompt: '<task-notification>\n<task-id>b</task-id>' },
    { type: 'turn-end' },
  ],
  [
    'claude',
    'PreToolUse',
    { ...claudeCommon, tool_name: 'Bash', tool_input: { command: 'ls' }, tool_use_id: 'c-1' },
    {
      type: 'before-tool',
      tool: { name: 'Bash', input: { command: 'ls' }, callId: 'c-1', effect: 'anything' },
      agentId: undefined,
    },
  ],
  [
    'claude',
    'PreToolUse',
    {
      ...claudeCommon,
      agent_id: 'a-1',
      agent_type: 'general-purpose',
      tool_name: 'Write',
      tool_input: { file_path: '/home/user/project/a.txt', content: 'x' },
      tool_use_id: 'c-2',
    },
    {
      type: 'before-tool',
      agentId: 'a-1',
      tool: {
        name: 'Write',
        input: { file_path: '/home/user/project/a.txt', content: 'x' },
        callId: 'c-2',
        effect: 'writes',
      },
    },
  ],
  [
    'claude',
    'PreToolUse',
    { ...claudeCommon, tool_name: 'Read', tool_input: {}, tool_use_id: 'c-3' },
    { type: 'before-tool', tool: { name: 'Read', input: {}, callId: 'c-3', effect: 'reads' } },
  ],
  [
    'claude',
    'PreToolUse',
    { ...claudeCommon, tool_name: 'mcp__files__Read', tool_input: {} },
    {
      type: 'before-tool',
      tool: { name: 'mcp__files__Read', input: {}, callId: undefined, effect: 'anything' },
    },
  ],
  [
    'claude',
    'PostToolUseFailure',
    {
      ...claudeCommon,
      tool_name: 'Bash',
      tool_input: { command: 'exit 3' },
      tool_use_id: 'c-4',
      error: 'Exit code 3',
      is_interrupt: false,
    },
    {
      type: 'after-tool',
      rest: { permission_mode: 'default', error: 'Exit code 3', is_interrupt: false },
    },
  ],
  [
    'claude',
    'SubagentStart',
    { ...claudeCommon, agent_id: 'a-1' },
    { type: 'subagent-start', agentId: 'a-1' },
  ],
  [
    'claude',
    'SubagentStop',
    { ...claudeCommon, agent_id: 'a-1', background_tasks: [] },
    { type: 'subagent-end' },
  ],
  ['claude', 'Stop', { ...claudeCommon, stop_hook_active: false }, { type: 'turn-end' }],
  ['claude', 'StopFailure', { ...claudeCommon, error: 'rate_limit' }, { type: 'turn-end' }],
  [
    'claude',
    'PreCompact',
    { ...claudeCommon, trigger: 'manual', custom_instructions: null },
    { type: 'compaction' },
  ],
  ['claude', 'SessionEnd', { ...claudeCommon, reason: 'other' }, { type: 'session-end' }],
  ['claude', 'MessageDisplay', claudeCommon, undefined],
  ['claude', 'toString', claudeCommon, undefined],
  [
    'codex',
    'SessionStart',
    { ...codexCommon, source: 'fork' },
    { type: 'session-start', source: 'fork', sessionId: 's-2', turnId: 't-2' },
  ],
  [
    'codex',
    'PreToolUse',
    {
      ...codexCommon,
      tool_name: 'apply_patch',
      tool_input: { command: '*** Begin Patch\n*** Add File: s.txt\n+x\n*** End Patch\n' },
      tool_use_id: 'exec-1',
      agent_id: 'a-2',
    },
    {
      type: 'before-tool',
      agentId: 'a-2',
      tool: {
        name: 'apply_patch',
        input: { command: '*** Begin Patch\n*** Add File: s.txt\n+x\n*** End Patch\n' },
        callId: 'exec-1',
        effect: 'writes',
      },
    },
  ],
  [
    'codex',
    'PreToolUse',
    { ...codexCommon, tool_name: 'collaborationspawn_agent', tool_input: {} },
    {
      type: 'before-tool',
      tool: { name: 'collaborationspawn_agent', input: {}, callId: undefined, effect: 'delegates' },
    },
  ],
  ...(['collaborationwait_agent', 'list_agents', 'request_user_input'] as const).map(
    (name): Case => [
      'codex',
      'PreToolUse',
      { ...codexCommon, tool_name: name, tool_input: {} },
      { type: 'before-tool', tool: { name, input: {}, callId: undefined, effect: 'reads' } },
    ],
  ),
  [
    'codex',
    'SessionEnd',
    { session_id: 's-2', transcript_path: null, cwd: '/w', reason: 'other' },
    { type: 'session-end', transcriptPath: undefined, turnId: undefined },
  ],
  [
    'gemini',
    'BeforeAgent',
    { ...geminiCommon, prompt: 'Do it' },
    { type: 'turn-start', prompt: 'Do it', turnId: undefined },
  ],
  [
    'gemini',
    'BeforeTool',
    { ...geminiCommon, tool_name: 'write_file', tool_input: { file_path: 'a.txt' } },
    {
      type: 'before-tool',
      tool: {
        name: 'write_file',
        input: { file_path: 'a.txt' },
        callId: undefined,
        effect: 'writes',
      },
    },
  ],
  [
    'gemini',
    'BeforeTool',
    { ...geminiCommon, tool_name: 'read_file', tool_input: {}, mcp_context: { server: 'x' } },
    {
      type: 'before-tool',
      tool: { name: 'read_file', input: {}, callId: undefined, effect: 'anything' },
    },
  ],
  [
    'gemini',
    'AfterTool',
    {
      ...geminiCommon,
      tool_name: 'run_shell_command',
      tool_input: { command: 'ls' },
      tool_response: { llmContent: 'x' },
    },
    {
      type: 'after-tool',
      rest: { timestamp: geminiCommon.timestamp, tool_response: { llmContent: 'x' } },
    },
  ],
  [
    'gemini',
    'AfterAgent',
    { ...geminiCommon, prompt: 'Do it', stop_hook_active: false },
    { type: 'turn-end' },
  ],
  [
    'opencode',
    'session.created',
    { input: { sessionID: 'ses_1', info: { id: 'ses_1' } }, directory: '/w' },
    { type: 'session-start', sessionId: 'ses_1', cwd: '/w' },
  ],
  [
    'opencode',
    'chat.message',
    {
      input: { sessionID: 'ses_1' },
      output: {
        message: { id: 'msg_1' },
        parts: [{ type: 'text', text: 'Do' }, { type: 'file' }, { type: 'text', text: 'it' }],
      },
      directory: '/w',
    },
    { type: 'turn-start', prompt: 'Do\nit', turnId: 'msg_1' },
  ],
  [
    'opencode',
    'chat.message',
    {
      input: { sessionID: 'ses_2' },
      output: { message: { id: 'msg_2' }, parts: [] },
      parentID: 'ses_1',
    },
    { type: 'subagent-start', sessionId: 'ses_1', agentId: 'ses_2' },
  ],
  [
    'opencode',
    'tool.execute.before',
    {
      input: { tool: 'bash', sessionID: 'ses_2', callID: 'c-1' },
      output: { args: { command: 'ls' } },
      parentID: 'ses_1',
    },
    {
      type: 'before-tool',
      sessionId: 'ses_1',
      agentId: 'ses_2',
      tool: { name: 'bash', input: { command: 'ls' }, callId: 'c-1', effect: 'anything' },
    },
  ],
  [
    'opencode',
    'tool.execute.after',
    {
      input: { tool: 'write', sessionID: 'ses_1', callID: 'c-2', args: { filePath: 'a.txt' } },
      output: { title: 'a.txt' },
    },
    {
      type: 'after-tool',
      tool: { name: 'write', input: { filePath: 'a.txt' }, callId: 'c-2', effect: 'writes' },
    },
  ],
  ['opencode', 'session.idle', { input: { sessionID: 'ses_1' } }, { type: 'turn-end' }],
  [
    'opencode',
    'session.idle',
    { input: { sessionID: 'ses_2' }, parentID: 'ses_1' },
    { type: 'subagent-end' },
  ],
  [
    'opencode',
    'dispose',
    { sessionID: 'ses_1', directory: '/w' },
    { type: 'session-end', sessionId: 'ses_1' },
  ],
  [
    'cursor',
    'beforeSubmitPrompt',
    { ...cursorCommon, prompt: 'Do it', attachments: [] },
    { type: 'turn-start', prompt: 'Do it', sessionId: 's-5', turnId: 'g-5', cwd: '/w' },
  ],
  [
    'cursor',
    'beforeShellExecution',
    { ...cursorCommon, command: 'ls', cwd: '/w' },
    {
      type: 'before-tool',
      tool: { name: 'Shell', input: { command: 'ls' }, callId: undefined, effect: 'anything' },
    },
  ],
  [
    'cursor',
    'afterFileEdit',
    { ...cursorCommon, file_path: '/w/a.txt', edits: [] },
    {
      type: 'after-tool',
      tool: { name: 'Edit', input: { file_path: '/w/a.txt' }, callId: undefined, effect: 'writes' },
    },
  ],
  [
    'cursor',
    'preToolUse',
    { ...cursorCommon, tool_name: 'Write', tool_input: {}, tool_use_id: 'c' },
    { type: 'before-tool', tool: { name: 'Write', input: {}, callId: 'c', effect: 'writes' } },
  ],
  [
    'cline',
    'PreToolUse',
    {
      ...clineCommon,
      hookName: 'tool_call',
      tool_call: { id: 'c', name: 'execute_command', input: { command: 'ls' } },
    },
    {
      type: 'before-tool',
      sessionId: 's-6',
      cwd: '/w',
      tool: { name: 'execute_command', input: { command: 'ls' }, callId: 'c', effect: 'anything' },
    },
  ],
  [
    'cline',
    'PostToolUse',
    { ...clineCommon, postToolUse: { toolName: 'write_to_file', parameters: { path: 'a' } } },
    {
      type: 'after-tool',
      tool: { name: 'write_to_file', input: { path: 'a' }, callId: undefined, effect: 'writes' },
    },
  ],
  [
    'cline',
    'UserPromptSubmit',
    { ...clineCommon, userPromptSubmit: { prompt: 'Do it' } },
    { type: 'turn-start', prompt: 'Do it' },
  ],
  ['cline', 'TaskCancel', clineCommon, { type: 'turn-end' }],
  [
    'copilot',
    'preToolUse',
    { timestamp: 1, cwd: '/w', sessionId: 's-7', toolName: 'bash', toolArgs: '{"command":"ls"}' },
    {
      type: 'before-tool',
      sessionId: 's-7',
      tool: { name: 'bash', input: { command: 'ls' }, callId: undefined, effect: 'anything' },
    },
  ],
  [
    'copilot',
    'userPromptSubmitted',
    { cwd: '/home/user/project', prompt: 'Do it' },
    { type: 'turn-start', sessionId: 'copilot-project', prompt: 'Do it' },
  ],
  [
    'hermes',
    'pre_tool_call',
    {
      session_id: 's-8',
      cwd: '/w',
      tool_name: 'terminal',
      tool_input: { command: 'ls' },
      extra: { tool_call_id: 'c', turn_id: 't' },
    },
    {
      type: 'before-tool',
      turnId: 't',
      tool: { name: 'terminal', input: { command: 'ls' }, callId: 'c', effect: 'anything' },
    },
  ],
  ['hermes', 'on_session_finalize', { session_id: 's-8', cwd: '/w' }, { type: 'session-end' }],
]

test.each(CASES)('%s %s', (agent, eventName, payload, expected) => {
  const event = MAPPERS[agent].parse(eventName, { ...payload, hook_event_name: eventName })
  expect({ isOurs: event !== undefined, ...event }).toMatchObject(
    expected === undefined ? { isOurs: false } : { isOurs: true, agent, eventName, ...expected },
  )
})

const MALFORMED: readonly (readonly [AgentName, string, unknown])[] = [
  ['claude', 'Stop', undefined],
  ['claude', 'Stop', 'text'],
  ['claude', 'Stop', []],
  ['claude', 'Stop', {}],
  ['claude', 'Stop', { session_id: 7 }],
  ['claude', 'Stop', { session_id: 'x'.repeat(201) }],
  ['claude', 'Stop', { session_id: 's', cwd: 'a\0b' }],
  ['claude', 'PreToolUse', { session_id: 's' }],
  ['claude', 'UserPromptSubmit', { session_id: 's', prompt: {} }],
  ['opencode', 'tool.execute.before', { input: 'x' }],
  ['cursor', 'stop', { conversation_id: 's', workspace_roots: '/w' }],
  ['cursor', 'stop', { conversation_id: 's', workspace_roots: [7] }],
  ['cline', 'PreToolUse', { taskId: 's' }],
  ['copilot', 'agentStop', {}],
]

test.each(MALFORMED)('%s %s with %j is reported as malformed', (agent, eventName, payload) => {
  expect(() => MAPPERS[agent].parse(eventName, payload)).toThrow(
    expect.objectContaining({ code: 'BAD_INPUT' }),
  )
})

/** Names that mappers read, so that random payloads reach every branch. */
const KEYS = [
  'session_id',
  'sessionID',
  'conversation_id',
  'taskId',
  'sessionId',
  'cwd',
  'prompt',
  'tool_name',
  'tool_input',
  'toolName',
  'toolArgs',
  'tool_call',
  'tool_result',
  'preToolUse',
  'postToolUse',
  'input',
  'output',
  'parts',
  'message',
  'extra',
  'workspace_roots',
  'workspaceRoots',
  'parentID',
  'args',
  'tool',
  'command',
  '__proto__',
]
const EVENTS = [...new Set(CASES.map(([, eventName]) => eventName))]

test('for any input, a mapper returns an event, undefined or a SavestateError, and every event gets an answer', () => {
  const leaf = fc.oneof(
    fc.string(),
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.string({ maxLength: 400 }),
  )
  const value = fc.letrec((tie) => ({
    any: fc.oneof({ maxDepth: 3 }, leaf, fc.array(tie('any'), { maxLength: 3 }), tie('record')),
    record: fc.dictionary(fc.oneof(fc.constantFrom(...KEYS), fc.string()), tie('any'), {
      maxKeys: 8,
    }),
  }))
  const outcomes: readonly Outcome[] = [
    { type: 'continue' },
    { type: 'continue', notice: 'something', context: 'more' },
    { type: 'stop', reason: 'because' },
  ]
  fc.assert(
    fc.property(
      fc.constantFrom(...AGENT_NAMES),
      fc.oneof(fc.constantFrom(...EVENTS), fc.string()),
      fc.oneof(value.any, value.record),
      fc.constantFrom(...outcomes),
      (agent, eventName, payload, outcome) => {
        const event = parsed(agent, eventName, payload)
        if (event === undefined) return
        expect(event.sessionId.length).toBeLessThanOrEqual(200)
        const { stdout, exitCode } = MAPPERS[agent].answer(event, outcome)
        // 2 would stop the tool in most agents, or make them continue forever.
        expect(exitCode).toBe(0)
        expect(typeof JSON.parse(stdout === '' ? '{}' : stdout)).toBe('object')
      },
    ),
    { numRuns: 1000 },
  )
})

function parsed(agent: AgentName, eventName: string, payload: unknown): AgentEvent | undefined {
  try {
    return MAPPERS[agent].parse(eventName, payload)
  } catch (error) {
    if (error instanceof SavestateError) return undefined
    throw error
  }
}

test.each(AGENT_NAMES)('%s continues silently, and only a tool can be stopped', (agent) => {
  const { answer } = MAPPERS[agent]
  const silent = agent === 'cline' ? { cancel: false } : undefined
  for (const [name, eventName, payload, expected] of CASES) {
    if (name !== agent || expected === undefined) continue
    const event = MAPPERS[agent].parse(eventName, payload)
    if (event === undefined) throw new Error('a case that is no event')
    const { stdout } = answer(event, { type: 'continue' })
    expect(stdout === '' ? undefined : JSON.parse(stdout)).toEqual(silent)
    const stopped = answer(event, { type: 'stop', reason: 'because' })
    expect(/deny|block|"stop"|"cancel":true/.test(stopped.stdout)).toBe(
      event.type === 'before-tool',
    )
    expect(stopped.stdout + stopped.stderr).toContain('because')
  }
})

test('an answer to Claude Code uses its own fields', () => {
  const event = MAPPERS.claude.parse('UserPromptSubmit', { ...claudeCommon, prompt: 'x' })
  if (event === undefined) throw new Error('no event')
  const { stdout } = MAPPERS.claude.answer(event, {
    type: 'continue',
    notice: 'seen',
    context: 'known',
  })
  expect(JSON.parse(stdout)).toEqual({
    systemMessage: 'seen',
    hookSpecificOutput: { hookEventName: 'UserPromptSubmit', additionalContext: 'known' },
  })
})

const copilotCommon = { sessionId: 's-7', cwd: '/w', toolName: 'bash', toolArgs: {} }
const opencodeAfter = (metadata: object) => ({
  directory: '/w',
  input: { tool: 'bash', sessionID: 's-4', callID: 'c-4', args: { command: 'x' } },
  output: { title: 'x', metadata, output: '' },
})
const clineAfter = (success: boolean) => ({
  ...clineCommon,
  tool_result: { id: 'c', name: 'run_commands', input: {}, output: [{ result: '', success }] },
})
const bash = { tool_name: 'Bash', tool_input: { command: 'x' }, tool_use_id: 'c' }
const geminiShell = (llmContent: string) => ({
  ...geminiCommon,
  tool_name: 'run_shell_command',
  tool_input: { command: 'x' },
  tool_response: { llmContent, returnDisplay: '' },
})
const geminiEdit = { ...geminiCommon, tool_name: 'replace', tool_input: {} }
const notFound = { message: 'File not found', type: 'file_not_found' }
const copilotResult = (resultType: string, textResultForLlm: string) => ({
  ...copilotCommon,
  toolResult: { resultType, textResultForLlm },
})

test.each<[AgentName, string, Record<string, unknown>, boolean]>([
  ['claude', 'PostToolUseFailure', { ...claudeCommon, ...bash, error: 'Exit code 3' }, true],
  ['claude', 'PostToolUse', { ...claudeCommon, ...bash, tool_response: { stdout: '' } }, false],
  ['claude', 'PreToolUse', { ...claudeCommon, ...bash }, false],
  [
    'codex',
    'PostToolUse',
    { ...codexCommon, ...bash, tool_response: 'Exit code: 1\nWall time: 0 seconds\nOutput:\n' },
    true,
  ],
  [
    'codex',
    'PostToolUse',
    { ...codexCommon, ...bash, tool_response: 'Exit code: 0\nWall time: 0 seconds\nOutput:\n' },
    false,
  ],
  ['codex', 'PostToolUse', { ...codexCommon, ...bash, tool_response: 'Exit code: 1' }, false],
  ['gemini', 'AfterTool', { ...geminiEdit, tool_response: { error: notFound } }, true],
  ['gemini', 'AfterTool', { ...geminiEdit, tool_response: { llmContent: 'done' } }, false],
  ['gemini', 'AfterTool', geminiShell('Output: x\nExit Code: 3\nProcess Group PGID: 7'), true],
  ['gemini', 'AfterTool', geminiShell('Output: (empty)\nProcess Group PGID: 7'), false],
  ['opencode', 'tool.execute.after', opencodeAfter({ exit: 2 }), true],
  ['opencode', 'tool.execute.after', opencodeAfter({ exit: 0 }), false],
  ['opencode', 'tool.execute.after', opencodeAfter({}), false],
  ['cursor', 'postToolUseFailure', { ...cursorCommon, ...bash }, true],
  ['cursor', 'postToolUse', { ...cursorCommon, ...bash }, false],
  ['copilot', 'postToolUse', copilotResult('failure', 'no such file'), true],
  [
    'copilot',
    'postToolUse',
    copilotResult('success', 'x\n<shellId: 0 completed with exit code 2>'),
    true,
  ],
  [
    'copilot',
    'postToolUse',
    copilotResult('success', 'x\n<shellId: 0 completed with exit code 0>'),
    false,
  ],
  ['cline', 'PostToolUse', clineAfter(false), true],
  ['cline', 'PostToolUse', clineAfter(true), false],
])('%s %s: whether the call failed (%#)', (agent, eventName, payload, failed) => {
  const event = MAPPERS[agent].parse(eventName, payload)
  const tool = event !== undefined && 'tool' in event ? event.tool : undefined
  expect(tool?.failed).toBe(failed ? true : undefined)
})

const claudeShell = (fields: object, command: object = {}) => ({
  ...claudeCommon,
  ...bash,
  tool_input: { command: 'npm test', ...command },
  ...fields,
})
const claudeOutput = { stdout: '', stderr: '', interrupted: false, isImage: false }

test.each<[AgentName, string, Record<string, unknown>, number | undefined]>([
  ['claude', 'PostToolUse', claudeShell({ tool_response: claudeOutput }), 0],
  [
    'claude',
    'PostToolUse',
    claudeShell({ tool_response: claudeOutput }, { run_in_background: true }),
    undefined,
  ],
  [
    'claude',
    'PostToolUse',
    claudeShell({ tool_response: { ...claudeOutput, backgroundTaskId: 'b' } }),
    undefined,
  ],
  ['claude', 'PostToolUse', claudeShell({ tool_name: 'Edit' }), undefined],
  ['claude', 'PostToolUseFailure', claudeShell({ error: 'Exit code 3', is_interrupt: false }), 3],
  ['claude', 'PostToolUseFailure', claudeShell({ error: 'Exit code 1\nFAIL' }), 1],
  [
    'claude',
    'PostToolUseFailure',
    claudeShell({ error: 'Exit code 137', is_interrupt: true }),
    undefined,
  ],
  ['codex', 'PostToolUse', { ...codexCommon, ...bash, tool_response: '' }, undefined],
  ['gemini', 'AfterTool', geminiShell('Output: x\nExit Code: 3\nProcess Group PGID: 7'), 3],
  [
    'gemini',
    'AfterTool',
    geminiShell('<untrusted_context>\nOutput: (empty)\nProcess Group PGID: 7'),
    0,
  ],
  ['gemini', 'AfterTool', geminiShell('Command was cancelled by user'), undefined],
  ['gemini', 'AfterTool', geminiShell('Output: x\nSignal: 9\nProcess Group PGID: 7'), undefined],
  ['gemini', 'AfterTool', { ...geminiEdit, tool_response: { llmContent: 'done' } }, undefined],
  ['opencode', 'tool.execute.after', opencodeAfter({ exit: 2 }), 2],
  ['opencode', 'tool.execute.after', opencodeAfter({}), undefined],
  [
    'copilot',
    'postToolUse',
    copilotResult('success', 'x\n<shellId: 0 completed with exit code 2>'),
    2,
  ],
  ['copilot', 'postToolUse', copilotResult('success', 'done'), undefined],
  ['cursor', 'postToolUse', { ...cursorCommon, ...bash }, undefined],
  ['cline', 'PostToolUse', clineAfter(true), undefined],
])('%s %s: the exit status of a command (%#)', (agent, eventName, payload, exitStatus) => {
  const event = MAPPERS[agent].parse(eventName, payload)
  const tool = event !== undefined && 'tool' in event ? event.tool : undefined
  expect(tool?.exitStatus).toBe(exitStatus)
})
