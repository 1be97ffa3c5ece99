// A rewind goes where the user expects: checkpoints of prompts are made before, those of calls after, and `--before` goes
// to just before the call.
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import {
  claudeHook,
  claudePrompt,
  claudeShell,
  inProject,
  rowOf,
  rowsOf,
} from '../../support/agent-story.js'
import { type Scratch, scratch, steady } from '../../cli/program.js'
import { onTerminal } from '../../cli/terminal.js'
import { sdk } from '../../support/scratch.js'

const KEY = Buffer.alloc(32, 7).toString('base64')

test('a checkpoint says whether it was made before or after its prompt or call', () => {
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

test('with encrypted metadata, a list says before or after only with the key', () => {
  using s = scratch({ 'a.txt': '1' })
  const env = { SAVESTATE_KEY: KEY }
  claudeHook(s, 'UserPromptSubmit', { prompt: 'Tidy up', prompt_id: 'p' }, { env })
  const call = { tool_name: 'Bash', tool_input: { command: 'rm a.txt' }, tool_use_id: 't' }
  claudeHook(s, 'PreToolUse', call, { env })
  s.write({ 'a.txt': '2' })
  claudeHook(s, 'PostToolUse', call, { env })
  expect(rowsOf(s).map(({ reason, moment }) => [reason, moment])).toEqual([
    ['Bash', null],
    ['You: a prompt', null],
  ])
  const withKey = JSON.parse(s.run(['list', '--json'], { env }).stdout) as { checkpoints: unknown }
  expect(withKey.checkpoints).toMatchObject([{ moment: 'after' }, { moment: 'before' }])
})

test('--before refuses to go further back than just before the call', () => {
  using s = scratch({ 'a.txt': '1' })
  claudePrompt(s, 'Tidy up')
  claudeShell(s, 'echo 2 > a.txt')
  claudeShell(s, 'echo 3 > a.txt')
  s.run(['drop', '2', '-y'])
  const { code, stderr } = s.run(['rewind', '1', '--before', '-y'])
  const [call, prompt] = rowsOf(s).map(({ id }) => id)
  expect(code).toBe(2)
  expect(stderr).toContain(`The steps just before checkpoint ${call} are no longer kept.`)
  expect(stderr).toContain(`To go there: savestate rewind ${prompt}\n`)
  expect(readFileSync(inProject(s, 'a.txt'), 'utf8')).toBe('3\n')
})

const REMOVE = 'rm -rf src'

/** A prompt, an edit, then a harmful call. */
function damage(s: Scratch): void {
  claudePrompt(s, 'Tidy up')
  claudeShell(s, 'echo 2 > src/a.txt')
  claudeShell(s, REMOVE)
}

test('--before goes to just before the call; for a prompt it goes to the prompt itself', () => {
  using s = scratch({ 'src/a.txt': '1', 'b.txt': '1' })
  damage(s)
  const { id } = rowOf(s, `Bash: ${REMOVE}`)
  const dry = s.run(['rewind', id, '--before', '--dry-run'])
  expect(dry).toMatchObject({ code: 0, stdout: expect.stringContaining('+ src/a.txt') })
  const rewound = s.run(['rewind', id, '--before', '--yes']).stdout
  expect(steady(rewound)).toBe(
    'Rewound to just before "Bash: rm -rf src" (<id>): 1 file written. Undo with: savestate undo\n',
  )
  expect(readFileSync(inProject(s, 'src/a.txt'), 'utf8')).toBe('2\n')
  const prompt = s.run(['rewind', rowOf(s, 'You: Tidy up').id, '--before', '--yes']).stdout
  expect(steady(prompt)).toBe(
    "A prompt's row is already the folder before it.\n" +
      'Rewound to <id> (just now, before "You: Tidy up"): 1 file written. Undo with: savestate undo\n',
  )
  expect(readFileSync(inProject(s, 'src/a.txt'), 'utf8')).toBe('1')
})

test('a quoted call does not mention the ignored files that it changed', () => {
  using s = scratch({ 'a.txt': '1', '.gitignore': 'out/\n', 'out/x': '1' })
  claudePrompt(s, 'Tidy up')
  claudeShell(s, 'rm -rf out')
  expect(rowsOf(s)[0]?.reason).toBe('Bash: rm -rf out (changed only ignored files: out/)')
  s.write({ 'a.txt': '2' })
  expect(steady(s.run(['rewind', '1', '--yes']).stdout)).toContain(
    'Rewound to <id> (just now, after "Bash: rm -rf out"): 1 file written.',
  )
})

test('--before with one path restores only that path', () => {
  using s = scratch({ 'src/a.txt': '1', 'src/b.txt': '1' })
  damage(s)
  const { id } = rowOf(s, `Bash: ${REMOVE}`)
  expect(s.run(['rewind', id, '--before', '--path', 'src/b.txt', '--yes']).code).toBe(0)
  expect(readdirSync(inProject(s, 'src'))).toEqual(['b.txt'])
})

test('--before --keep-mine keeps the changes of the user', () => {
  using s = scratch({ 'src/a.txt': '1', 'b.txt': '1' })
  damage(s)
  s.write({ 'b.txt': 'mine' })
  const { id } = rowOf(s, `Bash: ${REMOVE}`)
  expect(s.run(['rewind', id, '--before', '--keep-mine', '--yes']).code).toBe(0)
  expect([
    readFileSync(inProject(s, 'src/a.txt'), 'utf8'),
    readFileSync(inProject(s, 'b.txt'), 'utf8'),
  ]).toEqual(['2\n', 'mine'])
})

test('--before the first checkpoint fails, and the error names the command for the checkpoint itself', () => {
  using s = scratch({ 'a.txt': '1' })
  s.run(['save', '-m', 'first'])
  const { id } = rowOf(s, 'first')
  expect(s.run(['rewind', '1', '--before', '--yes'])).toEqual({
    code: 2,
    stdout: '',
    stderr:
      `Error: Checkpoint ${id} is the first of this project: nothing was saved before it.\n` +
      `Go back to the checkpoint itself, without --before: savestate rewind ${id}\n`,
  })
})

test('the SDK rewinds to before a call and to before a step of a session', async () => {
  using s = scratch({ 'src/a.txt': '1' })
  damage(s)
  const store = await sdk.openStore({ home: s.home })
  const project = await store.project(s.project)
  const { id } = rowOf(s, `Bash: ${REMOVE}`)
  const result = await project.rewind(id, { before: true })
  expect(result.to).toMatchObject({
    reason: 'Bash: echo 2 > src/a.txt',
    moment: 'after',
    number: 2,
  })
  const session = await store.session<{ n: number }>('coder', { project })
  await session.save({ state: { n: 1 } })
  const second = await session.save({ state: { n: 2 } })
  await session.rewind(second.id, { before: true, restore: 'state' })
  expect(await session.stateAt()).toEqual({ n: 1 })
  await store.close()
})

test('--before fails without the key, which is needed to read the metadata', () => {
  using s = scratch({ 'a.txt': '1' })
  const env = { SAVESTATE_KEY: KEY }
  claudeHook(s, 'UserPromptSubmit', { prompt: 'Tidy up', prompt_id: 'p' }, { env })
  expect(s.run(['rewind', '1', '--before', '--yes'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('no key was given'),
  })
  expect(s.run(['rewind', '1', '--before', '--yes'], { env }).code).toBe(0)
})

test('each question names its target: number, id, age, description, and before or after', async () => {
  using s = scratch({ 'src/a.txt': '1' })
  damage(s)
  s.write({ 'new.txt': 'new' })
  const before = onTerminal(s, 'savestate rewind 1 --before')
  // The new file is the user's.
  await before.shows('? [k/o/S]')
  before.type('s\n')
  expect(await before.ended).toBe(1)
  expect(steady(before.output())).toMatch(
    /^Will be written[^]*Go back to just before "Bash: rm -rf src" \(\d+ · <id> · just now\)\? \[k\/o\/S\]/,
  )
  const forward = onTerminal(s, 'savestate rewind 2')
  await forward.shows('? [k/o/S]')
  forward.type('o\n')
  expect(await forward.ended).toBe(0)
  expect(steady(forward.output())).toContain(
    'Go back to 2 · <id> · just now · after "Bash: echo 2 > src/a.txt"? [k/o/S]',
  )
  for (const [command, verb] of [
    ['undo', 'Undo'],
    ['redo', 'Repeat'],
  ]) {
    const back = onTerminal(s, `savestate ${command}`)
    await back.shows('? [y/N]')
    back.type('y\n')
    expect(await back.ended).toBe(0)
    expect(steady(back.output())).toContain(
      `${verb} the rewind to <id> (after "Bash: echo 2 > src/a.txt"), just now? [y/N]`,
    )
  }
})

test('a long question is wrapped between words', async () => {
  using s = scratch({ 'a.txt': '1' })
  s.run(['save', '-m', 'the state of everything before the long refactoring of the parser'])
  s.write({ 'a.txt': '2' })
  const terminal = onTerminal(s, 'stty cols 60; savestate rewind 1')
  await terminal.shows('[y/N]')
  terminal.type('n\n')
  expect(await terminal.ended).toBe(1)
  const lines = terminal.output().split('\r\n')
  expect(lines.every((line) => line.length <= 60)).toBe(true)
  expect(steady(lines.join(' '))).toContain('refactoring of the')
  expect(terminal.output()).toMatch(/"\? \[y\/N\] /)
})

test('a killed rewind is finished by the next command and cannot be repeated by number', () => {
  using s = scratch({ 'a.txt': '1' })
  s.run(['save', '-m', 'wanted'])
  s.write({ 'a.txt': '2' })
  const env = { SAVESTATE_FAILPOINT: 'apply:staged' }
  expect(s.run(['rewind', '1', '--yes'], { env }).code).not.toBe(0)
  const listed = s.run(['list'])
  expect(listed.stderr).toContain('An interrupted rewind has been finished: rewind to ')
  expect(readFileSync(inProject(s, 'a.txt'), 'utf8')).toBe('1')
  execFileSync('rm', [inProject(s, 'a.txt')])
  expect(s.run(['undo', '--yes']).code).toBe(0)
  expect(existsSync(inProject(s, 'a.txt'))).toBe(true)
})
