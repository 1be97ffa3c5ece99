// The tables of the ledger. Those of states, threads, keys and the store's own records are defined beside their code.
import { KEY_TABLES } from './encryption/index.js'
import { STATE_TABLES } from './states/index.js'
import { SHARING_TABLES } from './sharing/tables.js'
import { STORE_TABLES } from './records/store-records.js'
import { THREAD_TABLES } from './threads/thread-tables.js'

export const TABLES = `
  CREATE TABLE file.projects (
    id TEXT PRIMARY KEY,
    path BLOB NOT NULL UNIQUE,
    created_at INTEGER NOT NULL,
    touched_at INTEGER NOT NULL,
    parent_dev TEXT NOT NULL,
    parent_ino TEXT NOT NULL,
    -- The tool calls of agents that are in progress, as JSON.
    tasks TEXT,
    -- A cache of the sizes of its checkpoints, as JSON.
    sizes TEXT,
    -- 1 if a checkpoint that an undo needs was removed.
    has_lost_undo INTEGER NOT NULL DEFAULT 0
  ) STRICT;

  -- Long lists that most checkpoints of a project share and that \`list\` never needs.
  CREATE TABLE file.details (
    hash TEXT PRIMARY KEY,
    json TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE file.operations (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    project TEXT NOT NULL REFERENCES projects (id),
    kind TEXT NOT NULL,
    at INTEGER NOT NULL,
    safety TEXT NOT NULL REFERENCES checkpoints (id),
    result TEXT NOT NULL REFERENCES checkpoints (id),
    of TEXT REFERENCES operations (id)
  ) STRICT;
  CREATE INDEX file.operations_by_project ON operations (project, seq);

  CREATE TABLE file.sessions (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    agent TEXT,
    project TEXT REFERENCES projects (id),
    status TEXT NOT NULL,
    status_reason TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    head TEXT,
    next_step INTEGER NOT NULL DEFAULT 0,
    turn INTEGER NOT NULL DEFAULT 0,
    metadata TEXT,
    forked_from TEXT,
    fence INTEGER NOT NULL DEFAULT 0,
    lease_owner TEXT,
    lease_expires_at INTEGER,
    -- A deleted session keeps its row, so that a late write fails.
    deleted_at INTEGER
  ) STRICT;
  CREATE INDEX file.sessions_by_status ON sessions (status, updated_at);

  -- A checkpoint holds a snapshot (everything from tree to details), a state, or both.
  CREATE TABLE file.checkpoints (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    project TEXT REFERENCES projects (id),
    kind TEXT NOT NULL,
    name TEXT,
    reason TEXT,
    created_at INTEGER NOT NULL,
    pinned INTEGER NOT NULL DEFAULT 0,
    tree TEXT,
    "commit" TEXT,
    files INTEGER,
    insertions INTEGER,
    deletions INTEGER,
    file_count INTEGER,
    size_bytes INTEGER,
    skipped_counts TEXT,
    details TEXT REFERENCES details (hash),
    session INTEGER REFERENCES sessions (key),
    -- The log of a project from elsewhere that it belongs to (project_logs); NULL: to that of its own project.
    project_log TEXT,
    parent TEXT,
    step INTEGER,
    status TEXT,
    status_reason TEXT,
    turn INTEGER,
    tool_call TEXT,
    state INTEGER REFERENCES states (id),
    schema_version INTEGER,
    metadata TEXT,
    operation_id TEXT,
    -- Names as a JSON array: who made the changes that this checkpoint adds. NULL if unknown.
    authors TEXT,
    -- NULL: the user outside of sessions, the program that saved it in a session.
    named_by TEXT,
    -- The parts of it that cannot be read, as JSON; NULL if all can.
    damage TEXT
  ) STRICT;
  CREATE INDEX file.checkpoints_by_project ON checkpoints (project, seq) WHERE project IS NOT NULL;
  CREATE INDEX file.checkpoints_by_name ON checkpoints (project, name) WHERE name IS NOT NULL;
  CREATE UNIQUE INDEX file.checkpoints_by_session ON checkpoints (session, step) WHERE session IS NOT NULL;
  CREATE UNIQUE INDEX file.checkpoints_by_operation ON checkpoints (session, operation_id)
    WHERE operation_id IS NOT NULL;
  CREATE INDEX file.checkpoints_by_session_name ON checkpoints (session, name)
    WHERE session IS NOT NULL AND name IS NOT NULL;
  -- Without it, removing a state would scan all checkpoints.
  CREATE INDEX file.checkpoints_by_state ON checkpoints (state) WHERE state IS NOT NULL;
  CREATE INDEX file.checkpoints_by_damage ON checkpoints (id) WHERE damage IS NOT NULL;
  CREATE INDEX file.checkpoints_by_commit ON checkpoints ("commit") WHERE "commit" IS NOT NULL;

  -- The tool journal: the intent is written before a call, the outcome after it.
  CREATE TABLE file.tool_calls (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    session INTEGER NOT NULL REFERENCES sessions (key),
    id TEXT NOT NULL,
    name TEXT NOT NULL,
    args TEXT NOT NULL,
    idempotency_key TEXT NOT NULL,
    status TEXT NOT NULL,
    outcome TEXT,
    step INTEGER NOT NULL,
    started_at INTEGER NOT NULL,
    ended_at INTEGER,
    -- The step of the rewind that reverted the call, which may then be made again; 0 if none did.
    reverted INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE UNIQUE INDEX file.tool_calls_by_id ON tool_calls (session, id) WHERE reverted = 0;

  -- Values that a call has streamed so far; deleted when it ends.
  CREATE TABLE file.partials (
    call INTEGER NOT NULL REFERENCES tool_calls (seq),
    number INTEGER NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (call, number)
  ) STRICT, WITHOUT ROWID;

  ${STATE_TABLES}
  ${THREAD_TABLES}
  ${STORE_TABLES}
  ${KEY_TABLES}
  ${SHARING_TABLES}
`
