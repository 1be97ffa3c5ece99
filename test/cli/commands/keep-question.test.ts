// On a terminal, a rewind that would overwrite changes of the user asks whether to keep them.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Scratch, scratch } from '../program.js'
import { onTerminal } from '../terminal.js'

const lines = (changes: Readonly<Record<number, string>> = {}) =>
  Array.from({ length: 9 }, (_, index) => `${changes[index + 1] ?? index + 1}\n`).join('')

/** The agent has changed line 2 and `b.txt`, then the user line 7. */
function both(): Scratch {
  const s = scratch({ 'a.txt': lines(), 'b.txt': 'one\n' })
  s.run(['save', '--name', 'start'])
  const event = (name: string) => {
    const call = { tool_name: 'Bash', tool_input: { command: 'make' }, tool_use_id: 'make' }
    const input = JSON.stringify({ session_id: 's-1', cwd: s.project, ...call })
    expect(s.run(['hook', 'claude', name], { input }).code).toBe(0)
  }
  event('PreToolUse')
  s.write({ 'a.txt': lines({ 2: 'agent' }), 'b.txt': 'agent\n' })
  event('PostToolUse')
  s.write({ 'a.txt': lines({ 2: 'agent', 7: 'mine' }) })
  return s
}

const ASKS = 'This would overwrite or remove 1 path that you changed since then'

test.each([
  ['o', 0, lines(), 'one\n'],
  ['s', 1, lines({ 2: 'agent', 7: 'mine' }), 'agent\n'],
  ['', 1, lines({ 2: 'agent', 7: 'mine' }), 'agent\n'],
] as const)('the answer "%s"', async (answer, code, a, b) => {
  using s = both()
  const terminal = onTerminal(s, 'savestate rewind start')
  await terminal.shows(ASKS)
  await terminal.shows('[k/o/S]')
  terminal.type(`${answer}\n`)
  expect(await terminal.ended).toBe(code)
  const read = (path: string) => readFileSync(join(s.project, path), 'utf8')
  expect([read('a.txt'), read('b.txt')]).toEqual([a, b])
})

test('the answer "k" shows the plan that keeps them, and asks once more', async () => {
  using s = both()
  const terminal = onTerminal(s, 'savestate rewind start')
  await terminal.shows('[k/o/S]')
  terminal.type('k\n')
  await terminal.shows('a.txt  (merged with your changes)')
  await terminal.shows('[y/N]')
  terminal.type('y\n')
  expect(await terminal.ended).toBe(0)
  expect(terminal.output()).toContain('Your changes stay in:\r\n  a.txt')
  const read = (path: string) => readFileSync(join(s.project, path), 'utf8')
  expect([read('a.txt'), read('b.txt')]).toEqual([lines({ 7: 'mine' }), 'one\n'])
})
