// Databases on disk, with any supported SQLite (docs/decisions/0002). A database is data: nothing in its schema may run.
import { closeSync, existsSync, openSync, statSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { foreignSchema, hasCode, lockFileNotEmpty, storeClosed } from '../../model/index.js'
import {
  type Connection,
  type Driver,
  sharedDriver,
  type SqlRow,
  type SqlValue,
  type Statement,
} from './sqlite-driver.js'
import { withDatabaseErrors, isBusy, isCorrupt, isStatementFault } from './sqlite-errors.js'

export type { SqlRow, SqlValue } from './sqlite-driver.js'

/**
 * The file is attached as schema `file` to an in-memory connection. The driver releases a connection only after all its
 * statements are garbage-collected, which may be never; an attached file can be detached at any time. Table names need no
 * schema prefix, except in CREATE, PRAGMA and VACUUM.
 */
export interface Database {
  exec(sql: string): void
  run(sql: string, ...values: readonly SqlValue[]): { readonly changes: number }
  get(sql: string, ...values: readonly SqlValue[]): SqlRow | undefined
  all(sql: string, ...values: readonly SqlValue[]): readonly SqlRow[]
  /** All or nothing, one writer at a time. Transactions do not nest. */
  transaction<T>(work: () => T): T
  /** Limits how long each statement in `work` waits for a lock of another connection. */
  withBusyTimeout<T>(waitMs: number, work: () => T): T
  /** Closes the files. The last connection of any process to close merges the log into the file. */
  close(): void
  /** Makes it unusable without closing it. Closing would merge the log, and a repair moves the files away unmodified. */
  abandon(): void
}

/** A database that is only locked, never read or written. */
export interface LockDatabase {
  exec(sql: string): void
  close(): void
}

const MAX_PAUSE_MS = 25
/** Referenced until the process ends: garbage collection would close them, and SQLite would then touch the moved files. */
const abandoned: Connection[] = []

export type DatabaseOptions = {
  readonly timeoutMs: number
  /** SQLite then accepts a file that is too short. */
  readonly isDamaged?: boolean
  /** For tests, which run against every available driver. */
  readonly driver?: Driver
  /** The SQL of the only virtual table that the schema may have. */
  readonly virtualTable?: string
}

/** Throws if its schema has a trigger, a view or another virtual table than the given one. */
export function openDatabase(path: string, options: DatabaseOptions): Database {
  makePrivate(path)
  const driver = attach(path, quoteSql(path), options)
  try {
    withDatabaseErrors(path, () => refuseForeignSchema(driver, path, options.virtualTable))
  } catch (error) {
    // If the schema itself is damaged, SQLite returns the part that it could read.
    if (!(options.isDamaged === true && isCorrupt(error))) {
      detach(driver)
      throw error
    }
  }
  let isClosed = false
  const whileOpen = <T>(work: () => T): T => {
    if (isClosed) throw storeClosed()
    return withDatabaseErrors(path, work)
  }
  const statements = new Map<string, Statement>()
  const prepare = (sql: string) => {
    let statement = statements.get(sql)
    if (statement === undefined) {
      statement = driver.prepare(sql)
      statements.set(sql, statement)
    }
    return statement
  }
  let waitLimitMs = options.timeoutMs
  const setBusyTimeout = (ms: number) => driver.exec(`PRAGMA busy_timeout = ${ms}`)
  const begin = () => {
    setBusyTimeout(0)
    try {
      retryWhileBusy(() => driver.exec('BEGIN IMMEDIATE'), { timeoutMs: waitLimitMs })
    } finally {
      setBusyTimeout(waitLimitMs)
    }
  }
  return {
    exec: (sql) => whileOpen(() => driver.exec(sql)),
    run: (sql, ...values) =>
      whileOpen(() => ({ changes: Number(prepare(sql).run(...values).changes) })),
    get: (sql, ...values) => whileOpen(() => prepare(sql).get(...values)),
    all: (sql, ...values) => whileOpen(() => allOf(prepare(sql), values)),
    transaction(work) {
      whileOpen(begin)
      try {
        const result = work()
        whileOpen(() => driver.exec('COMMIT'))
        return result
      } catch (error) {
        rollBack(driver)
        throw error
      }
    },
    withBusyTimeout(waitMs, work) {
      waitLimitMs = waitMs
      whileOpen(() => setBusyTimeout(waitMs))
      try {
        return work()
      } finally {
        waitLimitMs = options.timeoutMs
        setBusyTimeout(waitLimitMs)
      }
    },
    close() {
      isClosed = true
      rollBack(driver)
      detach(driver)
    },
    abandon() {
      isClosed = true
      abandoned.push(driver)
    },
  }
}

/**
 * Finds a trigger, a view or a virtual table. The ledger has none, so any of them was planted and would run inside our own
 * statements. (FTS5 had memory bugs that a crafted file can trigger.) This checks the SQL text, which is what SQLite parses.
 * SQLite itself writes the beginning of each text, always in these words. Its internal tables and indexes have no text.
 */
const FOREIGN = `NOT (sql IS NULL OR sql GLOB 'CREATE TABLE *' OR sql GLOB 'CREATE INDEX *'
  OR sql GLOB 'CREATE UNIQUE INDEX *')`

/** Only reads the schema, so nothing in it runs. */
function refuseForeignSchema(connection: Connection, path: string, allowed = ''): void {
  const sql = `SELECT type, name FROM file.sqlite_schema WHERE ${FOREIGN} AND sql <> ? LIMIT 1`
  const found = connection.prepare(sql).get(allowed)
  if (found === undefined) return
  throw foreignSchema(path, `a ${String(found['type'])} called ${String(found['name'])}`)
}

/** Nothing is prepared on it, so closing releases its locks at once. Throws if the file is not empty. */
export function openLockDatabase(path: string, options: DatabaseOptions): LockDatabase {
  makePrivate(path)
  // We never write to a lock file. If it is not empty it was planted or damaged, and SQLite must not read it.
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0) {
    throw lockFileNotEmpty(path)
  }
  const connection = withDatabaseErrors(path, () => connect(path, options))
  return {
    exec: (sql) => withDatabaseErrors(path, () => connection.exec(sql)),
    close: () => connection.close(),
  }
}

/** Removes what `openDatabase` refuses. Only for the copy of a database that a repair reads: indexes may refer to it. */
export function removeForeignObjects(path: string, given: Partial<DatabaseOptions> = {}): void {
  const connection = attach(path, quoteSql(path), { timeoutMs: 0, ...given, isDamaged: true })
  try {
    withDatabaseErrors(path, () =>
      connection.exec(`DELETE FROM file.sqlite_schema WHERE ${FOREIGN}`),
    )
  } finally {
    detach(connection)
  }
}

/**
 * The `user_version` in the database file itself; undefined if the file is not a database. Writes nothing, not even beside it.
 * Reads through SQLite: closing a plain descriptor would drop every lock of this process on the file, and another process
 * would then remove a log that is in use.
 */
export function versionInFile(
  path: string,
  given: Partial<DatabaseOptions> = {},
): number | undefined {
  if (!existsSync(path)) return undefined
  const uri = quoteSql(`${pathToFileURL(path).href}?mode=ro&immutable=1`)
  try {
    const driver = attach(path, uri, { timeoutMs: 0, ...given })
    try {
      const row = driver.prepare('PRAGMA file.user_version').get()
      return Number(row?.['user_version'])
    } finally {
      detach(driver)
    }
  } catch (error) {
    if (isCorrupt(error)) return undefined
    throw error
  }
}

/** With an untrusted schema, unsafe functions and virtual tables never run. */
function connect(
  path: string,
  { timeoutMs, driver = sharedDriver(), isDamaged = false }: DatabaseOptions,
): Connection {
  // Newer Node versions are defensive by default, and then the schema cannot be written.
  const connection = new driver.DatabaseSync(path, { defensive: !isDamaged })
  connection.exec(`PRAGMA busy_timeout = ${timeoutMs}; PRAGMA trusted_schema = OFF`)
  return connection
}

/** SQLite rolls back by itself after some errors; then there is no transaction to end. */
function rollBack(connection: Connection): void {
  try {
    connection.exec('ROLLBACK')
  } catch (error) {
    if (!isStatementFault(error)) throw error
  }
}

/** The driver's `all` hides the cause of a failure and `get` reports it. Only for statements that read. */
function allOf(statement: Statement, values: readonly SqlValue[]): SqlRow[] {
  try {
    return statement.all(...values)
  } catch {
    statement.get(...values)
    // The cause is gone, or it only affects later rows.
    return statement.all(...values)
  }
}

function attach(path: string, target: string, options: DatabaseOptions): Connection {
  const driver = connect(':memory:', options)
  if (options.isDamaged === true) driver.exec('PRAGMA writable_schema = ON')
  try {
    withDatabaseErrors(path, () => driver.exec(`ATTACH ${target} AS file`))
    return driver
  } catch (error) {
    driver.close()
    throw error
  }
}

function detach(driver: Connection): void {
  try {
    driver.exec('DETACH file')
  } finally {
    driver.close()
  }
}

function quoteSql(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

/**
 * SQLite's own busy handler polls after 1, 2, 5, 10, 15, 20 ms: it notices a lock that was held for 20 ms after 33 ms, when
 * another process may have taken it again. This loop is late by at most a tenth of the wait plus one millisecond.
 */
function retryWhileBusy(take: () => void, { timeoutMs }: { readonly timeoutMs: number }): void {
  const start = performance.now()
  for (;;) {
    try {
      take()
      return
    } catch (error) {
      const waitedMs = performance.now() - start
      if (!isBusy(error) || waitedMs >= timeoutMs) throw error
      const pauseMs = Math.min(Math.max(waitedMs / 10, 1), MAX_PAUSE_MS)
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs)
    }
  }
}

/** SQLite would create the file readable by others. Its journals inherit the mode of the file. */
function makePrivate(path: string): void {
  // The usual case: an exception below costs more than this check.
  if (existsSync(path)) return
  try {
    // Only a new file: closing a descriptor of a file in use would drop this process's locks on it.
    closeSync(openSync(path, 'ax', 0o600))
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error
  }
}
