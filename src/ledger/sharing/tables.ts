// The tables of sharing: which sessions, threads and projects are shared, what changed since, and the segment that is under way
// (docs/internals/shared.md#on-the-host).

export const SHARING_TABLES = `
  CREATE TABLE file.shared_logs (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    -- 'session', 'thread' or 'project', and the key of its row; of a project the key in \`project_logs\`.
    kind TEXT NOT NULL,
    owner INTEGER NOT NULL,
    -- The id that the remote gave itself.
    remote TEXT NOT NULL,
    -- The position after the last segment that the remote confirmed, or that came from there.
    next_n INTEGER NOT NULL DEFAULT 1,
    epoch INTEGER NOT NULL DEFAULT 0,
    hash TEXT,
    -- Steps of the session below this one are on the remote.
    next_step INTEGER NOT NULL DEFAULT 0,
    next_number INTEGER NOT NULL DEFAULT 1,
    -- Of the lease on the remote; NULL without one.
    fence INTEGER,
    -- 1: the next segment replaces everything that the remote has.
    needs_base INTEGER NOT NULL DEFAULT 1,
    -- 1 within the transactions that write rows from elsewhere: they are no changes to share.
    is_applying INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE UNIQUE INDEX file.shared_logs_by_owner ON shared_logs (owner, kind);

  -- The logs of projects that are or were shared: their checkpoints without a session.
  CREATE TABLE file.project_logs (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    -- The id of the project in the store that began the log.
    id TEXT NOT NULL UNIQUE,
    -- The project here that has its checkpoints; NULL if it was removed.
    project TEXT REFERENCES projects (id) ON DELETE SET NULL
  ) STRICT;

  -- Checkpoints of projects whose files are on a remote only. They become rows of \`checkpoints\` once their files are here (I1).
  CREATE TABLE file.shared_saves (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    log INTEGER NOT NULL REFERENCES shared_logs (key) ON DELETE CASCADE,
    -- JSON: the columns of src/model/sharing/columns.ts without the details.
    row TEXT NOT NULL,
    details TEXT REFERENCES details (hash)
  ) STRICT;

  -- The numbers of a log. Several may name one row, if another host had it twice.
  CREATE TABLE file.shared_numbers (
    log INTEGER NOT NULL REFERENCES shared_logs (key) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    -- 1 element, 2 node, 3 state, 4 tool call: a row id. 5 details: a hash.
    kind INTEGER NOT NULL,
    local ANY NOT NULL,
    -- Of an element or a node: see src/model/sharing/check-numbers.ts.
    height INTEGER NOT NULL,
    count INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    PRIMARY KEY (log, number)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX file.shared_numbers_by_row ON shared_numbers (log, kind, local);

  -- Rows that changed since the last segment was encoded. Filled by triggers (note-changes.ts).
  CREATE TABLE file.shared_changes (
    log INTEGER NOT NULL REFERENCES shared_logs (key) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    -- The key of the row: an id, a row number, or a JSON list.
    row TEXT NOT NULL,
    PRIMARY KEY (log, kind, row)
  ) STRICT, WITHOUT ROWID;

  -- The segment that was encoded and is not confirmed yet.
  CREATE TABLE file.shared_outbox (
    log INTEGER PRIMARY KEY REFERENCES shared_logs (key) ON DELETE CASCADE,
    n INTEGER NOT NULL,
    prev TEXT,
    hash TEXT NOT NULL,
    -- In base64.
    body TEXT NOT NULL,
    -- JSON: the other parts of the commit, and what \`retract\` needs.
    facts TEXT NOT NULL
  ) STRICT;

  -- The packs of checkpoints with files.
  CREATE TABLE file.shared_packs (
    checkpoint TEXT PRIMARY KEY REFERENCES checkpoints (id) ON DELETE CASCADE,
    tree TEXT NOT NULL,
    -- NULL if its host has not built it yet.
    pack TEXT,
    -- The pack that it builds on, and the tree of that, if it was built here.
    parent TEXT,
    parent_tree TEXT,
    -- 1 if the remote has it.
    is_shared INTEGER NOT NULL,
    -- 0: the objects are not here, and the row of the checkpoint has no files.
    is_local INTEGER NOT NULL,
    -- What that row lacks meanwhile: figures as JSON, and details.
    figures TEXT,
    details TEXT REFERENCES details (hash)
  ) STRICT, WITHOUT ROWID;
`

/** A copy with lost rows must not replace what the remote has, so a repair empties these. */
export const FORGOTTEN_BY_REPAIR = [
  'shared_changes',
  'shared_outbox',
  'shared_numbers',
  'shared_saves',
  'shared_logs',
]
