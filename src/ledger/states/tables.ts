// The tables of states. Rows are added and removed, never changed, so a later state cannot damage an earlier one. No id is used twice,
// so a remembered id never refers to another row.

export const STATE_TABLES = `
  -- Values, named by the first 20 bytes of the SHA-256 of form and text, so that equal values share a row.
  -- The form: 0 JSON, 1 JSON with tags (src/model/serial/tags.ts), 2 sealed.
  CREATE TABLE file.elements (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    hash BLOB NOT NULL UNIQUE,
    form INTEGER NOT NULL,
    text TEXT NOT NULL
  ) STRICT;

  -- Parts of lists: the ids of elements, or of other nodes (src/ledger/states/tree/node-body.ts).
  CREATE TABLE file.nodes (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    body BLOB NOT NULL
  ) STRICT;

  -- The part under each key of a state (src/ledger/states/state-body.ts).
  CREATE TABLE file.states (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    body TEXT NOT NULL
  ) STRICT;

  -- Raised when rows are removed, because a process may remember them as stored.
  CREATE TABLE file.state_generation (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    number INTEGER NOT NULL
  ) STRICT;
  INSERT INTO state_generation (only, number) VALUES (1, 0);
`
