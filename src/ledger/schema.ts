// Brings a ledger up to the present version, and refuses one that is ahead of it.
import { closeSync, openSync, readSync } from 'node:fs'
import { hasCode, SavestateError } from '../model/index.js'
import type { Database } from '../system/index.js'
import { MIGRATIONS } from './migrations.js'

export const SCHEMA_VERSION = MIGRATIONS.length

// Where SQLite keeps `user_version` in its file.
const VERSION_OFFSET = 60

/** I8: a newer store is not touched, and to open it with SQLite would leave files beside it. */
export function refuseNewerFile(path: string): void {
  const header = Buffer.alloc(VERSION_OFFSET + 4)
  let fd: number
  try {
    fd = openSync(path, 'r')
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return
    throw error
  }
  try {
    const isWhole = readSync(fd, header) === header.length
    const isDatabase = isWhole && header.toString('latin1').startsWith('SQLite format 3\0')
    if (isDatabase) refuseVersion(header.readUInt32BE(VERSION_OFFSET))
  } finally {
    closeSync(fd)
  }
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
      hint: 'Update savestate. Nothing has been touched.',
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
    database.exec(`PRAGMA user_version = ${version}`)
  })
}

function versionOf(database: Database): number {
  return Number(database.get('PRAGMA user_version')?.['user_version'])
}
