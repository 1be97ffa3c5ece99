// The ids of the keys that have sealed values of the ledger. The store never holds a key itself.
export const KEY_TABLES = `
  CREATE TABLE file.keys (
    -- Derived from the key, without revealing it.
    id TEXT PRIMARY KEY,
    -- A known text, sealed with the key: verifies the key that a caller passes.
    check_value TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    -- It seals no new values since then.
    retired_at INTEGER,
    -- 1 once a rekey has sealed every value with it. Before that, some values may not be sealed.
    seals_all INTEGER NOT NULL DEFAULT 0
  ) STRICT, WITHOUT ROWID;
`
