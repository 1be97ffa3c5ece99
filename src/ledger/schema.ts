// Brings a ledger up to the present version, and refuses one that is ahead of it.
import { SavestateError } from '../model/index.js'
import { type Database, versionInFile } from '../system/index.js'
import { MIGRATIONS } from './migrations.js'

export const SCHEMA_VERSION = MIGRATIONS.length

/** I8: a newer store is not touched, and to open it with SQLite would leave files beside it. */
export function refuseNewerFile(path: string): void {
  refuseVersion(versionInFile(path) ?? 0)
}

/** The same, where the version still stands in the write-ahead log. */
export function refuseNewer(database: Database): void {
  refuseVersion(versionOf(database))
}

function refuseVersion(version: number): void {
  if (version <= SCHEMA_VERSION) return
  throw new SavestateError(
    'STORE_NEWER',
    `The ledger has version ${version}, this program knows ${SCHEMA_VERSION}`,
    {
      hint: 'Update savestate. Nothing has been changed.',
    },
  )
}

export function migrate(database: Database): void {
  migrateTo(database, SCHEMA_VERSION)
}

/** As far as an older program would have. */
export function migrateTo(database: Database, version: number): void {
  if (versionOf(database) === version) return
  database.transaction(() => {
    // Looked at again inside: another process may have migrated meanwhile.
    refuseNewer(database)
    for (const sql of MIGRATIONS.slice(versionOf(database), version)) database.exec(sql)
    database.exec(`PRAGMA file.user_version = ${version}`)
  })
}

function versionOf(database: Database): number {
  return Number(database.get('PRAGMA file.user_version')?.['user_version'])
}
