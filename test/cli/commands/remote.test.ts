// `savestate remote`: records remotes and contacts none. No output ever has the password of a URL.
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Ended, scratch } from '../program.js'

const PASSWORD = 's3cret-password'
const URL = `postgres://bob:${PASSWORD}@db.example.org:6543/agents`

function shown({ stdout, stderr }: Ended): string {
  expect(stdout + stderr).not.toContain(PASSWORD)
  return stdout + stderr
}

test('a remote is added, listed and removed; its key file is made, and its password never shown', () => {
  using s = scratch()
  const key = join(s.folder, 'user', 'key')
  expect(shown(s.run(['remote']))).toContain('nothing leaves this machine')
  const added = s.run(['remote', 'add', 'team', URL, '--key-file', '../user/key', '--auto-push'])
  expect([added.code, shown(added)]).toEqual([0, expect.stringContaining(`A new key is in ${key}`)])
  expect(readFileSync(key, 'utf8')).toMatch(/^[0-9a-f]{64}\n$/)
  const file = join(s.home, 'remotes.json')
  expect([statSync(key).mode & 0o777, statSync(file).mode & 0o777]).toEqual([0o600, 0o600])
  expect(readFileSync(file, 'utf8')).toContain(PASSWORD)
  expect(readFileSync(file, 'utf8')).not.toContain(readFileSync(key, 'utf8').trim())
  expect(s.run(['remote', 'add', 'own', '../own.git', '--plain']).code).toBe(0)
  const schema = ['--schema', 'blue', '--key-file', key]
  expect(shown(s.run(['remote', 'add', 'blue', URL, ...schema]))).toContain(`the one in ${key}`)
  expect(s.json(['remote', 'list'])).toEqual({
    remotes: [
      remote({ name: 'team', keyFile: key, autoPush: true }),
      remote({ name: 'own', kind: 'git', label: `file://${join(s.folder, 'own.git')}` }),
      remote({ name: 'blue', keyFile: key, schema: 'blue' }),
    ],
  })
  expect(
    shown(s.run(['remote']))
      .split('\n')
      .map((line) => line.split(/ {2,}/)),
  ).toEqual([
    ['team', 'db.example.org:6543/agents', 'encrypted', 'auto-push'],
    ['own', `file://${join(s.folder, 'own.git')}`, 'not encrypted'],
    ['blue', 'db.example.org:6543/agents, schema blue', 'encrypted'],
    [''],
  ])
  expect(shown(s.run(['remote', 'remove', 'team']))).toContain('is forgotten')
  expect(s.json(['remote'])).toMatchObject({ remotes: [{ name: 'own' }, { name: 'blue' }] })
  expect(readFileSync(key, 'utf8')).toMatch(/^[0-9a-f]{64}\n$/)
})

function remote(fields: object): object {
  const defaults = { kind: 'postgres', label: 'db.example.org:6543/agents', keyFile: null }
  return { ...defaults, schema: null, autoPush: false, ...fields }
}

test('auto-push of a remote is switched on and off, and nothing else changes', () => {
  using s = scratch()
  const key = join(s.folder, 'user', 'key')
  for (const name of ['team', 'other'])
    expect(s.run(['remote', 'add', name, URL, '--key-file', key]).code).toBe(0)
  const other = remote({ name: 'other', keyFile: key })
  const before = readFileSync(join(s.home, 'remotes.json'), 'utf8')
  const on = remote({ name: 'team', keyFile: key, autoPush: true })
  expect(shown(s.run(['remote', 'set', 'team', '--auto-push']))).toBe(
    'The daemon pushes to team after each turn, from the projects that you have pushed from.\n',
  )
  expect(s.json(['remote', 'set', 'team', '--auto-push'])).toEqual(on)
  expect(s.json(['remote'])).toEqual({ remotes: [on, other] })
  expect(shown(s.run(['remote', 'set', 'team', '--no-auto-push']))).toBe(
    'The daemon no longer pushes to team.\n',
  )
  expect(readFileSync(join(s.home, 'remotes.json'), 'utf8')).toBe(before)
})

test('wrong arguments are refused, record nothing and show no password', () => {
  using s = scratch()
  const key = join(s.folder, 'user', 'key')
  expect(s.run(['remote', 'add', 'own', '/own.git', '--plain']).code).toBe(0)
  const before = readFileSync(join(s.home, 'remotes.json'), 'utf8')
  const wrong: readonly (readonly [readonly string[], string])[] = [
    [['add', 'team', URL], 'Say whether the remote is encrypted'],
    [['add', 'team', URL, '--plain', '--key-file', key], 'cannot be given together'],
    [['add', 'team'], 'URL is missing'],
    [['add'], 'NAME is missing'],
    [['add', URL, 'team', '--plain'], 'cannot be the name of a remote'],
    [['add', 'own', URL, '--key-file', key], 'There is a remote named own already'],
    [['add', 'x', `mysql://bob:${PASSWORD}@h/x`, '--plain'], 'not the URL of a remote'],
    [['add', 'x', '/a', '--plain', '--schema', 'a'], 'Only a PostgreSQL remote'],
    [['add', 'x', URL, '--plain', '--schema', 'a"b'], 'cannot be a schema'],
    [['add', 'x', URL, URL, '--plain'], 'takes fewer arguments'],
    [['add', 'x', URL, '--plain', '--no-auto-push'], 'does not take --no-auto-push'],
    [['set', 'own'], '--auto-push or --no-auto-push is missing'],
    [['set', 'own', '--auto-push', '--no-auto-push'], 'cannot be given together'],
    [['set', 'own', '--auto-push', '--plain'], 'does not take --plain'],
    [['set', 'team', '--auto-push'], 'There is no remote team'],
    [['set', '--auto-push'], 'NAME is missing'],
    [['remove', URL], 'not the name of a remote'],
    [['remove', 'team'], 'There is no remote team'],
    [['remove', 'own', URL], 'takes fewer arguments'],
    [['list', '--plain'], 'does not take --plain'],
    [['remove', 'own', '--print-sql'], 'does not take --print-sql'],
    [[URL], 'is not one of list, add, set, init, remove'],
  ]
  for (const [args, message] of wrong) {
    const ended = s.run(['remote', ...args])
    expect([args, ended.code, shown(ended)]).toEqual([args, 2, expect.stringContaining(message)])
  }
  expect(readFileSync(join(s.home, 'remotes.json'), 'utf8')).toBe(before)
  expect(existsSync(key)).toBe(false)
})

test('a key file that others can read, or in the store, and a damaged remotes.json are refused', () => {
  using s = scratch()
  const open = join(s.folder, 'user', 'open')
  writeFileSync(open, `${'1f'.repeat(32)}\n`, { mode: 0o644 })
  const add = (key: string) => shown(s.run(['remote', 'add', 'team', URL, '--key-file', key]))
  expect(add(open)).toContain('Other users can read the key file')
  expect(add(join(s.home, 'key'))).toContain('is in the store')
  expect(existsSync(join(s.home, 'key'))).toBe(false)
  chmodSync(open, 0o600)
  writeFileSync(open, 'short')
  expect(add(open)).toContain('is not a key')
  expect(add(s.folder)).toContain('is not a file')
  const file = join(s.home, 'remotes.json')
  for (const text of ['{', '{"version":1,"remotes":[{"name":"a","url":"x"}]}', '[]']) {
    writeFileSync(file, text)
    expect(shown(s.run(['remote']))).toContain('is malformed')
  }
  writeFileSync(file, '{"version":2}')
  expect(s.run(['remote', '--json']).stderr).toContain('STORE_NEWER')
})

test('an emptied store keeps its remotes', () => {
  using s = scratch({ 'a.txt': 'one\n' })
  expect(s.run(['remote', 'add', 'own', '/own.git', '--plain']).code).toBe(0)
  expect(s.run(['save']).code).toBe(0)
  expect(s.run(['clear', '--all', '-y']).code).toBe(0)
  expect(s.json(['remote'])).toMatchObject({ remotes: [{ name: 'own' }] })
})
