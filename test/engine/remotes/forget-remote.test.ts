// forget, then push and prune --remote: no pack on the remote has the contents any more.
import { createHash, randomBytes } from 'node:crypto'
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openStore } from '../../../src/index.js'
import { createDatabase } from '../../support/postgres/index.js'
import { machine } from '../../support/sharing/two-machines.js'

const SECRET = 'a password that must not leak\n'
/** As git names the file. */
const BLOB = createHash('sha1').update(`blob ${SECRET.length}\0${SECRET}`).digest('hex')

test('the remote still has a forgotten file until a push and a prune there, and no later', async () => {
  await using database = await createDatabase()
  using a = machine(database.url)
  using b = machine(database.url)
  const countPacks = async () => {
    const sql = `SELECT count(*)::int AS count FROM savestate.packs WHERE position($1::bytea IN body) > 0`
    return (await database.sql(sql, [Buffer.from(BLOB, 'hex')]))[0]?.['count']
  }
  a.ok('remote', 'init')
  await using store = await openStore({ home: a.home })
  const project = await store.project(a.project)
  const saveFile = async (id: string, n: number, secret: string | undefined) => {
    a.write({ 'f.txt': `${n}\n` })
    if (secret !== undefined) a.write({ 'secret.txt': secret })
    else rmSync(join(a.project, 'secret.txt'))
    const session = await store.session(id, { project })
    await session.save({ state: { n }, files: true })
    await session.close()
  }
  // With a large file, all packs are one chain.
  a.write({ 'large.bin': randomBytes(50_000).toString('hex') })
  await saveFile('fix', 1, SECRET)
  await saveFile('fix', 2, SECRET)
  // Its pack builds on one with the secret.
  await saveFile('fix', 3, undefined)
  a.ok('push')
  expect(await countPacks()).toBe(1)
  const full = 'SELECT count(*)::int AS count FROM savestate.packs WHERE parent IS NULL'
  expect(await database.sql(full)).toEqual([{ count: 1 }])

  const forgotten = a.run(['forget', 'secret.txt', '-y'])
  expect(forgotten.code).toBe(0)
  expect(forgotten.stderr).toContain(
    'The remote team still has it. To remove it there too: savestate push --remote team, then savestate prune --remote team',
  )
  expect(await countPacks()).toBe(1)
  a.ok('push')
  expect(a.ok('prune', '--remote', '-y')).toContain('of files removed that no checkpoint needs')
  expect(await countPacks()).toBe(0)
  expect(a.ok('push')).toBe('Nothing to send: team has everything.\n')

  expect(b.ok('verify', '--remote')).toContain('the files of 3 checkpoints read: all is intact.')
  b.ok('pull', 'fix', '--into', '.', '-y')
  expect(existsSync(join(b.project, 'f.txt'))).toBe(true)
  expect(existsSync(join(b.project, 'secret.txt'))).toBe(false)
})
