// Creates the tables of a new ledger, and refuses a ledger of any other version without changing it (I8). There are no migrations,
// because no other version was ever published. The first one belongs into `createTables`.
import { SavestateError } from '../model/index.js'
import { type Database, versionInFile } from '../system/index.js'
import { TABLES } from './tables.js'

/** Versions 1 to 7 existed before the first release only. */
export const SCHEMA_VERSION = 8

/** Call it before SQLite opens the file for writing, which would create files beside it (I8). */
export function refuseOtherVersionInFile(path: string): void {
  refuseVersion(versionInFile(path) ?? 0)
}

/** Like `refuseOtherVersionInFile`, but also sees a version that is still in the write-ahead log. */
export function refuseOtherVersion(database: Database): void {
  refuseVersion(versionOf(database))
}

/** 0 is the version of a file that has no tables yet. */
function refuseVersion(version: number): void {
  if (version === SCHEMA_VERSION || version === 0) return
  const message = `The ledger has version ${version}, this program uses ${SCHEMA_VERSION}`
  if (version > SCHEMA_VERSION)
    throw new SavestateError('STORE_NEWER', message, {
      hint: 'Update savestate. Nothing has been changed.',
    })
  throw new SavestateError('STORE_UNUSABLE', message, {
    hint: 'The store is from before the first release. Move it away, or set SAVESTATE_HOME to another folder. Nothing has been changed.',
  })
}

/** Does nothing if the tables exist. Two processes may call it at once. */
export function createTables(database: Database): void {
  if (versionOf(database) === SCHEMA_VERSION) return
  database.transaction(() => {
    refuseOtherVersion(database)
    if (versionOf(database) === SCHEMA_VERSION) return
    database.exec(TABLES)
    database.exec(`PRAGMA file.user_version = ${SCHEMA_VERSION}`)
  })
}

function versionOf(database: Database): number {
  return Number(database.get('PRAGMA file.user_version')?.['user_version'])
}
