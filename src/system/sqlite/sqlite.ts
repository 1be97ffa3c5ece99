// Databases on disk, whatever SQLite this Node has (docs/decisions/0002). A database is data: nothing in its schema may run.
import { closeSync, existsSync, openSync, statSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { hasCode, SavestateError, storeClosed } from '../../model/index.js'
import { refuseForeignSchema, removeForeignSchema } from './foreign-schema.js'
import {
  type Connection,
  type Driver,
  sharedDriver,
  type SqlRow,
  type SqlValue,
  type Statement,
} from './sqlite-driver.js'
import { explained, isBusy, isCorrupt, isStatementFault } from './sqlite-errors.js'

export type { SqlRow, SqlValue } from './sqlite-driver.js'

/**
 * In SQL its file is called `file`, because it is attached to a connection of nothing: the driver lets go of a connection
 * only when all that was prepared on it is collected as garbage, which may be never, but what is attached can be detached.
 * Tables are found without that name. It has to be said where one is made, and to a PRAGMA or VACUUM.
 */
export interface Database {
  exec(sql: string): void
  run(sql: string, ...values: readonly SqlValue[]): { readonly changes: number }
  get(sql: string, ...values: readonly SqlValue[]): SqlRow | undefined
  all(sql: string, ...values: readonly SqlValue[]): readonly SqlRow[]
  /** All or nothing, and one writer at a time. Never nested. */
  transaction<T>(work: () => T): T
  /** Nothing in it waits longer for a lock that another connection holds. */
  waitingAtMost<T>(waitMs: number, work: () => T): T
  /** Its files are closed; the last to do so in any process merges the log into the file. */
  close(): void
  /** Makes it unusable without closing it, which would merge the log: a repair moves the files away as they are. */
  abandon(): void
}

/** A database that nobody writes to or asks, only locks. */
export interface LockDatabase {
  exec(sql: string): void
  close(): void
}

const MAX_PAUSE_MS = 25
/** Referred to until the process ends: collected as garbage they would be closed. SQLite leaves moved files alone then. */
const abandoned: Connection[] = []

export type DatabaseOptions = {
  readonly timeoutMs: number
  /** SQLite then takes a file that is too short as it is. */
  readonly isDamaged?: boolean
  /** For the tests, which run against every driver of this Node. */
  readonly driver?: Driver
}

/** Throws STORE_DAMAGED if its schema has a trigger, a view or a virtual table. */
export function openDatabase(path: string, options: DatabaseOptions): Database {
  makePrivate(path)
  const driver = attached(path, quoted(path), options)
  try {
    explained(path, () => refuseForeignSchema(driver, path))
  } catch (error) {
    // If the schema itself is damaged, SQLite knows only the part that it could read.
    if (!(options.isDamaged === true && isCorrupt(error))) {
      detach(driver)
      throw error
    }
  }
  let isClosed = false
  const asked = <T>(work: () => T): T => {
    if (isClosed) throw storeClosed()
    return explained(path, work)
  }
  const statements = new Map<string, Statement>()
  const prepared = (sql: string) => {
    let statement = statements.get(sql)
    if (statement === undefined) {
      statement = driver.prepare(sql)
      statements.set(sql, statement)
    }
    return statement
  }
  let patienceMs = options.timeoutMs
  const waitAtMost = (ms: number) => driver.exec(`PRAGMA busy_timeout = ${ms}`)
  const begin = () => {
    waitAtMost(0)
    try {
      whenFree(() => driver.exec('BEGIN IMMEDIATE'), { timeoutMs: patienceMs })
    } finally {
      waitAtMost(patienceMs)
    }
  }
  return {
    exec: (sql) => asked(() => driver.exec(sql)),
    run: (sql, ...values) =>
      asked(() => ({ changes: Number(prepared(sql).run(...values).changes) })),
    get: (sql, ...values) => asked(() => prepared(sql).get(...values)),
    all: (sql, ...values) => asked(() => allOf(prepared(sql), values)),
    transaction(work) {
      asked(begin)
      try {
        const result = work()
        asked(() => driver.exec('COMMIT'))
        return result
      } catch (error) {
        rollBack(driver)
        throw error
      }
    },
    waitingAtMost(waitMs, work) {
      patienceMs = waitMs
      asked(() => waitAtMost(waitMs))
      try {
        return work()
      } finally {
        patienceMs = options.timeoutMs
        waitAtMost(patienceMs)
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

/** Nothing is prepared on it, so closing it drops its locks at once. Throws STORE_DAMAGED if the file holds anything. */
export function openLockDatabase(path: string, options: DatabaseOptions): LockDatabase {
  makePrivate(path)
  // We write to none of them, so one that is not empty was planted or damaged, and SQLite does not get to read it.
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0) {
    throw new SavestateError('STORE_DAMAGED', `The lock file ${path} is not empty`, {
      hint: 'Run `savestate repair`.',
    })
  }
  const connection = explained(path, () => connect(path, options))
  return {
    exec: (sql) => explained(path, () => connection.exec(sql)),
    close: () => connection.close(),
  }
}

/** Removes what `openDatabase` refuses. Only for the copy of a ledger that a repair reads: indexes may refer to it. */
export function removePlanted(path: string, given: Partial<DatabaseOptions> = {}): void {
  const connection = attached(path, quoted(path), { timeoutMs: 0, ...given, isDamaged: true })
  try {
    explained(path, () => removeForeignSchema(connection))
  } finally {
    detach(connection)
  }
}

/**
 * The `user_version` of a database as its file alone has it, and undefined if it is none. Nothing is written, not even beside
 * it. Through SQLite, because to read a file and close it would drop every lock that this process has on it: another
 * process would then take a log that is in use for its own to remove.
 */
export function versionInFile(
  path: string,
  given: Partial<DatabaseOptions> = {},
): number | undefined {
  if (!existsSync(path)) return undefined
  const uri = quoted(`${pathToFileURL(path).href}?mode=ro&immutable=1`)
  try {
    const driver = attached(path, uri, { timeoutMs: 0, ...given })
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

/** Functions and virtual tables that are not safe for everyone do not run from a schema, whatever it says. */
function connect(
  path: string,
  { timeoutMs, driver = sharedDriver(), isDamaged = false }: DatabaseOptions,
): Connection {
  // Newer Nodes are defensive unless told otherwise, and then let no one write to the schema.
  const connection = new driver.DatabaseSync(path, { defensive: !isDamaged })
  connection.exec(`PRAGMA busy_timeout = ${timeoutMs}; PRAGMA trusted_schema = OFF`)
  return connection
}

/** SQLite rolls back by itself after some errors, and then there is no transaction to end. */
function rollBack(connection: Connection): void {
  try {
    connection.exec('ROLLBACK')
  } catch (error) {
    if (!isStatementFault(error)) throw error
  }
}

/** The driver's `all` does not tell why it fails, and its `get` does: only what reads is asked for by `all`. */
function allOf(statement: Statement, values: readonly SqlValue[]): SqlRow[] {
  try {
    return statement.all(...values)
  } catch {
    statement.get(...values)
    // What was in the way is gone, or comes only after the first row.
    return statement.all(...values)
  }
}

function attached(path: string, place: string, options: DatabaseOptions): Connection {
  const driver = connect(':memory:', options)
  if (options.isDamaged === true) driver.exec('PRAGMA writable_schema = ON')
  try {
    explained(path, () => driver.exec(`ATTACH ${place} AS file`))
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

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

/**
 * SQLite's own waiting looks again after 1, 2, 5, 10, 15, 20 ms: of a lock that was held for 20 ms it hears after 33, and
 * another may have it again by then. This one comes at most a tenth too late, and a millisecond.
 */
function whenFree(take: () => void, { timeoutMs }: { readonly timeoutMs: number }): void {
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

/** SQLite would let others read the file; its journals get the mode of the file. */
function makePrivate(path: string): void {
  // Most are: the error below costs more than this look.
  if (existsSync(path)) return
  try {
    // Only ever a new file: closing one that is in use would drop this process's locks on it.
    closeSync(openSync(path, 'ax', 0o600))
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error
  }
}
