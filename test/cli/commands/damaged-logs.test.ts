// Logs of a remote that a teammate has damaged: they are reported, and the other sessions of the remote are as usable as before.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createDatabase, type TestDatabase } from '../../support/postgres/index.js'
import { machine } from '../../support/sharing/two-machines.js'

let database: TestDatabase

beforeAll(async () => {
  database = await createDatabase()
})
afterAll(() => database.dispose())

test('sessions --remote, pull, verify and prune report a damaged log, and continue with the others', async () => {
  using a = machine(database.url)
  using b = machine(database.url)
  a.ok('remote', 'init')
  for (const id of ['good', 'torn', 'bad']) a.saveStep(id, 'one')
  a.ok('push')
  await database.sql(
    `UPDATE savestate.live SET card = convert_to(repeat('x', 1 << 20), 'UTF8')
      WHERE log = (SELECT key FROM savestate.logs WHERE id = 'bad')`,
  )
  await database.sql(
    `UPDATE savestate.segments SET body = 'x' WHERE log = (SELECT key FROM savestate.logs WHERE id = 'torn')`,
  )
  const listed = b.run(['sessions', '--remote'])
  expect(listed.stdout).toContain('good')
  expect(listed.stdout).not.toContain('bad')
  expect(listed.stderr).toContain('The session "bad" of the remote is damaged.')
  expect(listed.code).toBe(0)

  const pulled = JSON.parse(b.run(['pull', '--all', '--json']).stdout) as {
    pulled: { id: string; error: { code: string } | null }[]
  }
  expect(Object.fromEntries(pulled.pulled.map(({ id, error }) => [id, error?.code]))).toEqual({
    bad: 'STORE_DAMAGED',
    torn: 'STORE_DAMAGED',
    good: undefined,
  })
  expect(b.words('good')).toBe('one')

  const verified = JSON.parse(b.run(['verify', '--remote', '--json']).stdout) as object
  expect(verified).toMatchObject({
    sessions: 3,
    problems: ['bad', 'torn'].map((id) => ({ id, checkpoint: null, code: 'STORE_DAMAGED' })),
  })
  await database.sql(`DELETE FROM savestate.logs WHERE id = 'torn'`)
  expect(b.run(['prune', '--remote', 'team', '--yes']).code).toBe(0)
})
