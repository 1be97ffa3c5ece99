// Chooses the SQLite that this process uses: the one inside Node where it can do all we need, otherwise the optional
// package, which has the same interface (docs/decisions/0002). The only file that loads either.
import { existsSync, readFileSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { hasCode, SavestateError } from '../../model/index.js'

export type SqlValue = null | number | bigint | string | Uint8Array

export type SqlRow = Readonly<Record<string, unknown>>

/** The part of `node:sqlite` that is used here. Its types are not in the types of Node 20. */
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
 * The first releases of each line whose `node:sqlite` binds parameters such as `?1` and opens URIs. Releases before them
 * bring a SQLite that is older than the one in the package, so they use the package.
 */
const FIRST_MINOR: Readonly<Record<number, number>> = { 22: 20, 24: 7 }
const FIRST_MAJOR = 25

/** Lists the files in this process's memory. */
const MAPS = '/proc/self/maps'
/** The key under which the first copy of this module leaves the driver for others. */
const LOADED = Symbol.for('savestate.sqlite-driver.1')

/**
 * One for the whole process, though a program may have two copies of this package, of which an older one may use another
 * SQLite. The two would not keep each other out: the locks of a file belong to the process, and the first to close
 * the file drops those of both.
 */
export function sharedDriver(): Driver {
  // A module of Node is the same object in every realm; globalThis is not, and with Jest not even `process`.
  const everywhere = process.getBuiltinModule('node:os')
  const known: Driver | undefined = Reflect.get(everywhere, LOADED)
  if (known !== undefined) return known
  const driver = builtInDriver() ?? packagedDriver()
  Object.defineProperty(everywhere, LOADED, { value: driver })
  return driver
}

/** Undefined where Node has none, or one that lacks something. */
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

/** Node warns on stderr that SQLite is experimental, which tells the user nothing. All other warnings pass. */
function withoutSqliteWarning<T>(load: () => T): T {
  // Node's own: with Jest the global `process` is a copy, and a warning would go around it.
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
 * Loads the native part alone if the package has it for this system: the rest of the package searches folders for it, which
 * takes 6 ms at every start. Builds made on this machine, and those for other C libraries, are left to the package.
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
    throw new SavestateError(
      'SQLITE_MISSING',
      `Node ${process.versions.node} has no SQLite that Savestate can use, and the optional package ${PACKAGE} is not installed`,
      {
        hint: 'Use Node 22.20, 24.7 or newer, or install savestate again without `--omit=optional`.',
        cause: error,
      },
    )
  }
}

/**
 * Another thread, whose modules are its own, may have loaded a copy of this file. Then that copy is used: the system gives
 * one library to all threads for one path. Only Linux lists the libraries of a process.
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

/** The folder where Node would find the package, without the other files that Node reads on the way. */
function packageFolder(from: string): string | undefined {
  const folder = join(from, 'node_modules', PACKAGE)
  if (existsSync(folder)) return folder
  return dirname(from) === from ? undefined : packageFolder(dirname(from))
}
