// Commands and options as users guess them: aliases work, and other guesses get the command to type instead.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { COMMAND_EFFECTS } from '../../../src/base/index.js'
import { parse } from '../../../src/cli/args/parse.js'
import { aliasesOf, COMMAND_NAMES, findCommand } from '../../../src/cli/args/commands-table.js'
import { scratch, steady } from '../program.js'

test('an alias accepts all options of its command', () => {
  using s = scratch({ 'a.txt': 'one\n' })
  s.run(['save', '--message', 'first'])
  s.write({ 'a.txt': 'two\n' })
  const steadyRun = (...args: string[]) => {
    const { stdout, ...others } = s.run(args)
    return { ...others, stdout: steady(stdout) }
  }
  expect(steadyRun('back', '1', '--dry-run')).toEqual(steadyRun('rewind', '1', '--dry-run'))
  expect(steadyRun('log', '-n', '1')).toEqual(steadyRun('list', '--limit', '1'))
  expect(s.run(['ls']).stdout).toContain('first')
  expect(s.run(['tag', '1', 'works']).code).toBe(0)
  expect(s.run(['restore', 'works', '-y']).code).toBe(0)
  expect(readFileSync(join(s.project, 'a.txt'), 'utf8')).toBe('one\n')
  expect(s.run(['help', 'checkout'])).toEqual(s.run(['rewind', '--help']))
  expect(s.run(['rewind', '--help']).stdout).toContain('\nAliases: restore, back, checkout\n')
  for (const command of ['undo', 'redo'])
    expect(s.run([command, '--help']).stdout).toContain('later work on other files')
})

test('no alias is also a command, and each belongs to one command', () => {
  const words = Object.keys(COMMAND_EFFECTS).flatMap(aliasesOf)
  expect(new Set(words).size).toBe(words.length)
  expect(words.filter((word) => COMMAND_NAMES.some((name) => name === word))).toEqual([])
  for (const name of COMMAND_NAMES)
    expect(aliasesOf(name).map(findCommand)).toEqual(aliasesOf(name).map(() => name))
})

test('an agent cannot go back by an alias', () => {
  using s = scratch({ 'a.txt': 'one\n' })
  s.run(['save'])
  s.write({ 'a.txt': 'two\n' })
  const { code, stderr } = s.run(['restore', '1', '-y', '--json'], { env: { CLAUDECODE: '1' } })
  expect([code, JSON.parse(stderr)]).toMatchObject([2, { error: { code: 'NEEDS_PERSON' } }])
  expect(readFileSync(join(s.project, 'a.txt'), 'utf8')).toBe('two\n')
})

test('a known wrong word gets the command to type instead', () => {
  const faultOf = (...words: string[]) => parse(words).fault
  expect([
    faultOf('revert', '3'),
    faultOf('grep', 'login'),
    faultOf('commit'),
    faultOf('history', 'a.txt'),
    faultOf('restor', '1'),
    faultOf('xx'),
    faultOf('install', 'aider'),
    faultOf('install', 'claude-code'),
    faultOf('install', 'claud'),
    faultOf('save', 'hello', 'world'),
    faultOf('rewind', '-1'),
    faultOf('show', '-12'),
    faultOf('list', '-1'),
  ]).toEqual([
    'There is no command "revert". To go back to a checkpoint: `savestate rewind <ref>`; to undo the last rewind: `savestate undo`',
    'There is no command "grep". To search the checkpoints: `savestate search WORDS`',
    'There is no command "commit". To make a checkpoint: `savestate save -m "why"`',
    'There is no command "history". To see the checkpoints: `savestate list`; only those that changed a path: `savestate log PATH`',
    'There is no command "restor"; did you mean `restore`?',
    'There is no command "xx"',
    '"aider" is not one of claude, codex, gemini, opencode, cursor, cline, copilot, hermes. For any other agent or program: `savestate run -- aider`',
    '"claude-code" is not one of claude, codex, gemini, opencode, cursor, cline, copilot, hermes; did you mean claude?',
    '"claud" is not one of claude, codex, gemini, opencode, cursor, cline, copilot, hermes; did you mean claude?',
    'Unexpected argument "hello". To add a message: `savestate save -m "hello world"`',
    '-1 is not a checkpoint: numbers start at 1, the newest in `savestate list`',
    '-12 is not a checkpoint: numbers start at 1, the newest in `savestate list`',
    'There is no option "-1"',
  ])
})

test('paths after -- in a rewind mean --path', () => {
  const pathsOf = (...words: string[]) => parse(['rewind', '1', ...words]).options.texts('path')
  expect([pathsOf('--', 'src', '-x'), pathsOf('-p', 'a', '--path', 'b', '--', 'c')]).toEqual([
    ['src', '-x'],
    ['a', 'b', 'c'],
  ])
  // An empty variable after -- must not mean the whole folder.
  expect(parse(['rewind', '1', '--']).fault).toBe('A path is missing after --')
  expect(parse(['rewind', '1', '--both', '--', 'src']).fault).toBe(
    '--path and --both cannot be given together',
  )
  using s = scratch({ 'a.txt': 'one\n', 'src/b.txt': 'one\n' })
  s.run(['save'])
  s.write({ 'a.txt': 'two\n', 'src/b.txt': 'two\n' })
  expect(s.run(['rewind', '1', '-y', '--', 'src']).code).toBe(0)
  const contents = ['a.txt', 'src/b.txt'].map((path) => readFileSync(join(s.project, path), 'utf8'))
  expect(contents).toEqual(['two\n', 'one\n'])
})

test('--session names the session everywhere, and --of is the same', () => {
  using s = scratch({ 'a.txt': 'one\n' })
  s.run(['save', '--session', 'fix', '--name', 'here'])
  expect(s.run(['show', '1', '--session', 'fix'])).toEqual(s.run(['show', '1', '--of', 'fix']))
  expect(s.json(['fork', '1', '--session', 'fix', '--as', 'other'])).toMatchObject({ id: 'other' })
  const { code, stderr } = s.run(['fork', '1', '--session', 'new'])
  expect(code).toBe(2)
  expect(stderr).toContain('To choose the id of the new session: --as new')
})
