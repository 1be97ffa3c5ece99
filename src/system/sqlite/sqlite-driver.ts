// Selects the SQLite of this process: Node's own if it has all we need, otherwise the native addon that our package
// contains, which has the same interface (docs/decisions/0002). No other file loads either of them.
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

/** The build copies the addons of @photostructure/sqlite here, one folder per system. */
const ADDONS = join('dist', 'prebuilds')

/**
 * The first release of each line whose `node:sqlite` binds parameters such as `?1` and opens URIs. Earlier releases have an
 * older SQLite than the addon does, so they use the addon.
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
  const driver = builtInDriver() ?? bundledDriver()
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

/** Throws SQLITE_MISSING on a system for which our package has no addon. */
export function bundledDriver(): Driver {
  const system = `${process.platform}-${process.arch}`
  const libc = existsSync('/etc/alpine-release') ? 'musl' : 'glibc'
  const addon = join(ADDONS, system, `@photostructure+sqlite.${libc}.node`)
  const file = findAbove(dirname(fileURLToPath(import.meta.url)), addon)
  if (file === undefined) throw sqliteMissing(system)
  try {
    const driver: Driver = createRequire(import.meta.url)(sameInProcess(file))
    return driver
  } catch (error) {
    if (!hasCode(error, 'ERR_DLOPEN_FAILED')) throw error
    throw sqliteMissing(system, error)
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

/** The file in the nearest folder at or above `from` that has it: this module runs from dist/, build/ and src/. */
function findAbove(from: string, name: string): string | undefined {
  const file = join(from, name)
  if (existsSync(file)) return file
  return dirname(from) === from ? undefined : findAbove(dirname(from), name)
}
