// A new ledger from what can be read of a damaged one. The new one is complete under a name of its own before the old one
// goes; from then on a rescue that was interrupted only has to be finished, and until it is nobody opens the ledger.
import { copyFileSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { SavestateError } from '../model/index.js'
import {
  type Database,
  failpoint,
  openDatabase,
  removePlanted,
  type SetAside,
  syncFile,
  syncFolder,
} from '../system/index.js'
import { copyRows } from './copy-rows.js'
import { withSchemaAnew } from './lost-schema.js'
import { createTables, refuseOtherVersionInFile } from './schema.js'
import { allowShrinking } from './upkeep.js'

/** Ids of lost rows may still be referred to somewhere, so none of them is used again. */
const ID_GAP = 1_000_000
/** Set in a ledger that has lost rows, until they have been looked for elsewhere. */
export const ROWS_LOST = 'rows-lost'

export function ledgerFiles(home: string): {
  readonly ledger: string
  readonly log: string
  readonly shared: string
  readonly rescued: string
} {
  const ledger = join(home, 'ledger.db')
  return { ledger, log: `${ledger}-wal`, shared: `${ledger}-shm`, rescued: `${ledger}.rescued` }
}

export function refuseHalfRescued(home: string): void {
  if (!existsSync(ledgerFiles(home).rescued)) return
  throw new SavestateError('STORE_DAMAGED', 'A repair of the ledger was interrupted', {
    hint: 'Run `savestate repair` to finish it.',
  })
}

/** The caller has made sure that nobody else has the ledger open. */
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
  const { ledger, log, rescued } = ledgerFiles(home)
  refuseOtherVersionInFile(ledger)
  const folder = join(home, 'tmp', 'rescue')
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const [from, to] = [join(folder, 'from.db'), join(folder, 'to.db')]
  // A copy: SQLite may write to what it opens.
  if (existsSync(ledger)) copyFileSync(ledger, from)
  if (existsSync(ledger) && existsSync(log)) copyFileSync(log, `${from}-wal`)
  const target = openDatabase(to, { timeoutMs: 0 })
  target.exec('PRAGMA foreign_keys = OFF')
  allowShrinking(target)
  createTables(target)
  target.transaction(() => {
    if (existsSync(from) && !copyFrom(from, target)) {
      const anew = withSchemaAnew(from, folder)
      if (anew !== undefined) copyFrom(anew, target)
    }
    target.run('INSERT OR REPLACE INTO facts (key, value) VALUES (?, ?)', ROWS_LOST, 'yes')
    // What a process remembers to be stored may be gone.
    target.run('UPDATE state_generation SET number = number + 1')
    target.run('UPDATE file.sqlite_sequence SET seq = seq + ?', ID_GAP)
  })
  target.close()
  syncFile(to)
  renameSync(to, rescued)
  syncFolder(home)
  rmSync(folder, { recursive: true, force: true })
}

/** False if tables are missing in it. */
function copyFrom(path: string, target: Database): boolean {
  let source: Database
  try {
    source = openWithoutPlanted(path)
  } catch (error) {
    if (error instanceof SavestateError && error.code === 'DISK_FULL') throw error
    return false
  }
  try {
    return copyRows(source, target).every(({ isThere }) => isThere)
  } catch (error) {
    if (error instanceof SavestateError && error.code === 'DISK_FULL') throw error
    return false
  } finally {
    source.close()
  }
}

/** Triggers, views and virtual tables are removed from the copy first: to read a table must not run them. */
function openWithoutPlanted(path: string): Database {
  const options = { timeoutMs: 0, isDamaged: true }
  try {
    return openDatabase(path, options)
  } catch (error) {
    if (!(error instanceof SavestateError) || error.code !== 'STORE_DAMAGED') throw error
    removePlanted(path)
    return openDatabase(path, options)
  }
}
