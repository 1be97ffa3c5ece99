// What the store notes about itself: what was brought in from elsewhere, what went wrong, when it was pruned.
export const CARE_TABLES = `
  -- What an import has brought in, by where it came from: a second import finds it here.
  CREATE TABLE file.imports (
    origin TEXT PRIMARY KEY,
    checkpoint TEXT NOT NULL,
    at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  -- The newest operations that did not do their work.
  CREATE TABLE file.failures (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    operation TEXT NOT NULL,
    project TEXT,
    code TEXT NOT NULL,
    message TEXT NOT NULL
  ) STRICT;

  CREATE TABLE file.facts (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
`
