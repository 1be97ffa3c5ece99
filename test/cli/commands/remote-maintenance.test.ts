// verify --remote and prune --remote, beside sessions that are in use.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openStore } from '../../../src/index.js'
import { openRemote } from '../../../src/remote/index.js'
import { createDatabase, type TestDatabase } from '../../support/postgres/index.js'
import { keyFile, machine, removeKeyFiles } from '../../support/sharing/two-machines.js'

let database: TestDatabase

beforeAll(async () => {
  database = await createDatabase()
})
afterAll(async () => {
  removeKeyFiles()
  await database.dispose()
})

test('verify --remote reads everything, and names what is damaged', async () => {
  using s = machine(database.url, { key: keyFile() })
  s.ok('remote', 'init')
  s.saveStep('good', 'one')
  s.saveStep('chain', 'one')
  s.ok('push')
  s.saveStep('chain', 'one two')
  s.ok('push')
  s.saveStep('files', 'one')
  s.ok('push')
  expect(s.ok('verify', '--remote', 'team')).toBe(
    'team: 3 sessions, 4 segments and the files of 4 checkpoints read: all is intact.\n',
  )
  const flip = `set_byte(body, 30, get_byte(body, 30) # 1)`
  const logOf = (id: string) => `(SELECT key FROM savestate.logs WHERE id = '${id}')`
  await database.sql(
    `UPDATE savestate.segments SET body = ${flip} WHERE log = ${logOf('chain')} AND n = 2`,
  )
  await database.sql(
    `UPDATE savestate.packs SET body = ${flip} WHERE id IN (SELECT pack FROM savestate.checkpoints WHERE log = ${logOf('files')})`,
  )
  const found = s.run(['verify', '--remote', '--json'])
  expect(found.code).toBe(2)
  const { problems } = JSON.parse(found.stdout) as { problems: object[] }
  expect(problems).toEqual([
    expect.objectContaining({ id: 'files', checkpoint: expect.any(String) }),
    expect.objectContaining({ id: 'chain', checkpoint: null }),
  ])
  // Nothing of it stays in the store.
  expect(s.run(['verify']).code).toBe(0)
  expect(s.shell(`ls ${s.home}`).stdout).not.toContain('temporary')
})

test('prune --remote applies the settings to sessions that no one has, and keeps the others', async () => {
  await using own = await createDatabase()
  using a = machine(own.url)
  using b = machine(own.url)
  a.ok('remote', 'init')
  for (const words of ['one', 'one two', 'one two three', 'one two three four']) {
    a.saveStep('free', words)
    a.saveStep('held', words)
  }
  await complete(a.home, 'free', 'held')
  a.ok('push', 'held')
  a.ok('handoff', 'free')
  const remote = await openRemote({ url: own.url })
  const owner = { host: 'laptop', pid: 12, boot: 'x', startedAt: '1', namespace: 'n' }
  const log = { kind: 'session', id: 'held' } as const
  const { fence } = (await remote.head(log)) ?? {}
  const holder = { owner, sinceMs: Date.now() }
  const held = await remote.take({
    log,
    holder,
    leaseMs: 3_600_000,
    ...(fence === undefined ? {} : { ifFence: fence }),
  })
  expect(held.taken).toBe(true)
  const steps = async (id: string) => (await remote.head({ kind: 'session', id }))?.card?.steps
  expect([await steps('free'), await steps('held')]).toEqual([5, 5])
  // One per day is kept.
  b.ok('config', 'set', 'keepAllHours', '0')
  b.ok('config', 'set', 'keepPromptsDays', '0')
  expect(b.ok('prune', '--remote', '--dry-run')).toContain('4 checkpoints to remove')
  const asked = b.run(['prune', '--remote'])
  expect([asked.code, asked.stderr]).toEqual([2, expect.stringContaining('This needs a yes')])
  expect(await steps('free')).toBe(5)
  const done = b.ok('prune', '--remote', '-y')
  expect(done).toMatch(/^team: 4 checkpoints removed, .*1 session in use stayed as they are\.\n$/)
  expect(await steps('held')).toBe(5)
  b.ok('pull', 'free')
  b.ok('pull', 'held')
  expect(JSON.parse(b.ok('export', '--session', 'free'))).toHaveLength(1)
  expect(JSON.parse(b.ok('export', '--session', 'held'))).toHaveLength(5)
  expect(b.words('free')).toBe('one two three four done')
  expect(b.ok('verify', '--remote')).toContain('all is intact')
  // The one who had them all gets the removal.
  a.ok('pull')
  expect(JSON.parse(a.ok('export', '--session', 'free'))).toHaveLength(1)
  await remote.close()
})

/** Retention keeps everything of a session in progress. */
async function complete(home: string, ...ids: readonly string[]): Promise<void> {
  const store = await openStore({ home })
  for (const id of ids) {
    const session = await store.session(id)
    await session.append('messages', [{ role: 'user', content: 'done' }], { status: 'completed' })
    await session.close()
  }
  await store.close()
}
