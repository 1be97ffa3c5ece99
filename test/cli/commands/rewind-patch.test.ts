// `rewind --patch` on a terminal.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Scratch, scratch } from '../program.js'
import { onTerminal } from '../terminal.js'

const lines = (changes: Readonly<Record<number, string>> = {}) =>
  Array.from({ length: 30 }, (_, index) => `${changes[index + 1] ?? index + 1}\n`).join('')

function changed(): Scratch {
  const s = scratch({ 'a.txt': lines(), 'b.txt': 'one\n', 'c.txt': 'one\n' })
  s.run(['save', '--name', 'start'])
  // One hunk with two changes, and another one.
  s.write({ 'a.txt': lines({ 2: 'x', 5: 'y', 25: 'z' }), 'b.txt': 'two\n', 'c.txt': 'two\n' })
  return s
}

const contents = (s: Scratch) =>
  ['a.txt', 'b.txt', 'c.txt'].map((path) => readFileSync(join(s.project, path), 'utf8'))

async function answer(s: Scratch, keys: readonly string[]) {
  const terminal = onTerminal(s, 'savestate rewind start --patch')
  for (const [at, key] of keys.entries()) {
    await expect
      .poll(() => terminal.output().split('Take this back').length, { timeout: 60_000 })
      .toBe(at + 2)
    terminal.type(`${key}\n`)
  }
  return { code: await terminal.ended, output: terminal.output() }
}

test('y, n and s take exactly the chosen changes, as one rewind', async () => {
  using s = changed()
  const { code, output } = await answer(s, ['?', 's', 'n', 'y', 'n', 'n', 'y'])
  expect(code).toBe(0)
  expect(output).toContain('a - take back this and all later changes of the file')
  expect(output).toContain('-y\r\n+5\r\n')
  expect(contents(s)).toEqual([lines({ 2: 'x', 25: 'z' }), 'two\n', 'one\n'])
  s.run(['undo', '-y'])
  expect(contents(s)).toEqual([lines({ 2: 'x', 5: 'y', 25: 'z' }), 'two\n', 'two\n'])
})

test.each([
  [['a', 'd', 'n'], 0, [lines(), 'two\n', 'two\n']],
  [['j', 'y', 'k', 'n', 'q'], 0, [lines({ 2: 'x', 5: 'y' }), 'two\n', 'two\n']],
  [['n', 'n', 'n', 'n'], 1, [lines({ 2: 'x', 5: 'y', 25: 'z' }), 'two\n', 'two\n']],
  [['a', '\u0004'], 1, [lines({ 2: 'x', 5: 'y', 25: 'z' }), 'two\n', 'two\n']],
] as const)('the answers %j', async (keys, code, wanted) => {
  using s = changed()
  const ended = await answer(s, keys)
  expect(ended.code).toBe(code)
  expect(contents(s)).toEqual(wanted)
})

test('without a terminal, or together with other choices, it is refused', () => {
  using s = changed()
  const error = (...args: string[]) => s.run(['rewind', ...args]).stderr.split('\n')[0]
  expect(error('start', '--patch')).toBe(
    'Error: --patch asks about each change, and needs a terminal.',
  )
  expect(error('--patch')).toBe('Error: --patch needs a checkpoint.')
  expect(error('start', '--patch', '-y')).toBe('Error: --patch and --yes cannot be given together.')
})
