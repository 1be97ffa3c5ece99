// The driver for PostgreSQL 13 or newer (docs/internals/shared.md#in-postgresql).
import type { LogName } from '../../model/index.js'
import type {
  DriverCommit,
  DriverFormat,
  DriverHead,
  DriverPack,
  DriverTake,
  RemoteDriver,
} from '../driver.js'
import type { RemoteLease } from '../remote.js'
import { commitSegment } from './commit-segment.js'
import { loadPg, PostgresConnection } from './connection.js'
import { Database } from './database.js'
import { readHead, readHeads, readSizes } from './heads.js'
import { initSchema, readFormat } from './init-schema.js'
import { claimLease, releaseLease, renewLeases, takeLease } from './leases.js'
import { collectPacks, putPack, readPacks } from './packs.js'
import { parsePostgresUrl } from './postgres-url.js'
import { clientQueries, type PostgresClient } from './queries.js'
import { deleteLog, readSegments } from './segments.js'

export type PostgresOptions = {
  readonly url: string
  readonly schema?: string | undefined
  readonly client?: PostgresClient | undefined
  readonly timeoutMs?: number | undefined
}

const TIMEOUT_MS = 10_000

export async function openPostgres({
  url,
  schema,
  client,
  timeoutMs = TIMEOUT_MS,
}: PostgresOptions): Promise<RemoteDriver> {
  const target = parsePostgresUrl(url, schema)
  const { label } = target
  const queries =
    client === undefined
      ? new PostgresConnection(await loadPg(), target, { timeoutMs })
      : clientQueries(client, { label, timeoutMs })
  return driverOn(new Database(queries, { label, schema: target.schema }))
}

function driverOn(db: Database): RemoteDriver {
  return {
    kind: 'postgres',
    label: db.context.label,
    readFormat: () => readFormat(db),
    init: (format: DriverFormat) => initSchema(db, format),
    heads: (query) => readHeads(db, query),
    head: (log: LogName): Promise<DriverHead | undefined> => readHead(db, log),
    sizes: (log?: LogName) => readSizes(db, log),
    take: (request: DriverTake) => takeLease(db, request),
    claim: (request) => claimLease(db, request),
    renew: (leases: readonly RemoteLease[], leaseMs: number) => renewLeases(db, leases, leaseMs),
    release: (lease: RemoteLease) => releaseLease(db, lease),
    commit: (commit: DriverCommit) => commitSegment(db, commit),
    segments: (log: LogName, afterN: number) => readSegments(db, log, afterN),
    putPack: (pack: DriverPack, chunks: AsyncIterable<Uint8Array>) => putPack(db, pack, chunks),
    packs: (id: string, known: ReadonlySet<string>) => readPacks(db, id, known),
    deleteLog: (log: LogName, fence: number | null) => deleteLog(db, log, fence),
    collectPacks: () => collectPacks(db),
    close: () => db.close(),
  }
}
