// A session that a prune has chosen and another process continues before it is removed.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { DatabaseSync } from '../../support/own-sqlite.js'
import { expect, test } from 'vitest'
import { setStore } from './prune-helpers.js'
import { scratch } from '../../support/scratch.js'

const CHILD = fileURLToPath(new URL('../../support/prune-child.mjs', import.meta.url))
const LONG_AGO = Date.now() - 90 * 86_400_000

test('a prune keeps a session that was saved while the prune waited for the ledger', async () => {
  await using s = await scratch()
  const store = await s.open()
  for (const id of ['old', 'touched']) {
    const session = await store.session<unknown>(id)
    await session.save({ state: id })
    await session.close()
  }
  await store.close()
  setStore(s, { retention: 'hermes' })
  const ledger = new DatabaseSync(join(s.home, 'ledger.db'))
  ledger.prepare('UPDATE sessions SET updated_at = ?').run(LONG_AGO)
  const child = spawn(process.execPath, [CHILD, JSON.stringify({ home: s.home, waits: true })], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  await once(child.stdout, 'data')
  // Another process is in the middle of a save, and has closed the session when the lock becomes free.
  ledger.exec('BEGIN IMMEDIATE')
  ledger.prepare(`UPDATE sessions SET updated_at = ? WHERE id = 'touched'`).run(Date.now())
  child.stdin.write('go\n')
  const [planned] = (await once(child.stdout, 'data')) as [Buffer]
  expect(String(planned)).toBe('planned\n')
  ledger.exec('COMMIT')
  ledger.close()
  const [printed] = (await once(child.stdout, 'data')) as [Buffer]
  await once(child, 'exit')
  const again = await s.open()
  expect((await again.sessions()).map(({ id }) => id)).toEqual(['touched'])
  const result = JSON.parse(String(printed)) as object
  expect(result).toMatchObject({ deletedSessions: 1, errors: [] })
})
