// The tables of the store's own records: imports, failures, notes, and one row about the store itself.
export const STORE_TABLES = `
  -- Imported checkpoints by origin, so that a second import finds them.
  CREATE TABLE file.imports (
    origin TEXT PRIMARY KEY,
    checkpoint TEXT NOT NULL,
    at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE file.failures (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    operation TEXT NOT NULL,
    project TEXT,
    code TEXT NOT NULL,
    message TEXT NOT NULL
  ) STRICT;

  CREATE TABLE file.notes (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL,
    -- NULL: does not expire.
    expires_at INTEGER
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE file.store (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    pruned_at INTEGER,
    prune_claimed_at INTEGER,
    auto_prune TEXT,
    above_limit TEXT,
    has_lost_rows INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  INSERT INTO store (only) VALUES (1);
`
