// The ledger's tables. Migrations are only ever appended; each is one step of `PRAGMA user_version`.
import { closeSync, openSync, readSync } from 'node:fs'
import { hasCode, SavestateError } from '../model/index.js'
import type { Database } from '../system/index.js'

const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE projects (
    id TEXT PRIMARY KEY,
    path BLOB NOT NULL UNIQUE,
    created_at INTEGER NOT NULL,
    touched_at INTEGER NOT NULL,
    parent_dev TEXT NOT NULL,
    parent_ino TEXT NOT NULL
  ) STRICT;

  -- Long lists that most checkpoints of a project have in common, and that \`list\` never needs.
  CREATE TABLE details (
    hash TEXT PRIMARY KEY,
    json TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE checkpoints (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    project TEXT NOT NULL REFERENCES projects (id),
    kind TEXT NOT NULL,
    name TEXT,
    reason TEXT,
    created_at INTEGER NOT NULL,
    pinned INTEGER NOT NULL DEFAULT 0,
    tree TEXT NOT NULL,
    "commit" TEXT NOT NULL,
    files INTEGER NOT NULL,
    insertions INTEGER NOT NULL,
    deletions INTEGER NOT NULL,
    file_count INTEGER NOT NULL,
    size_bytes INTEGER NOT NULL,
    skipped_counts TEXT NOT NULL,
    details TEXT NOT NULL REFERENCES details (hash)
  ) STRICT;
  CREATE INDEX checkpoints_by_project ON checkpoints (project, seq);
  CREATE INDEX checkpoints_by_name ON checkpoints (project, name) WHERE name IS NOT NULL;

  CREATE TABLE operations (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    project TEXT NOT NULL REFERENCES projects (id),
    kind TEXT NOT NULL,
    at INTEGER NOT NULL,
    safety TEXT NOT NULL REFERENCES checkpoints (id),
    result TEXT NOT NULL REFERENCES checkpoints (id),
    of TEXT REFERENCES operations (id)
  ) STRICT;
  CREATE INDEX operations_by_project ON operations (project, seq);
  `,
]

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
  if (versionOf(database) === SCHEMA_VERSION) return
  database.transaction(() => {
    // Looked at again inside: another process may have migrated meanwhile.
    refuseNewer(database)
    for (const sql of MIGRATIONS.slice(versionOf(database))) database.exec(sql)
    database.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`)
  })
}

function versionOf(database: Database): number {
  return Number(database.get('PRAGMA user_version')?.['user_version'])
}
