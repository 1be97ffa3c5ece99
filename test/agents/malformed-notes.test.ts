// Notes in the store that an older or newer version wrote, or that are damaged.
import { expect, test } from 'vitest'
import { openStore } from '../../src/internal.js'
import { type Scratch, scratch } from '../cli/program.js'
import { put, read, userFile } from './install/install-helpers.js'

const MALFORMED = [
  'no JSON',
  'null',
  '[null]',
  '{"turnState":{"turn":null,"running":7},"projects":[null],"reported":1,"undo":{}}',
]

async function setNote(s: Scratch, key: string, text: string): Promise<void> {
  await using store = await openStore({ home: s.home, inProcess: true })
  await store.changeNote({ key, change: () => text })
}

test.each(MALFORMED)('a hook saves with the notes of its session being %s', async (text) => {
  using s = scratch({ 'a.txt': 'one\n' })
  await setNote(s, 'hook:claude:s-1', text)
  const fields = { session_id: 's-1', cwd: s.project, prompt: 'Fix it' }
  const hook = s.run(['hook', 'claude', 'UserPromptSubmit'], { input: JSON.stringify(fields) })
  expect(hook).toEqual({ code: 0, stdout: '', stderr: '' })
  expect(s.json(['list'])).toMatchObject({ checkpoints: [{ reason: 'You: Fix it' }] })
})

test.each(MALFORMED)('an agent may not rewind with the permissions being %s', async (text) => {
  using s = scratch({ 'a.txt': 'one\n' })
  await setNote(s, 'agents:allow-rewind', text)
  const tool = { tool_name: 'Bash', tool_input: { command: 'savestate undo -y' } }
  const input = JSON.stringify({ session_id: 's-1', cwd: s.project, ...tool })
  expect(s.run(['hook', 'claude', 'PreToolUse'], { input }).stdout).toContain('"deny"')
})

test.each(MALFORMED)('an uninstall finds our entries with the record being %s', async (text) => {
  using s = scratch()
  const file = userFile(s, '.claude/settings.json')
  put(file, '{ "model": "x" }\n')
  expect(s.run(['install', 'claude', '-y']).code).toBe(0)
  await setNote(s, `install:${file}`, text)
  await setNote(s, 'install-http', text)
  expect(s.run(['install', 'claude', '-y'])).toMatchObject({ code: 0, stderr: '' })
  expect(s.run(['uninstall', 'claude', '-y'])).toMatchObject({ code: 0, stderr: '' })
  expect(JSON.parse(read(file))).toEqual({ model: 'x' })
})
