// The ledger as a process sees it that has it open for long. Before each write it looks whether the file is still
// the one it opened and of a version it knows: a newer program may have brought it forward meanwhile (I8), and what
// is written to a file that was removed or replaced would be told as saved and be nowhere.
import { statSync } from 'node:fs'
import { SavestateError } from '../model/index.js'
import { type Database, isStatementFault } from '../system/index.js'
import { refuseOtherVersion } from './schema.js'

export function guarded(database: Database, path: string): Database {
  const opened = inodeOf(path)
  let isInside = false

  const transaction = <T>(work: () => T): T =>
    database.transaction(() => {
      refuseOtherVersion(database)
      refuseGone(path, opened)
      isInside = true
      try {
        return work()
      } finally {
        isInside = false
      }
    })
  /** Tables of a newer version may lack what is asked for. */
  const explained = <T>(read: () => T): T => {
    try {
      return read()
    } catch (error) {
      if (isStatementFault(error)) refuseOtherVersion(database)
      throw error
    }
  }
  return {
    ...database,
    transaction,
    run: (sql, ...values) =>
      isInside
        ? database.run(sql, ...values)
        : transaction(() => explained(() => database.run(sql, ...values))),
    get: (sql, ...values) => explained(() => database.get(sql, ...values)),
    all: (sql, ...values) => explained(() => database.all(sql, ...values)),
  }
}

function refuseGone(path: string, opened: bigint | undefined): void {
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
