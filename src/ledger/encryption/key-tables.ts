// Which keys the ledger has been written with. The keys themselves are never here.
export const KEY_TABLES = `
  CREATE TABLE file.keys (
    -- Derived from the key, which it does not reveal.
    id TEXT PRIMARY KEY,
    -- A known text, sealed with the key, to check that a given key is the right one.
    check_value TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    -- Nothing is sealed with it since then.
    retired_at INTEGER,
    -- 1 once a change of the key has sealed everything with it: before that, there may be values without a seal.
    seals_all INTEGER NOT NULL DEFAULT 0
  ) STRICT, WITHOUT ROWID;
`
