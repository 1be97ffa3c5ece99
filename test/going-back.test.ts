// Going back means what the user thinks: rows of prompts are before, rows of calls after, and `--before` goes to just
// before the call.
import { expect, test } from 'vitest'
import { claudeHook, claudePrompt, claudeShell, rowsOf } from './agent-story.js'
import { scratch } from './cli/program.js'

const KEY = Buffer.alloc(32, 7).toString('base64')

test('a row says whether it was made before or after what it names', () => {
  using s = scratch({ 'a.txt': '1' })
  s.run(['save', '-m', 'by hand'])
  claudePrompt(s, 'Tidy up')
  claudeShell(s, 'echo 2 > a.txt')
  s.write({ 'a.txt': 'mine' })
  claudeHook(s, 'PreToolUse', { tool_name: 'Bash', tool_input: { command: 'ls' } })
  s.write({ 'a.txt': '3' })
  claudeHook(s, 'Stop')
  claudePrompt(s, 'Go on')
  s.write({ 'a.txt': '4' })
  claudeHook(s, 'Stop')
  const rows = rowsOf(s).map(({ reason, moment }) => [reason, moment])
  expect(rows).toEqual([
    ['End of the turn', 'after'],
    ['You: Go on', 'before'],
    ['Bash: ls (no end seen)', 'after'],
    ['Before Bash: ls', 'before'],
    ['Bash: echo 2 > a.txt', 'after'],
    ['You: Tidy up', 'before'],
    ['by hand', null],
  ])
  const shown = rowsOf(s).map(({ id }) => (s.json(['show', id]) as { moment: unknown }).moment)
  expect(shown).toEqual(rows.map(([, moment]) => moment))
})

test('where the metadata is encrypted, a list does not say it', () => {
  using s = scratch({ 'a.txt': '1' })
  const env = { SAVESTATE_KEY: KEY }
  claudeHook(s, 'UserPromptSubmit', { prompt: 'Tidy up', prompt_id: 'p' }, { env })
  expect(rowsOf(s)).toMatchObject([{ reason: 'You: a prompt', moment: null }])
})
