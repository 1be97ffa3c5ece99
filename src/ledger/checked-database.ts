// The ledger's database, opened and checked. Before each write it checks that the file is still the one it opened and has a version
// that this program knows: a newer program may have migrated it (I8), and a write to a file that was removed or replaced
// would be reported as saved and be lost.
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
import { createTables, refuseOtherVersion, refuseOtherVersionInFile } from './schema.js'
import { allowShrinking } from './maintenance/vacuum.js'

/** It blocks the event loop, and is shorter than the time in which a hook must answer. */
const BUSY_MS = 8000
const WAL_PAUSE_MS = 10

export type CheckedDatabase = Database & {
  /**
   * Replaces the file by another one, and opens that. The caller holds the store's lock alone. Throws STORE_BUSY and changes
   * nothing if another connection has it open all the same.
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

  const transaction = <T>(work: () => T): T =>
    database.transaction(() => {
      refuseOtherVersion(database)
      refuseReplaced(path, opened)
      isInside = true
      try {
        return work()
      } finally {
        isInside = false
      }
    })
  /** Tables of a newer version may lack the columns of a query. */
  const explained = <T>(read: () => T): T => {
    try {
      return read()
    } catch (error) {
      if (isStatementFault(error)) refuseOtherVersion(database)
      throw error
    }
  }
  return {
    exec: (sql) => database.exec(sql),
    waitingAtMost: (waitMs, work) => database.waitingAtMost(waitMs, work),
    close: () => database.close(),
    abandon: () => database.abandon(),
    transaction,
    run: (sql, ...values) =>
      isInside
        ? database.run(sql, ...values)
        : transaction(() => explained(() => database.run(sql, ...values))),
    get: (sql, ...values) => explained(() => database.get(sql, ...values)),
    all: (sql, ...values) => explained(() => database.all(sql, ...values)),
    replaceBy(next) {
      database.close()
      try {
        // SQLite removes the log with the last connection. The log of the old file must not be beside the new one.
        if (existsSync(log)) throw openElsewhere()
        removeBackup(home)
        renameSync(next, path)
        syncFolder(home)
      } finally {
        database = openFile(path, durability)
        opened = inodeOf(path)
      }
    },
  }
}

function openElsewhere(): SavestateError {
  return new SavestateError('STORE_BUSY', 'Another program has the ledger open', {
    hint: 'Close it, then run the command again. Nothing has been changed.',
  })
}

function openFile(path: string, durability: Durability): Database {
  let database: Database | undefined
  try {
    database = openDatabase(path, { timeoutMs: BUSY_MS })
    refuseOtherVersion(database)
    if (isNew(database)) allowShrinking(database)
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

function isNew(database: Database): boolean {
  return database.get('SELECT 1 FROM file.sqlite_schema LIMIT 1') === undefined
}

/** SQLite does not wait for this change while other processes have the file open. Only a new store needs it. */
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
