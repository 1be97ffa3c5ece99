// The tables of a remote in PostgreSQL (docs/internals/shared.md#in-postgresql). Also printed for an administrator, so it is plain SQL that
// psql runs, and that may run twice.
import { LOG_KINDS, SavestateError, STATUS_WORDS } from '../../model/index.js'

export const DEFAULT_SCHEMA = 'savestate'

export type SchemaOptions = {
  readonly schema?: string | undefined
  /** The login role of the team, which gets the rights that Savestate needs at run time. */
  readonly role?: string | undefined
  /** False: the schema exists. Creating one needs a right on the database, also if it exists. */
  readonly withSchema?: boolean
}

/** One statement each. No statement needs a right that an owner of the schema does not have. */
export function schemaStatements({
  schema = DEFAULT_SCHEMA,
  role,
  withSchema = true,
}: SchemaOptions = {}): readonly string[] {
  const s = quoteSchema(schema)
  const statuses = STATUS_WORDS.map((word) => `'${word}'`).join(', ')
  const kinds = LOG_KINDS.map((kind) => `'${kind}'`).join(', ')
  return [
    ...(withSchema ? [`CREATE SCHEMA IF NOT EXISTS ${s}`] : []),
    `CREATE TABLE IF NOT EXISTS ${s}.format (
  only_one boolean PRIMARY KEY DEFAULT true CHECK (only_one),
  version integer NOT NULL,
  remote_id text NOT NULL,
  key_check bytea
)`,
    `CREATE TABLE IF NOT EXISTS ${s}.projects (
  id text PRIMARY KEY,
  card bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp()
)`,
    `CREATE TABLE IF NOT EXISTS ${s}.logs (
  key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  kind text NOT NULL CHECK (kind IN (${kinds})),
  id text NOT NULL,
  agent text,
  project text REFERENCES ${s}.projects,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  UNIQUE (kind, id)
)`,
    // Half of each page is free, and no index has a column that a commit changes, unless it changes the status: an update stays in its page (HOT).
    `CREATE TABLE IF NOT EXISTS ${s}.live (
  log bigint PRIMARY KEY REFERENCES ${s}.logs ON DELETE CASCADE,
  fence bigint NOT NULL DEFAULT 0,
  holder bytea,
  expires_at timestamptz,
  next_n bigint NOT NULL DEFAULT 1,
  epoch bigint NOT NULL DEFAULT 0,
  hash bytea,
  status text NOT NULL DEFAULT 'in_progress' CHECK (status IN (${statuses})),
  card bytea,
  updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  deleted_at timestamptz
) WITH (fillfactor = 50)`,
    `CREATE INDEX IF NOT EXISTS live_in_progress ON ${s}.live (log) WHERE status = 'in_progress'`,
    `CREATE TABLE IF NOT EXISTS ${s}.segments (
  log bigint NOT NULL REFERENCES ${s}.logs ON DELETE CASCADE,
  n bigint NOT NULL,
  prev bytea,
  hash bytea NOT NULL,
  body bytea NOT NULL,
  PRIMARY KEY (log, n)
)`,
    // Bodies are compressed already.
    `ALTER TABLE ${s}.segments ALTER COLUMN body SET STORAGE EXTERNAL`,
    `CREATE TABLE IF NOT EXISTS ${s}.packs (
  id text PRIMARY KEY,
  parent text CONSTRAINT packs_parent_fkey REFERENCES ${s}.packs,
  tree text NOT NULL,
  project text,
  bytes bigint,
  sha256 bytea,
  body bytea,
  upload text,
  is_complete boolean NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp()
)`,
    `ALTER TABLE ${s}.packs ALTER COLUMN body SET STORAGE EXTERNAL`,
    `CREATE INDEX IF NOT EXISTS packs_parent ON ${s}.packs (parent) WHERE parent IS NOT NULL`,
    `CREATE TABLE IF NOT EXISTS ${s}.pack_chunks (
  pack text NOT NULL REFERENCES ${s}.packs ON DELETE CASCADE,
  n integer NOT NULL,
  body bytea NOT NULL,
  PRIMARY KEY (pack, n)
)`,
    `ALTER TABLE ${s}.pack_chunks ALTER COLUMN body SET STORAGE EXTERNAL`,
    `CREATE TABLE IF NOT EXISTS ${s}.checkpoints (
  log bigint NOT NULL REFERENCES ${s}.logs ON DELETE CASCADE,
  id text NOT NULL,
  step bigint NOT NULL,
  pack text CONSTRAINT checkpoints_pack_fkey REFERENCES ${s}.packs,
  PRIMARY KEY (log, id)
)`,
    `CREATE INDEX IF NOT EXISTS checkpoints_pack ON ${s}.checkpoints (pack) WHERE pack IS NOT NULL`,
    ...(role === undefined ? [] : grants(s, quoteRole(role))),
  ]
}

/** For `remote init --print-sql`. The role then runs `remote init` once, which only writes the row of `format`. */
export function schemaSql(options: SchemaOptions = {}): string {
  return `${['BEGIN', ...schemaStatements(options), 'COMMIT'].join(';\n')};\n`
}

/** Quoted for SQL. */
export function quoteSchema(schema: string): string {
  if (/^[a-z_][a-z0-9_]{0,62}$/.test(schema)) return `"${schema}"`
  throw new SavestateError('BAD_INPUT', `${JSON.stringify(schema)} is not the name of a schema`, {
    hint: 'Use lowercase letters, digits and _.',
  })
}

function grants(s: string, role: string): readonly string[] {
  return [
    `GRANT USAGE ON SCHEMA ${s} TO ${role}`,
    `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${s} TO ${role}`,
  ]
}

function quoteRole(role: string): string {
  if (/^[^"\0]{1,63}$/.test(role)) return `"${role}"`
  throw new SavestateError('BAD_INPUT', `${JSON.stringify(role)} is not the name of a role`)
}
