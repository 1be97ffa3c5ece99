// A ledger is data that may come from someone else: a trigger, a view or a virtual table in it must not run (finding 10 of the
// security review).
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { DatabaseSync } from '../support/own-sqlite.js'
import { type Scratch, scratch, sdk } from '../support/scratch.js'

/** Each of them leaves a row in `ran` if a statement of ours reaches it. */
const PLANTED: Readonly<Record<string, string>> = {
  'a trigger that runs an FTS5 MATCH': `
    CREATE VIRTUAL TABLE words USING fts5(x); INSERT INTO words VALUES ('crafted');
    CREATE TRIGGER planted AFTER INSERT ON checkpoints BEGIN
      INSERT INTO ran SELECT count(*) FROM words WHERE words MATCH 'crafted'; END`,
  'a view in place of a table': `
    ALTER TABLE notes RENAME TO notes_before;
    CREATE VIEW notes AS SELECT key, value, expires_at FROM notes_before`,
  'a virtual table': 'CREATE VIRTUAL TABLE words USING fts5(x)',
}

function change(path: string, sql: string): void {
  const database = new DatabaseSync(path)
  database.exec(sql)
  database.close()
}

async function savedTwice(s: Scratch): Promise<void> {
  const store = await s.open()
  const project = await store.project(s.project)
  await project.save({ reason: 'one' })
  s.write({ a: '2' })
  await project.save({ reason: 'two' })
  await store.close()
}

test.each(Object.keys(PLANTED))(
  '%s in the ledger is rejected, reported and repaired',
  async (name) => {
    await using s = await scratch({ files: { a: '1' } })
    await savedTwice(s)
    const ledger = join(s.home, 'ledger.db')
    change(ledger, `CREATE TABLE ran (n); ${PLANTED[name]}`)
    const refused = { code: 'STORE_DAMAGED', message: expect.stringContaining('did not create') }
    await expect(s.open()).rejects.toMatchObject(refused)
    const { problems } = await sdk.verifyStore({ home: s.home, inProcess: true })
    expect(problems).toContainEqual(
      expect.objectContaining({ kind: 'ledger', repairable: true, message: refused.message }),
    )
    const repaired = await sdk.repairStore({ home: s.home, inProcess: true })
    expect(repaired).toMatchObject({ applied: true, problems: [] })
    const store = await s.open()
    const checkpoints = await (await store.project(s.project)).list()
    expect(checkpoints.map(({ reason }) => reason)).toEqual(['two', 'one'])
  },
)

test('a lock file that holds a database is refused, and a repair sets it aside', async () => {
  await using s = await scratch({ files: { a: '1' } })
  await savedTwice(s)
  const lock = join(s.home, 'locks', 'objects')
  writeFileSync(lock, '')
  change(lock, 'CREATE TABLE planted (n)')
  const { problems } = await sdk.verifyStore({ home: s.home, inProcess: true })
  expect(problems).toMatchObject([{ kind: 'lock', repairable: true }])
  expect((await sdk.repairStore({ home: s.home, inProcess: true })).problems).toEqual([])
})
