// Results of tests that a coding agent ran: the hooks record them, lists mark them, and `rewind --last-green` goes there.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Scratch, scratch } from '../program.js'

function hook(s: Scratch, eventName: string, fields: object = {}): void {
  const payload = { session_id: 's-1', cwd: s.project, hook_event_name: eventName, ...fields }
  const ended = s.run(['hook', 'claude', eventName], { input: JSON.stringify(payload) })
  expect(ended).toEqual({ code: 0, stdout: '', stderr: '' })
}

/** A call of the shell, as Claude Code reports it. */
function call(s: Scratch, command: string, exitStatus: number, id = command): void {
  const tool = { tool_name: 'Bash', tool_input: { command }, tool_use_id: `${id} ${exitStatus}` }
  hook(s, 'PreToolUse', tool)
  const output = { stdout: '', stderr: '', interrupted: false }
  if (exitStatus === 0) hook(s, 'PostToolUse', { ...tool, tool_response: output })
  else
    hook(s, 'PostToolUseFailure', {
      ...tool,
      error: `Exit code ${exitStatus}`,
      is_interrupt: false,
    })
}

test('results of tests are recorded and marked, also if no file changed', () => {
  using s = scratch({ 'a.txt': 'good\n' })
  hook(s, 'UserPromptSubmit', { prompt: 'Fix it', prompt_id: 'p' })
  call(s, 'npm test', 0)
  s.write({ 'a.txt': 'bad\n' })
  call(s, 'npm test 2>&1 | tail', 0)
  call(s, 'npm test', 1)
  call(s, 'grep x a.txt', 2)
  hook(s, 'Stop')
  type Row = { readonly reason: string; readonly tests?: string; readonly failed?: true }
  const { checkpoints } = s.json(['list']) as { readonly checkpoints: readonly Row[] }
  const marks = checkpoints.map(({ reason, tests, failed }) => [reason, tests, failed])
  expect(marks.reverse()).toEqual([
    ['You: Fix it', undefined, undefined],
    ['Bash: npm test', 'passed', undefined],
    ['Before Bash: npm test 2>&1 | tail', undefined, undefined],
    ['Bash: npm test', 'failed', true],
  ])
  const list = s.run(['list']).stdout
  expect(list).toMatch(/ ✓ Bash: npm test\b/)
  expect(list).toMatch(/ ✗ Bash: npm test\b/)
  expect(list).not.toContain('[failed]')
  expect(s.run(['show', '1']).stdout).toMatch(/^Tests: +✗ failed$/m)
  expect(s.json(['show', '1'])).toMatchObject({
    tests: 'failed',
    agent: { metadata: { exitStatus: 1, tests: 'failed' } },
  })
  expect(s.run(['rewind', '--last-green', '--yes'])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('after "Bash: npm test"'),
  })
  expect(readFileSync(join(s.project, 'a.txt'), 'utf8')).toBe('good\n')
})

test('without tests that passed there is nothing to go back to', () => {
  using s = scratch({ 'a.txt': '1' })
  s.json(['save'])
  const error = (args: readonly string[]) =>
    (JSON.parse(s.run(['--json', ...args]).stderr) as { error: { code: string } }).error.code
  expect([
    error(['rewind', '--last-green', '-y']),
    error(['rewind', '1', '--last-green', '-y']),
    error(['rewind', '--last-green', '--before', '-y']),
  ]).toEqual(['CHECKPOINT_UNKNOWN', 'BAD_INPUT', 'BAD_INPUT'])
})
