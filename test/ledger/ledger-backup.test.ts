// The backup of the ledger: when it is made, what it holds, and that it never outlives what the user removed.
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Scratch, scratch, sdk } from '../support/scratch.js'

const DAY_MS = 24 * 3_600_000

function backupIn(s: Scratch): string {
  return join(s.home, 'ledger.db.backup')
}

test('a prune writes it with mode 0600, at most once a day', async () => {
  await using s = await scratch({ files: { 'a.txt': 'one' } })
  let nowMs = Date.parse('2026-01-01T00:00:00Z')
  const store = await sdk.openStore({
    home: s.home,
    clock: { nowMs: () => nowMs, random: (bytes) => randomBytes(bytes) },
  })
  const project = await store.project(s.project)
  await project.save()
  expect(existsSync(backupIn(s))).toBe(false)
  await store.prune()
  const first = statSync(backupIn(s))
  expect([first.mode & 0o777, first.mtimeMs]).toEqual([0o600, nowMs])
  nowMs += DAY_MS - 1
  await store.prune()
  expect(statSync(backupIn(s)).ino).toBe(first.ino)
  nowMs += 1
  await store.prune()
  expect(statSync(backupIn(s)).mtimeMs).toBe(nowMs)
  expect((await store.verify()).problems).toEqual([])
  await store.close()
})

test.each(['clear', 'drop', 'forget'] as const)('%s deletes it', async (command) => {
  await using s = await scratch({ files: { 'a.txt': 'one' } })
  const store = await s.open()
  const project = await store.project(s.project)
  const { id } = await project.save({ reason: 'a-reason-to-remove' })
  await store.prune()
  expect(readFileSync(backupIn(s), 'latin1')).toContain('a-reason-to-remove')
  if (command === 'clear') await project.clear({})
  else if (command === 'drop') await project.drop([id])
  else await project.forget('a.txt')
  expect(existsSync(backupIn(s))).toBe(false)
})

test('a backup that cannot be written does not fail the prune, and is recorded', async () => {
  await using s = await scratch({ files: { 'a.txt': 'one' } })
  const store = await s.open()
  await (await store.project(s.project)).save()
  // A folder cannot be replaced by a file.
  mkdirSync(`${backupIn(s)}.tmp`)
  expect(await store.prune()).toMatchObject({ applied: true })
  const { failures } = await sdk.doctorStore({ home: s.home, version: 'test' })
  expect(failures).toMatchObject([{ operation: 'backup' }])
})

test.each(['missing', 'not a database'])(
  'a ledger that is %s is restored from it, including sessions and states',
  async (how) => {
    await using s = await scratch({ files: { 'a.txt': 'one' } })
    const store = await s.open()
    const session = await store.session('task')
    await session.save({ state: { said: 'before the backup' } })
    await (await store.project(s.project)).save({ name: 'first' })
    await store.prune()
    s.write({ 'a.txt': 'two' })
    await (await store.project(s.project)).save({ name: 'second', reason: 'newer' })
    await store.close()
    for (const ending of ['-wal', '-shm', ''])
      rmSync(join(s.home, `ledger.db${ending}`), { force: true })
    if (how !== 'missing')
      writeFileSync(join(s.home, 'ledger.db'), 'x'.repeat(9000), { mode: 0o600 })
    const { problems } = await sdk.repairStore({ home: s.home })
    expect(problems).toEqual([])
    const again = await s.open()
    expect(await (await again.session('task', { lease: false })).stateAt()).toEqual({
      said: 'before the backup',
    })
    const checkpoints = await (await again.project(s.project)).list()
    // The name of the newer one was in its row only.
    expect(checkpoints.map(({ name, reason }) => [name, reason])).toEqual([
      [null, 'newer'],
      ['first', null],
    ])
  },
)

test('it is not written if it would bring the store over its limit, and deleted before history is', async () => {
  await using s = await scratch({ files: { 'a.txt': 'one' } })
  const store = await s.open()
  const session = await store.session('task')
  await session.save({ state: { text: 'x'.repeat(300_000) } })
  await store.prune()
  const withBackup = (await store.status()).sizeBytes
  const maxSizeMb = (withBackup - 100_000) / 1e6
  expect(await store.prune({ maxSizeMb })).toMatchObject({ deletedCheckpoints: 0, above: null })
  expect(existsSync(backupIn(s))).toBe(false)
})
