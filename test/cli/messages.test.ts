// Messages after mistakes that new users make: each says what happened and what to do.
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { prepared, type Scratch, scratch } from './program.js'

const saved = prepared(() => {
  const s = scratch({ 'a.txt': 'one\n' })
  s.run(['save', '-m', 'first'])
  s.write({ 'a.txt': 'two\n' })
  s.run(['save', '-m', 'second'])
  s.write({ 'a.txt': 'three\n' })
  return s
})

function errorOf(s: Scratch, ...args: string[]): string {
  const { code, stdout, stderr } = s.run(args)
  expect({ args, code, stdout }).toEqual({ args, code: 2, stdout: '' })
  return stderr
}

const LIST = '`savestate list` shows the checkpoints of this project.\n'

test('the message for an unknown reference depends on its form', () => {
  using s = saved()
  expect(
    ['999', '0', 'HEAD', 'HEAD~1', '@', '@~2', 'HEAD^^', 'zz', 'zzzz'].map((ref) =>
      errorOf(s, 'show', ref).replace(LIST, ''),
    ),
  ).toEqual([
    'Error: There is no checkpoint 999: the numbers go from 1 (the newest) to 2.\n',
    'Error: "0" is not a checkpoint: numbers start at 1, the newest.\n',
    'Error: "HEAD" is not a checkpoint: numbers start at 1, the newest. Type 1 instead.\n',
    'Error: "HEAD~1" is not a checkpoint: numbers start at 1, the newest. Type 2 instead.\n',
    'Error: "@" is not a checkpoint: numbers start at 1, the newest. Type 1 instead.\n',
    'Error: "@~2" is not a checkpoint: numbers start at 1, the newest. Type 3 instead.\n',
    'Error: "HEAD^^" is not a checkpoint: numbers start at 1, the newest. Type 3 instead.\n',
    'Error: No checkpoint has the name "zz", and an id needs at least 4 letters.\n',
    'Error: No checkpoint has the name "zzzz" or an id starting with it.\n',
  ])
  expect(errorOf(s, 'rewind', '-1')).toContain('-1 is not a checkpoint: numbers start at 1')
})

test('diff alone is the diff since the newest checkpoint', () => {
  using s = saved()
  expect(s.run(['diff'])).toEqual(s.run(['diff', '1']))
  expect(s.run(['diff', '--stat', '--', 'a.txt']).stdout).toContain('a.txt')
  using empty = scratch()
  expect(errorOf(empty, 'diff')).toContain('Nothing has been saved in this folder yet')
})

test('a path that is nowhere gets a hint for the command line', () => {
  using s = saved()
  expect(errorOf(s, 'rewind', '1', '--path', 'nosuch.txt', '-y')).toBe(
    'Error: Neither the folder nor the checkpoint has nosuch.txt.\n' +
      'Check the spelling. Paths are relative to the current folder, or to DIR with `-C DIR`.\n',
  )
})

test('the message for a store that is a file says so', () => {
  using s = scratch({ 'a.txt': 'one\n' })
  const file = join(s.folder, 'file')
  writeFileSync(file, '')
  for (const home of [file, join(file, 'below')]) {
    expect(s.run(['list'], { env: { SAVESTATE_HOME: home } }).stderr).toBe(
      `Error: The store ${home} cannot be created: ${file} is a file.\n` +
        'Choose a folder for the store with SAVESTATE_HOME.\n',
    )
  }
})

/** A git with the given answers; for everything else the real one, or none. */
function withGit(s: Scratch, version: string, otherwise: string): { readonly PATH: string } {
  const bin = join(s.folder, 'git-bin')
  mkdirSync(bin, { recursive: true })
  const script = `#!/bin/sh\nfor word; do [ "$word" = --version ] && { echo "git version ${version}"; exit; }; done\n${otherwise}\n`
  writeFileSync(join(bin, 'git'), script)
  chmodSync(join(bin, 'git'), 0o755)
  return { PATH: `${bin}:${s.environment['PATH'] ?? ''}` }
}

test('an old git that fails on an existing store is reported as too old', () => {
  using s = saved()
  const old = withGit(s, '2.25.1', 'echo "unknown option" >&2; exit 129')
  for (const args of [['diff', '1'], ['save'], ['rewind', '1', '-y'], ['prune', '-y']])
    expect({ args, ...s.run(args, { env: old }) }).toEqual({
      args,
      code: 2,
      stdout: '',
      stderr: 'Error: git is too old: git version 2.25.1.\nInstall git 2.34 or newer.\n',
    })
  const other = withGit(s, '2.50.0', 'echo "unknown option" >&2; exit 129')
  expect(s.run(['diff', '1'], { env: other }).stderr).toContain('failed')
})

test('a store that was made without git is not reported as damaged', () => {
  using s = scratch()
  const env = { PATH: join(s.folder, 'empty') }
  expect(s.run(['install', 'claude', '-y'], { env }).code).toBe(2)
  const { stdout } = s.run(['doctor'], { env })
  expect(stdout).toContain('\nVerify:    not possible without git\n')
  expect(stdout).not.toContain('damage')
})

test('doctor works without git and with an old one, and says so', () => {
  using s = saved()
  const nowhere = { PATH: join(s.folder, 'empty') }
  const without = s.run(['doctor'], { env: nowhere })
  expect(without).toMatchObject({ code: 0, stderr: '' })
  expect(without.stdout).toContain(', git none, ')
  expect(without.stdout).toContain(
    '\nGit:       The git program could not be started. Install git 2.34 or newer and make sure it is on the PATH.\n',
  )
  expect(without.stdout).toContain('\nVerify:    not possible without git\n')
  const failing = 'echo "unknown option" >&2; exit 129'
  const old = s.run(['doctor'], { env: withGit(s, '2.25.1', failing) })
  expect(old).toMatchObject({ code: 0, stderr: '' })
  expect(old.stdout).toContain(', git 2.25.1, ')
  expect(old.stdout).toContain(
    '\nGit:       git is too old: git version 2.25.1. Install git 2.34 or newer.\n',
  )
  expect(s.json(['doctor'])).toMatchObject({ gitProblem: null, isVerified: true })
})

test('save without git reports that git is missing, and loses nothing', () => {
  using s = saved()
  const { code, stdout, stderr } = s.run(['save'], { env: { PATH: join(s.folder, 'empty') } })
  expect({ code, stdout, stderr }).toEqual({
    code: 2,
    stdout: '',
    stderr:
      'Error: The git program could not be started.\n' +
      'Install git 2.34 or newer and make sure it is on the PATH.\n',
  })
  expect(s.json(['save'])).toMatchObject({ created: true })
})
