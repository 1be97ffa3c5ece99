// Builds a new ledger from the readable rows of a damaged one, and completes it from the backup. The new ledger is complete under its
// own name before the old one is moved. If that is interrupted, no process opens the ledger until another repair finishes it.
import { copyFileSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { SavestateError } from '../../model/index.js'
import {
  type Database,
  failpoint,
  openDatabase,
  removeForeignObjects,
  type SetAside,
  syncFile,
  syncFolder,
} from '../../system/index.js'
import { type CopyOptions, copyRows, createLedger, tablesOf } from './copy-rows.js'
import { ledgerFiles } from '../ledger-files.js'
import { refuseOtherVersionInFile } from '../schema.js'
import { FORGOTTEN_BY_REPAIR } from '../sharing/tables.js'

/** The ids of lost rows must not be reused: other rows and processes may still refer to them. */
const ID_GAP = 1_000_000

export function refuseHalfRescued(home: string): void {
  if (!existsSync(ledgerFiles(home).rescued)) return
  throw new SavestateError('STORE_DAMAGED', 'A repair of the ledger was interrupted', {
    hint: 'Run `savestate repair` to finish it.',
  })
}

/** The caller holds the store's lock: no other process has the ledger open. */
export function rescueLedger(home: string, away: SetAside): void {
  const { ledger, log, shared, rescued } = ledgerFiles(home)
  if (!existsSync(rescued)) makeRescued(home)
  failpoint('rescue:made')
  for (const path of [shared, log, ledger])
    away.move(path, 'the ledger as it was before the repair')
  failpoint('rescue:moved')
  renameSync(rescued, ledger)
  syncFolder(home)
}

function makeRescued(home: string): void {
  const { ledger, log, rescued, backup } = ledgerFiles(home)
  refuseOtherVersionInFile(ledger)
  const folder = join(home, 'tmp', 'rescue')
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  // Work on copies: SQLite may write to a file that it opens.
  const from = copyIfExists(ledger, join(folder, 'from.db'))
  if (from !== undefined) copyIfExists(log, `${from}-wal`)
  const old = copyIfExists(backup, join(folder, 'backup.db'))
  const to = join(folder, 'to.db')
  const target = createLedger(to)
  target.transaction(() => {
    // A copy with lost rows must not replace what the remote has. Without these tables, no session is shared any more.
    let tables: readonly string[] = tablesOf(target).filter(
      (table) => !FORGOTTEN_BY_REPAIR.includes(table),
    )
    if (from !== undefined) tables = copyFrom(from, target, { tables, onConflict: 'REPLACE' })
    // The rows of the ledger are newer. The backup only adds rows to the tables that could not be copied completely.
    if (old !== undefined) copyFrom(old, target, { tables, onConflict: 'IGNORE' })
    target.run('UPDATE store SET has_lost_rows = 1')
    // Other processes may hold views of states that refer to lost rows.
    target.run('UPDATE state_generation SET number = number + 1')
    target.run('UPDATE file.sqlite_sequence SET seq = seq + ?', ID_GAP)
  })
  target.close()
  syncFile(to)
  renameSync(to, rescued)
  syncFolder(home)
  rmSync(folder, { recursive: true, force: true })
}

function copyIfExists(path: string, copy: string): string | undefined {
  if (!existsSync(path)) return undefined
  copyFileSync(path, copy)
  return copy
}

/** Returns the tables that it could not copy completely. */
function copyFrom(path: string, target: Database, options: CopyOptions): readonly string[] {
  let source: Database | undefined
  try {
    source = openWithoutPlanted(path)
    return copyRows(source, target, options)
  } catch (error) {
    if (error instanceof SavestateError && error.code === 'DISK_FULL') throw error
    return options.tables
  } finally {
    source?.close()
  }
}

/** Removes planted triggers, views and virtual tables from the copy first: reading a table must not run them. */
function openWithoutPlanted(path: string): Database {
  const options = { timeoutMs: 0, isDamaged: true }
  try {
    return openDatabase(path, options)
  } catch (error) {
    if (!(error instanceof SavestateError) || error.code !== 'STORE_DAMAGED') throw error
    removeForeignObjects(path)
    return openDatabase(path, options)
  }
}
