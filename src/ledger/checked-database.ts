// Opens the ledger's database, and checks it before each write. The schema must still have a version that this program knows: a newer
// program may have migrated it (I8). The file must still be the one it opened: a write to a removed file would be lost silently.
import { existsSync, renameSync, statSync } from 'node:fs'
import { type Durability, SavestateError } from '../model/index.js'
import {
  type Database,
  isBusy,
  isCorrupt,
  isStatementFault,
  openDatabase,
  syncFolder,
} from '../system/index.js'
import { removeBackup } from './maintenance/backup.js'
import { ledgerFiles } from './ledger-files.js'
import { refuseHalfRescued } from './maintenance/rescue.js'
import { number } from './rows.js'
import { noteChanges } from './sharing/note-changes.js'
import { createTables, refuseOtherVersion, refuseOtherVersionInFile } from './schema.js'
import { allowShrinking } from './maintenance/vacuum.js'

/** The wait blocks the event loop. It is shorter than the time limit of a hook. */
const BUSY_MS = 8000
const WAL_PAUSE_MS = 10

export type CheckedDatabase = Database & {
  /**
   * Replaces the file by another one and opens that. The caller holds the exclusive lock of the store. Throws STORE_BUSY, and
   * changes nothing, if another connection has the file open despite the lock.
   */
  replaceBy(next: string): void
}

/** Throws STORE_NEWER, STORE_UNUSABLE, STORE_DAMAGED. */
export function openCheckedDatabase(home: string, durability: Durability): CheckedDatabase {
  const { ledger: path, log } = ledgerFiles(home)
  refuseHalfRescued(home)
  refuseOtherVersionInFile(path)
  let database = openFile(path, durability)
  let opened = inodeOf(path)
  let isInside = false
  let isNoting = false

  const transact = <T>(work: () => T): T =>
    database.transaction(() => {
      refuseOtherVersion(database)
      refuseReplaced(path, opened)
      isInside = true
      try {
        if (!isNoting) isNoting = noteChanges(database)
        return work()
      } finally {
        isInside = false
      }
    })
  const transaction = <T>(work: () => T): T => {
    try {
      return transact(work)
    } catch (error) {
      // The rollback also removes triggers that were created in it.
      isNoting = false
      throw error
    }
  }
  /** A query fails if a newer program has changed its tables. Then the version is the error to report. */
  const explainVersion = <T>(read: () => T): T => {
    try {
      return read()
    } catch (error) {
      if (isStatementFault(error)) refuseOtherVersion(database)
      throw error
    }
  }
  return {
    exec: (sql) => database.exec(sql),
    withBusyTimeout: (waitMs, work) => database.withBusyTimeout(waitMs, work),
    close: () => database.close(),
    abandon: () => database.abandon(),
    transaction,
    run: (sql, ...values) =>
      isInside
        ? database.run(sql, ...values)
        : transaction(() => explainVersion(() => database.run(sql, ...values))),
    get: (sql, ...values) => explainVersion(() => database.get(sql, ...values)),
    all: (sql, ...values) => explainVersion(() => database.all(sql, ...values)),
    replaceBy(next) {
      database.close()
      try {
        // SQLite removes the log when the last connection closes. The old log must not end up beside the new file.
        if (existsSync(log))
          throw new SavestateError('STORE_BUSY', 'Another program has the ledger open', {
            hint: 'Close it, then run the command again. Nothing has been changed.',
          })
        removeBackup(home)
        renameSync(next, path)
        syncFolder(home)
      } finally {
        database = openFile(path, durability)
        opened = inodeOf(path)
        isNoting = false
      }
    },
  }
}

/** Differs after any write to the ledger, by this connection or by another one. */
export function readChangeMark(database: Database): string {
  const own = database.get('SELECT total_changes() AS count')
  const others = database.get('PRAGMA file.data_version')
  return `${number(own ?? {}, 'count')} ${number(others ?? {}, 'data_version')}`
}

function openFile(path: string, durability: Durability): Database {
  let database: Database | undefined
  try {
    database = openDatabase(path, { timeoutMs: BUSY_MS })
    refuseOtherVersion(database)
    const isNew = database.get('SELECT 1 FROM file.sqlite_schema LIMIT 1') === undefined
    if (isNew) allowShrinking(database)
    useWriteAheadLog(database)
    database.exec(`PRAGMA file.synchronous = ${durability === 'fsync' ? 'FULL' : 'NORMAL'}`)
    createTables(database)
    database.exec('PRAGMA foreign_keys = ON')
    return database
  } catch (error) {
    database?.close()
    if (!isCorrupt(error)) throw error
    throw new SavestateError('STORE_DAMAGED', 'The ledger of the store is damaged', {
      hint: 'Run `savestate repair`. The files of every checkpoint are still in objects.git, an ordinary git repository.',
      cause: error,
    })
  }
}

/** Only a new store needs it. Retries, because SQLite's busy timeout does not apply to this change. */
function useWriteAheadLog(database: Database): void {
  for (
    let attempt = 1;
    database.get('PRAGMA file.journal_mode')?.['journal_mode'] !== 'wal';
    attempt++
  ) {
    try {
      database.exec('PRAGMA file.journal_mode = WAL')
    } catch (error) {
      if (!isBusy(error) || attempt > BUSY_MS / WAL_PAUSE_MS) throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, WAL_PAUSE_MS)
    }
  }
}

function refuseReplaced(path: string, opened: bigint | undefined): void {
  if (inodeOf(path) === opened) return
  throw new SavestateError(
    'STORE_UNUSABLE',
    `The ledger ${path} was removed or replaced while it was open`,
    { hint: 'Nothing has been saved. Put the store back if it was moved, and open it again.' },
  )
}

function inodeOf(path: string): bigint | undefined {
  return statSync(path, { bigint: true, throwIfNoEntry: false })?.ino
}
