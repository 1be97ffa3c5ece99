// `remote init --print-sql`: an administrator runs it, and a role without the right to create anything works with the result.
import { expect, test } from 'vitest'
import { createDatabase } from '../../support/postgres/index.js'
import { machine } from '../../support/sharing/two-machines.js'

test('the printed SQL makes a remote in which the role can push, pull and delete', async () => {
  await using database = await createDatabase()
  const url = database.urlWith({ user: await database.createRole('secret'), password: 'secret' })
  const role = new URL(url).username
  using a = machine(url)
  expect(a.run(['remote', 'init']).stderr).toContain('savestate remote init --print-sql')
  const sql = a.ok('remote', 'init', '--print-sql', '--role', role)
  await database.sql(sql)
  // Once more changes nothing.
  await database.sql(sql)
  a.ok('remote', 'init', 'team')
  a.saveStep('fix', 'one')
  a.ok('handoff')
  using b = machine(url)
  b.ok('pull', 'fix')
  expect(b.words('fix')).toBe('one')
  b.ok('prune', '--remote', '-y')
  expect(b.ok('verify', '--remote')).toMatch(/all is intact\.\n$/)
})

test('the SQL is for PostgreSQL only, and of the remote that is named', () => {
  using a = machine('/nowhere.git')
  expect(a.run(['remote', 'init', '--print-sql'])).toEqual({
    code: 2,
    stdout: '',
    stderr: 'Error: A remote in a git repository needs no SQL.\nRun: savestate remote init team\n',
  })
  a.ok('remote', 'add', 'blue', 'postgres://127.0.0.1:1/nothing', '--plain', '--schema', 'blue')
  expect(a.run(['remote', 'init', '--print-sql']).stderr).toContain('Name one: team, blue.')
  const sql = a.ok('remote', 'init', 'blue', '--print-sql')
  expect(sql).toContain('CREATE SCHEMA IF NOT EXISTS "blue"')
  expect(sql).not.toContain('GRANT')
})
