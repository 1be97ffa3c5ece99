// `savestate rewind` without a reference, on a real terminal and without one.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Request } from '../../../src/cli/runtime/command.js'
import { parse } from '../../../src/cli/args/parse.js'
import { withChoice } from '../../../src/cli/picker/pick-checkpoint.js'
import type { Choice } from '../../../src/cli/picker/picker-state.js'
import { claudePrompt, claudeShell } from '../../support/agent-story.js'
import { type Scratch, scratch } from '../program.js'
import { onTerminal } from '../terminal.js'

/** Narrow and low, so that long lines and lists are cut. */
const onPicker = (s: Scratch, command = 'savestate rewind') =>
  onTerminal(s, command, { rows: 20, columns: 70 })

test('the user picks a checkpoint by its preview and confirms the plan, and the folder goes back', async () => {
  using s = scratch({ 'a.txt': 'one\n' })
  s.json(['save', '-m', 'You: Fix the login'])
  s.write({ 'a.txt': 'two\n' })
  s.json(['save', '-m', 'Bash: npm test'])
  const terminal = onPicker(s)
  await terminal.shows('nothing would change')
  terminal.type('\u001b[B')
  await terminal.shows('~ a.txt')
  terminal.type('\r')
  await terminal.shows('? [y/N]')
  terminal.type('y\n')
  expect(await terminal.ended).toBe(0)
  const [drawn = '', after = ''] = terminal.output().split('\u001b[?1049l')
  expect(drawn).toMatch(/> 2 {2}You: Fix the login +\+1 · (?:just now|\d+ s ago)/)
  expect(after).toMatch(/Will be written \(1 file\):[^]*Rewound to \w{4,18} \(.*\): 1 file written/)
  expect(readFileSync(join(s.project, 'a.txt'), 'utf8')).toBe('one\n')
})

test('picking only the files ends after the rewind, also with --continue', async () => {
  using s = scratch({ 'a.txt': 'one\n', 'state.json': '{}' })
  s.json(['save', '--session', 'fix', '--state', 'state.json'])
  s.write({ 'a.txt': 'two\n' })
  const terminal = onPicker(s, 'savestate rewind --both --continue --yes')
  await terminal.shows('~ a.txt')
  terminal.type('f')
  expect(await terminal.ended).toBe(0)
  const [, after = ''] = terminal.output().split('\u001b[?1049l')
  expect(after).toMatch(
    /^\s*Rewound to \w{4,18} \(.*\): 1 file written\. Undo with: savestate undo\s*$/,
  )
})

test('quitting changes nothing and restores the terminal, also after a signal', async () => {
  using s = scratch({ 'a.txt': 'one\n' })
  s.json(['save', '-m', 'You: Fix the login'])
  for (const [keys, code] of [
    ['q', 1],
    ['\u0003', 130],
  ] as const) {
    const terminal = onPicker(s)
    await terminal.shows('Go back to which checkpoint? (1)')
    terminal.type(keys)
    expect(await terminal.ended).toBe(code)
    const [, after = ''] = terminal.output().split('\u001b[?1049l')
    expect(after).toContain(code === 1 ? 'Nothing has been changed.' : 'Nothing was changed.')
    expect(after).not.toContain('\u001b[?1049h')
    expect(after).not.toContain('Error')
  }
})

test('Ctrl-C at the question says that nothing was changed', async () => {
  using s = scratch({ 'a.txt': 'one\n' })
  s.json(['save'])
  s.write({ 'a.txt': 'two\n' })
  const terminal = onPicker(s, 'savestate rewind 1')
  await terminal.shows('[y/N]')
  terminal.type('\u0003')
  expect(await terminal.ended).toBe(130)
  expect(terminal.output()).toMatch(/\[y\/N\] \^?C?\s*Nothing was changed\.\s*$/)
  expect(readFileSync(join(s.project, 'a.txt'), 'utf8')).toBe('two\n')
})

test('for a damaging call the preview shows the files before it, and which changes are yours', async () => {
  using s = scratch({ 'a.txt': 'one\n', 'src/b.txt': 'two\n' })
  claudePrompt(s, 'Tidy up')
  for (const name of ['c', 'd', 'e', 'f', 'g']) claudeShell(s, `echo ${name} > ${name}.txt`)
  claudeShell(s, 'rm -rf src')
  s.write({ 'a.txt': 'mine\n' })
  const terminal = onPicker(s)
  await terminal.shows('… 3 more (→ to open)')
  terminal.type('/rm -rf\r')
  await terminal.shows('> 1      Bash: rm -rf src')
  await terminal.shows('-- Before this call: 2 files written')
  expect(terminal.output()).toContain('   ~ a.txt  (yours)')
  expect(terminal.output()).toContain('   + src/b.txt')
  terminal.type('\r')
  await terminal.shows('Go back to before or after this call?')
  terminal.type('a')
  await terminal.shows('[y/N]')
  terminal.type('n\n')
  expect(await terminal.ended).toBe(1)
})

test('the choice completes the request', () => {
  const { options } = parse(['rewind', '--both', '--continue', '--keep-mine'])
  const request = { options, positionals: [] } as unknown as Request
  const chosen = (choice: Choice) => {
    const { argument, options: made } = withChoice(request, choice)
    const names = ['files', 'state', 'both', 'before', 'continue', 'keep-mine', 'dry-run']
    return [argument(0), ...names.filter((name) => made.has(name))]
  }
  expect(chosen({ id: 'x', restore: 'files', before: true })).toEqual([
    'x',
    'files',
    'before',
    'keep-mine',
  ])
  expect(chosen({ id: 'y', restore: 'both', before: false })).toEqual([
    'y',
    'both',
    'continue',
    'keep-mine',
  ])
})

test('a cut connection ends the picker without changes, also without a SIGHUP', async () => {
  using s = scratch({ 'a.txt': 'one\n' })
  s.json(['save', '-m', 'You: Fix the login'])
  s.write({ 'a.txt': 'two\n' })
  const before = s.json(['list'])
  const told = join(s.project, '..', 'told')
  // The kernel signals only the session leader, which here is a shell that survives.
  const terminal = onPicker(s, `trap : HUP; savestate rewind; echo $? >'${told}'`)
  await terminal.shows('~ a.txt')
  terminal.cut()
  await expect
    .poll(() => existsSync(told) && readFileSync(told, 'utf8'), { timeout: 60_000 })
    .toBe('129\n')
  expect(s.json(['list'])).toEqual(before)
  expect(readFileSync(join(s.project, 'a.txt'), 'utf8')).toBe('two\n')
})

test('without a terminal, or as JSON, a reference is needed', () => {
  using s = scratch({ 'a.txt': 'one\n' })
  s.json(['save'])
  for (const args of [['rewind'], ['rewind', '--yes']])
    expect(s.run(args)).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(
        /^Error: Name a checkpoint: there is no terminal to pick one on\.\nUsage: savestate rewind /,
      ),
    })
  const { code, stderr } = s.run(['rewind', '--json'])
  expect({ code, ...JSON.parse(stderr) }).toMatchObject({ code: 2, error: { code: 'BAD_INPUT' } })
})

test('a search for the damage and Enter twice go to before it', async () => {
  using s = scratch({ 'a.txt': 'one\n', 'src/b.txt': 'two\n' })
  claudePrompt(s, 'Tidy up')
  claudeShell(s, 'echo 1 > c.txt')
  claudeShell(s, 'rm -rf src')
  const terminal = onPicker(s, 'savestate rewind -y')
  await terminal.shows('Go back to which checkpoint? (3)')
  terminal.type('/rm -rf\r')
  await terminal.shows('-- Before this call: 1 file written')
  terminal.type('\r')
  await terminal.shows('Go back to before or after this call?')
  terminal.type('\r')
  expect(await terminal.ended).toBe(0)
  expect(readFileSync(join(s.project, 'src/b.txt'), 'utf8')).toBe('two\n')
})
