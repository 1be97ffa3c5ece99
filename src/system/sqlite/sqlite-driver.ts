// Selects the SQLite of this process: Node's own if it has all we need, otherwise the optional package, which has the same
// interface (docs/decisions/0002). No other file loads either of them.
import { existsSync, readFileSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { hasCode, sqliteMissing } from '../../model/index.js'

export type SqlValue = null | number | bigint | string | Uint8Array

export type SqlRow = Readonly<Record<string, unknown>>

/** The part of `node:sqlite` that we use. Node 20's type definitions lack it. */
export interface Statement {
  run(...values: readonly SqlValue[]): { readonly changes: number | bigint }
  get(...values: readonly SqlValue[]): SqlRow | undefined
  all(...values: readonly SqlValue[]): SqlRow[]
}

export interface Connection {
  exec(sql: string): void
  prepare(sql: string): Statement
  close(): void
}

export interface Driver {
  readonly DatabaseSync: new (
    path: string,
    options?: { readonly defensive?: boolean },
  ) => Connection
}

const PACKAGE = '@photostructure/sqlite'

/**
 * The first release of each line whose `node:sqlite` binds parameters such as `?1` and opens URIs. Earlier releases have an
 * older SQLite than the package does, so they use the package.
 */
const FIRST_MINOR: Readonly<Record<number, number>> = { 22: 20, 24: 7 }
const FIRST_MAJOR = 25

/** Lists the files mapped into this process. */
const MAPS = '/proc/self/maps'
/** The first copy of this module stores the driver under this key. */
const LOADED = Symbol.for('savestate.sqlite-driver.1')

/**
 * One driver for the whole process. A program may contain two copies of this package, and an older one may use a different
 * SQLite. Two SQLites would break each other's locks: POSIX locks belong to the process, and the first to close the file
 * drops the locks of both.
 */
export function sharedDriver(): Driver {
  // Built-in modules are the same object in every realm. globalThis is not, and with Jest not even `process` is.
  const everywhere = process.getBuiltinModule('node:os')
  const known: Driver | undefined = Reflect.get(everywhere, LOADED)
  if (known !== undefined) return known
  const driver = builtInDriver() ?? packagedDriver()
  Object.defineProperty(everywhere, LOADED, { value: driver })
  return driver
}

/** Undefined if Node has no SQLite or one that lacks something. */
export function builtInDriver(): Driver | undefined {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const isComplete =
    major >= FIRST_MAJOR || minor >= (FIRST_MINOR[major] ?? Number.POSITIVE_INFINITY)
  return isComplete ? withoutSqliteWarning(loadBuiltIn) : undefined
}

function loadBuiltIn(): Driver | undefined {
  // Undefined in a Node that was started with --no-experimental-sqlite.
  return process.getBuiltinModule('node:sqlite') as Driver | undefined
}

type Emit = (warning: string | Error, ...rest: readonly unknown[]) => void

/** Suppresses Node's warning that SQLite is experimental. All other warnings pass. */
function withoutSqliteWarning<T>(load: () => T): T {
  // Node's own process object: with Jest the global `process` is a copy, and warnings bypass it.
  const real = process.getBuiltinModule('node:process')
  const emitWarning: unknown = Reflect.get(real, 'emitWarning')
  const emitOthers: Emit = (warning, ...rest) => {
    if (rest[0] === 'ExperimentalWarning' && String(warning).startsWith('SQLite ')) return
    if (typeof emitWarning === 'function') Reflect.apply(emitWarning, real, [warning, ...rest])
  }
  Reflect.set(real, 'emitWarning', emitOthers)
  try {
    return load()
  } finally {
    Reflect.set(real, 'emitWarning', emitWarning)
  }
}

/**
 * Loads only the native addon if the package has one for this system: the package's JavaScript searches folders for it, which
 * takes 6 ms at every start. For local builds and other C libraries it loads the whole package.
 */
export function packagedDriver(): Driver {
  const require = createRequire(import.meta.url)
  const folder = packageFolder(dirname(fileURLToPath(import.meta.url)))
  const system = `${process.platform}-${process.arch}`
  const file = join(folder ?? '', 'prebuilds', system, '@photostructure+sqlite.glibc.node')
  const isUsual = folder !== undefined && !existsSync(join(folder, 'build'))
  const isPrebuilt = isUsual && !existsSync('/etc/alpine-release') && existsSync(file)
  try {
    const driver: Driver = require(isPrebuilt ? sameInProcess(file) : PACKAGE)
    return driver
  } catch (error) {
    if (!hasCode(error, 'MODULE_NOT_FOUND')) throw error
    throw sqliteMissing(PACKAGE, error)
  }
}

/**
 * Another thread may have loaded another copy of this addon. Use that copy: the system loads one library per path for all
 * threads. Only Linux lists the libraries of a process.
 */
function sameInProcess(file: string): string {
  if (!existsSync(MAPS)) return file
  const maps = readFileSync(MAPS, 'utf8')
  const at = maps.indexOf(`/${basename(file)}\n`)
  if (at === -1) return file
  const line = maps.slice(maps.lastIndexOf('\n', at) + 1, maps.indexOf('\n', at))
  const other = line.slice(line.indexOf('/'))
  // The program may use another version for its own databases.
  const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size
  return sizeOf(other) === sizeOf(file) ? other : file
}

/** Finds the package like Node does, but without reading other files on the way. */
function packageFolder(from: string): string | undefined {
  const folder = join(from, 'node_modules', PACKAGE)
  if (existsSync(folder)) return folder
  return dirname(from) === from ? undefined : packageFolder(dirname(from))
}
