// An index of attacks through the contents of a store, such as one copied from another user, with the required outcomes.
import { readdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { describe } from 'vitest'
import { storeGit } from '../snapshot/capture/capture-helpers.js'
import { blobOf, treeEntry, writeRawTree } from '../imports/hermes-folder.js'
import { DatabaseSync } from '../support/own-sqlite.js'
import { hashTree } from '../support/scratch.js'
import { outcome, type Target, testAttacks } from './attack-table.js'

describe('contents of a store', () => {
  const change = (path: string, sql: string) => {
    const database = new DatabaseSync(path)
    database.exec(sql)
    database.close()
  }
  /** The outcome of opening the store after a change of its ledger. */
  const planted = (sql: string) => async (target: Target) => {
    await target.store.close()
    change(join(target.home, 'ledger.db'), sql)
    return outcome(target.open())
  }
  testAttacks([
    [
      'a trigger in the ledger waits for the next save',
      planted(`CREATE TRIGGER planted AFTER INSERT ON checkpoints BEGIN
        DELETE FROM checkpoints; END`),
      'STORE_DAMAGED',
    ],
    [
      'a view in the ledger replaces a table',
      planted('ALTER TABLE notes RENAME TO n; CREATE VIEW notes AS SELECT * FROM n'),
      'STORE_DAMAGED',
    ],
    [
      'a virtual table in the ledger loads an extension of SQLite',
      planted('CREATE VIRTUAL TABLE words USING fts5(x)'),
      'STORE_DAMAGED',
    ],
    ['a ledger of a newer version', planted('PRAGMA user_version = 99'), 'STORE_NEWER'],
    [
      'a store of a newer format',
      async (target) => {
        await target.store.close()
        writeFileSync(join(target.home, 'format'), 'savestate 2\n')
        const before = hashTree(target.home)
        const code = await outcome(target.open())
        return [code, isDeepStrictEqual(hashTree(target.home), before)]
      },
      ['STORE_NEWER', true],
    ],
    [
      'a lock file contains a database with a table',
      async ({ home, project }) => {
        const locks = readdirSync(join(home, 'locks')).filter((name) => !name.endsWith('.owner'))
        for (const name of locks) {
          change(join(home, 'planted'), 'CREATE TABLE planted (n)')
          renameSync(join(home, 'planted'), join(home, 'locks', name))
        }
        return outcome(project.save())
      },
      'STORE_DAMAGED',
    ],
    [
      'a tree in the store contains a folder called ..',
      async (target) => {
        const { first, home, project } = target
        const objects = join(home, 'objects.git')
        const inner = writeRawTree(objects, treeEntry('100644', 'precious', blobOf(objects, 'x')))
        const files = writeRawTree(objects, treeEntry('40000', '..', inner))
        const { ref } = await project.show(first)
        const modes = storeGit(target, 'rev-parse', `${ref}:modes`).toString().trim()
        const both = [treeEntry('40000', 'files', files), treeEntry('100644', 'modes', modes)]
        const tree = writeRawTree(objects, Buffer.concat(both))
        change(join(home, 'ledger.db'), `UPDATE checkpoints SET tree = '${tree}'`)
        target.allowDamage()
        return outcome(project.rewind(first))
      },
      'STORE_DAMAGED',
    ],
  ])
})
