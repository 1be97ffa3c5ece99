// Names and messages with terminal escapes, and paths that are not text.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { scratch } from './program.js'

// biome-ignore format: one expression
const ACTING = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u202e]/

test('hostile names and reasons are shown, and do nothing', () => {
  using s = scratch({ '\u001b]0;pwned\u0007\n\u009b31m.txt': 'one\n', 'a\u202eb.txt': 'two\n' })
  s.run(['save', '-m', 'why \u001b[2J\u009b31m\r\u202e\nnot'])
  s.write({ '\u001b]0;pwned\u0007\n\u009b31m.txt': 'changed\n', 'new\u001b[31m': 'x' })
  for (const args of [
    [],
    ['list'],
    ['list', '--all'],
    ['show', '1'],
    ['rewind', '1', '--dry-run'],
    ['list', '--json'],
    ['show', '1', '--json'],
    ['show', 'no\u001b[31m\u009b'],
    ['no\u001b[31m\u009b'],
    ['list', '--no\u001b[31m\u009b'],
    ['diff', '1', '--', '/\u001b[31m\u009b'],
    ['-C', '/\u001b[31m\u009b', 'list'],
    ['diff', '1', '--stat'],
  ]) {
    const { stdout, stderr } = s.run(args)
    expect({ args, acting: ACTING.exec(stdout + stderr)?.[0] }).toEqual({ args, acting: undefined })
  }
  expect(s.run(['list']).stdout).toContain('why \\x1b[2J\\x9b31m \\u{202e} not')
  expect(s.run(['rewind', '1', '--dry-run']).stdout).toContain(
    '  - "new\\033[31m"  (file created later)',
  )
  expect(s.json(['list'])).toMatchObject({
    checkpoints: [{ reason: 'why \u001b[2J\u009b31m\r\u202e\nnot' }],
  })
})

test('hostile ids of sessions are shown, and do nothing', () => {
  using s = scratch({ 'a.txt': 'one\n' })
  const id = 'evil\u001b]0;pwned\u0007\n\u009b31m\u202e'
  const other = 'other\u001b[2J'
  for (const session of [id, other]) {
    s.run(['save', '--session', session, '--state', '-'], { input: '{"k\\u001b[31m": "\\u009b"}' })
  }
  for (const args of [
    ['list'],
    ['list', '--session', id, '--limit', '1'],
    ['sessions'],
    ['sessions', '--json'],
    ['show', '1'],
    ['show', '1', '--of', id],
    ['resume', id],
    ['resume', id, '--json'],
    ['resume', `${id}x`],
    ['fork', '1'],
    ['rewind', '1', '--state'],
    ['rewind', '1', '--of', id, '--state', '--dry-run'],
    ['export'],
    ['export', '--session', id],
    ['export', '--session', id, '--format', 'yaml'],
    ['save', '--session', id, '--state', id],
    ['import', 'json', id, '--session', id],
    ['import', id, id, '--session', id],
    ['sessions', '--status', id],
  ]) {
    const { stdout, stderr } = s.run(args)
    expect({ args, acting: ACTING.exec(stdout + stderr)?.[0] }).toEqual({ args, acting: undefined })
  }
  expect(s.json(['sessions', '--status', 'in_progress'])).toMatchObject({
    sessions: [{ id: `${other}-fork-1` }, { id: other }, { id }],
  })
})

test('a state is read from a file with any name', () => {
  using s = scratch()
  const save = `savestate save --session x --no-files --state "$(printf 's\\377')"`
  const load = `savestate import json "$(printf 'e\\377')" --session y`
  const script = `
    printf '{"a":1}' > "$(printf 's\\377')" && ${save} &&
    savestate export --session x > "$(printf 'e\\377')" && ${load}`
  expect(s.shell(script)).toMatchObject({ code: 0, stderr: '' })
  expect(s.json(['resume', 'y'])).toMatchObject({ state: { a: 1 } })
})

test('a path with any bytes can be given and restored', () => {
  using s = scratch({ 'other.txt': 'other\n' })
  const odd = Buffer.from([0x61, 0xff, 0x0a, 0xe4, 0x62])
  const path = Buffer.concat([Buffer.from(`${s.project}/`), odd])
  writeFileSync(path, 'one\n')
  s.run(['save'])
  writeFileSync(path, 'two\n')
  s.write({ 'other.txt': 'changed\n' })
  const name = `"$(printf 'a\\377\\n\\344b')"`
  expect(s.shell(`savestate diff 1 --json -- ${name}`).stdout).toContain(
    '"path": "\\"a\\\\377\\\\n\\\\344b\\""',
  )
  const rewound = s.shell(`savestate rewind 1 --yes --path=${name}`)
  expect(rewound).toMatchObject({ code: 0, stderr: '' })
  expect(rewound.stdout).toContain(': 1 file written.')
  expect(readFileSync(path, 'utf8')).toBe('one\n')
  expect(readFileSync(join(s.project, 'other.txt'), 'utf8')).toBe('changed\n')
})

test('a diff of a path with any bytes does not show a similar path', () => {
  using s = scratch({ bX: 'one\n' })
  const path = Buffer.from(`${s.project}/b\xff`, 'latin1')
  writeFileSync(path, 'one\n')
  s.run(['save'])
  writeFileSync(path, 'two\n')
  s.write({ bX: 'two\n' })
  const stat = s.shell(`savestate diff 1 --stat -- "$(printf 'b\\377')"`)
  expect(stat.stdout).toContain(' 1 file changed')
  expect(stat.stdout).not.toContain('bX')
})

test('a path is accepted in its printed form', () => {
  using s = scratch({ 'a\nb.txt': 'one\n', '"q".txt': 'one\n' })
  s.run(['save', '--name', 'first'])
  s.write({ 'a\nb.txt': 'two\n', '"q".txt': 'two\n' })
  const printed = /^ {2}~ (".*") {2}/m.exec(s.run(['rewind', '1', '--dry-run']).stdout)?.[1]
  expect(printed).toBe('"\\"q\\".txt"')
  const run = (path: string) => s.run(['rewind', 'first', '--yes', '--path', path]).stdout
  expect(run('"a\\nb.txt"')).toContain('1 file written')
  expect(run('./"q".txt')).toContain('1 file written')
  expect(readdirSync(s.project).map((name) => readFileSync(join(s.project, name), 'utf8'))).toEqual(
    ['one\n', 'one\n'],
  )
})

test('bytes that are not UTF-8 in a message or a reference do not crash a command', () => {
  using s = scratch({ 'a.txt': 'one\n' })
  expect(s.shell(`savestate save -m "$(printf 'caf\\351')"`).code).toBe(0)
  expect(s.json(['list'])).toMatchObject({ checkpoints: [{ reason: 'caf\ufffd' }] })
  expect(s.shell(`savestate show "$(printf 'caf\\351')"`).code).toBe(2)
  expect(s.shell(`savestate "$(printf '\\377')"`).code).toBe(2)
})

test('in a folder whose path is not UTF-8 a command finds the project above it', () => {
  using s = scratch({ 'package.json': '{}' })
  const enter = `mkdir -p "$(printf 'x\\377')" && cd "$(printf 'x\\377')" && touch f`
  const saved = s.shell(`${enter} && savestate save`)
  expect(saved).toMatchObject({ code: 0, stderr: '' })
  expect(saved.stdout).toContain('2 files changed')
  expect(s.json(['status'])).toMatchObject({ projects: [{ path: s.project }] })
})
