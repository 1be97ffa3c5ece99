// The tables of graph threads. A framework (LangGraph) names its threads and checkpoints itself, and its ids may be any storable text. Other
// rows refer to a thread by its row number.

export const THREAD_TABLES = `
  CREATE TABLE file.threads (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    -- A deleted thread keeps its row, so that a late write fails. NULL again once a new run creates it again.
    deleted_at INTEGER,
    -- The greatest id of a deleted checkpoint. Ids grow with time, so smaller ids are from before the deletion.
    deleted_to TEXT
  ) STRICT;

  CREATE TABLE file.graph_checkpoints (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    thread INTEGER NOT NULL REFERENCES threads (key),
    ns TEXT NOT NULL,
    id TEXT NOT NULL,
    parent TEXT,
    -- The values of the channels.
    state INTEGER NOT NULL REFERENCES states (id),
    -- The rest of the checkpoint, as JSON.
    facts TEXT NOT NULL,
    metadata TEXT NOT NULL,
    run TEXT,
    -- The Savestate checkpoint of the project's files, if they were saved too.
    files TEXT,
    -- A JSON list of the channels whose value is computed from the writes of earlier checkpoints.
    deltas TEXT,
    -- The channel whose value in this checkpoint is the list of writes to the parent.
    sends TEXT
  ) STRICT;
  CREATE UNIQUE INDEX file.graph_checkpoints_by_place ON graph_checkpoints (thread, ns, id);
  CREATE INDEX file.graph_checkpoints_by_state ON graph_checkpoints (state);
  CREATE INDEX file.graph_checkpoints_by_run ON graph_checkpoints (run) WHERE run IS NOT NULL;

  -- Writes of tasks since a checkpoint. They may arrive before the checkpoint itself.
  CREATE TABLE file.graph_writes (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    thread INTEGER NOT NULL REFERENCES threads (key),
    ns TEXT NOT NULL,
    checkpoint TEXT NOT NULL,
    task TEXT NOT NULL,
    idx INTEGER NOT NULL,
    channel TEXT NOT NULL,
    value TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX file.graph_writes_by_place ON graph_writes (thread, ns, checkpoint, task, idx);
`
