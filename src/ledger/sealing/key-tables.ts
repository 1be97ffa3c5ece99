// Which keys the ledger has been written with. The keys themselves are never here.
export const KEY_TABLES = `
  CREATE TABLE file.keys (
    -- Tells keys apart and says nothing of them.
    id TEXT PRIMARY KEY,
    -- Something known, sealed with the key: whoever has it can tell that it is the right one.
    check_value TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    -- Nothing is sealed with it any more, and nothing will be.
    retired_at INTEGER
  ) STRICT, WITHOUT ROWID;

  -- One row while values are moved to another key (docs/encryption.md#order-of-writes).
  CREATE TABLE file.rekey (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    -- The key that everything is written with from now on; NULL: none.
    key TEXT REFERENCES keys (id),
    started_at INTEGER NOT NULL
  ) STRICT;
`
