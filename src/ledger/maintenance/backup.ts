// A copy of the ledger beside it. A prune writes it, at most once a day, and `repair` reads rows from it that it cannot read
// from a damaged ledger. It must not keep what the user removes, so `clear`, `drop`, `forget` and `rekey` delete it.
import { closeSync, openSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs'
import { type Database, failpoint, syncFile, syncFolder } from '../../system/index.js'
import { ledgerFiles } from '../ledger-files.js'

const DAY_MS = 24 * 3_600_000

/** Undefined if there is no backup. */
export function backupTimeMs(home: string): number | undefined {
  return statSync(ledgerFiles(home).backup, { throwIfNoEntry: false })?.mtimeMs
}

/** Blocks the event loop while SQLite copies: about half a second for 100 MB. Other processes can read and write meanwhile. */
export function backUpLedger(database: Database, home: string, nowMs: number): void {
  const madeMs = backupTimeMs(home)
  // A backup from the future means that the clock was set back: write another one.
  if (madeMs !== undefined && madeMs <= nowMs && nowMs - madeMs < DAY_MS) return
  const { backup } = ledgerFiles(home)
  const temporary = `${backup}.tmp`
  rmSync(temporary, { force: true })
  try {
    // SQLite fills an existing empty file. A file that it creates itself would be readable by other users.
    closeSync(openSync(temporary, 'wx', 0o600))
    database.exec(`VACUUM file INTO '${temporary.replaceAll("'", "''")}'`)
    utimesSync(temporary, nowMs / 1000, nowMs / 1000)
    syncFile(temporary)
    failpoint('backup:written')
    renameSync(temporary, backup)
    syncFolder(home)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
}

export function removeBackup(home: string): void {
  const { backup } = ledgerFiles(home)
  for (const path of [backup, `${backup}.tmp`]) rmSync(path, { force: true })
}
