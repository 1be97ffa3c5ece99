// The only file that imports the SQLite driver, so that it can be replaced (docs/decisions/0002).
// It ships prebuilt binaries inside its npm package: no install script has to run.
import { closeSync, existsSync, openSync, readFileSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { hasCode, storeClosed } from '../model/index.js'
import { explained, isBusy, isCorrupt } from './sqlite-faults.js'

export type SqlValue = null | number | bigint | string | Uint8Array
export type SqlRow = Readonly<Record<string, unknown>>

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
  /** Nothing is asked of it any more. Its files stay as they are, for who wants to look at them, and open for a while. */
  abandon(): void
}

/** A database that nobody writes to or asks, only locks. */
export interface LockDatabase {
  exec(sql: string): void
  close(): void
}

type Driver = Pick<typeof import('@photostructure/sqlite'), 'DatabaseSync'>

/** Which files a process has in its memory. */
const MAPS = '/proc/self/maps'
/** Where every copy of this module finds what another one has loaded. */
const LOADED = Symbol.for('savestate.sqlite-driver.1')

/**
 * One for the whole process, though a program may have two copies of this package. Each would bring a SQLite of its own, and these
 * would not keep each other out: the locks of a file belong to the process, and the first to close it drops those of both.
 */
function theDriver(): Driver {
  // A module of Node is the same object in every realm; globalThis is not, and with Jest not even `process`.
  const everywhere = process.getBuiltinModule('node:os')
  const known: Driver | undefined = Reflect.get(everywhere, LOADED)
  if (known !== undefined) return known
  const driver = loadDriver()
  Object.defineProperty(everywhere, LOADED, { value: driver })
  return driver
}

/**
 * The native part alone, from where the package keeps it for this system: the rest of the package looks through folders
 * for it and adds what is not used here, 6 ms at every start. What was compiled on this machine, or is for another C
 * library, the package finds.
 */
function loadDriver(): Driver {
  const require = createRequire(import.meta.url)
  const folder = driverFolder(dirname(fileURLToPath(import.meta.url)))
  const system = `${process.platform}-${process.arch}`
  const file = join(folder ?? '', 'prebuilds', system, '@photostructure+sqlite.glibc.node')
  const isUsual = folder !== undefined && !existsSync(join(folder, 'build'))
  const isPrebuilt = isUsual && !existsSync('/etc/alpine-release') && existsSync(file)
  const driver: Driver = require(isPrebuilt ? sameInProcess(file) : '@photostructure/sqlite')
  return driver
}

/**
 * Another thread, whose modules are its own, may have loaded a copy of this file. Then that copy: the system gives one
 * library to all threads for one path. Only Linux tells.
 */
function sameInProcess(file: string): string {
  if (!existsSync(MAPS)) return file
  const maps = readFileSync(MAPS, 'utf8')
  const at = maps.indexOf(`/${basename(file)}\n`)
  if (at === -1) return file
  const line = maps.slice(maps.lastIndexOf('\n', at) + 1, maps.indexOf('\n', at))
  const other = line.slice(line.indexOf('/'))
  // A program may use another version for databases of its own.
  const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size
  return sizeOf(other) === sizeOf(file) ? other : file
}

/** Where Node would find the package, without all that it reads on the way. */
function driverFolder(from: string): string | undefined {
  const folder = join(from, 'node_modules', '@photostructure', 'sqlite')
  if (existsSync(folder)) return folder
  return dirname(from) === from ? undefined : driverFolder(dirname(from))
}

const MAX_PAUSE_MS = 25

export type DatabaseOptions = {
  readonly timeoutMs: number
  /** SQLite then takes a file that is too short as it is. */
  readonly isDamaged?: boolean
}

export function openDatabase(path: string, options: DatabaseOptions): Database {
  makePrivate(path)
  const driver = attached(path, quoted(path), options)
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
    get: (sql, ...values) => asked(() => prepared(sql).get(...values) as SqlRow | undefined),
    all: (sql, ...values) => asked(() => allOf(prepared(sql), values)),
    transaction(work) {
      asked(begin)
      try {
        const result = work()
        asked(() => driver.exec('COMMIT'))
        return result
      } catch (error) {
        if (driver.isTransaction) driver.exec('ROLLBACK')
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
      if (driver.isTransaction) driver.exec('ROLLBACK')
      detach(driver)
    },
    abandon() {
      isClosed = true
      driver.close()
    },
  }
}

/** Nothing is prepared on it, so it is closed when it is closed, and its locks are gone. */
export function openLockDatabase(path: string, { timeoutMs }: DatabaseOptions): LockDatabase {
  makePrivate(path)
  const driver = explained(path, () => connect(path))
  driver.exec(`PRAGMA busy_timeout = ${timeoutMs}`)
  return {
    exec: (sql) => explained(path, () => driver.exec(sql)),
    close: () => driver.close(),
  }
}

/**
 * The `user_version` of a database as its file alone has it, and undefined if it is none. Nothing is written, not even beside
 * it. Through SQLite, because to read a file and close it would drop every lock that this process has on it: another
 * process would then take a log that is in use for its own to remove.
 */
export function versionInFile(path: string): number | undefined {
  if (!existsSync(path)) return undefined
  const uri = quoted(`${pathToFileURL(path).href}?mode=ro&immutable=1`)
  try {
    const driver = attached(path, uri, { timeoutMs: 0 })
    try {
      return Number(driver.prepare('PRAGMA file.user_version').get()?.['user_version'])
    } finally {
      detach(driver)
    }
  } catch (error) {
    if (isCorrupt(error)) return undefined
    throw error
  }
}

type Connection = InstanceType<Driver['DatabaseSync']>
type Statement = ReturnType<Connection['prepare']>

function connect(path: string): Connection {
  const { DatabaseSync } = theDriver()
  return new DatabaseSync(path)
}

/** The driver's `all` does not tell why it fails, and its `get` does: only what reads is asked for by `all`. */
function allOf(statement: Statement, values: readonly SqlValue[]): SqlRow[] {
  try {
    return statement.all(...values) as SqlRow[]
  } catch {
    statement.get(...values)
    // What was in the way is gone, or comes only after the first row.
    return statement.all(...values) as SqlRow[]
  }
}

function attached(
  path: string,
  place: string,
  { timeoutMs, isDamaged = false }: DatabaseOptions,
): Connection {
  const driver = connect(':memory:')
  driver.exec(`PRAGMA busy_timeout = ${timeoutMs}`)
  if (isDamaged) driver.exec('PRAGMA writable_schema = ON')
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
