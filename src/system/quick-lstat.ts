// lstat of tens of thousands of paths by a process that has just begun. Node's own makes an object and four dates for each
// path, and V8 is done with compiling that when the work is over. The lstat of node:wasi writes the same facts into
// memory. It is experimental: where it is missing or says anything else, Node's own is asked (docs/decisions/0025).
import { lstatSync } from 'node:fs'
import { dirname } from 'node:path'
import { isError } from '../model/index.js'

/** Where a look leaves what: words of 32 bits, the lower one of two first. As WASI lays out its `filestat`. */
export const STAT_WORD = { ino: 2, type: 4, size: 8, mtime: 12, ctime: 14 } as const
export const STAT_TYPE = { other: 0, folder: 3, file: 4, link: 7 } as const

export type QuickLstat = {
  /** The absolute path goes here, from the first byte on. */
  readonly path: Uint8Array
  readonly words: Uint32Array
  /** A look at the path of so many bytes. False if there is nothing, or it cannot be looked at. */
  readonly look: (pathBytes: number) => boolean
}

const FIRST_FOLDER = 3
const DONE = 0
const SLASH = 47
const PATH_AT = 1024
// Room for every path that a kernel takes. What is longer is not looked at.
const PATH_BYTES = 8192
const STAT_BYTES = 64
// A module of nothing but one page of memory, called "memory".
const MEMORY_ALONE = Buffer.from('0061736d010000000503010001070a01066d656d6f72790200', 'hex')

let ofThisThread: QuickLstat | undefined

/** One for each thread: its path and words belong to whoever looks. */
export function quickLstat(): QuickLstat {
  ofThisThread ??= lstatOfWasi() ?? lstatOfNode()
  return ofThisThread
}

export function lstatOfNode(): QuickLstat {
  const path = Buffer.alloc(PATH_BYTES)
  const words = new Uint32Array(STAT_BYTES / 4)
  const wide = new BigInt64Array(words.buffer)
  const look = (pathBytes: number) => {
    const stats = pathBytes < PATH_BYTES ? lstatOf(path.subarray(0, pathBytes)) : undefined
    if (stats === undefined) return false
    wide[STAT_WORD.ino / 2] = stats.ino
    wide[STAT_WORD.size / 2] = stats.size
    wide[STAT_WORD.mtime / 2] = stats.mtimeNs
    wide[STAT_WORD.ctime / 2] = stats.ctimeNs
    words[STAT_WORD.type] = stats.isFile()
      ? STAT_TYPE.file
      : stats.isDirectory()
        ? STAT_TYPE.folder
        : stats.isSymbolicLink()
          ? STAT_TYPE.link
          : STAT_TYPE.other
    return true
  }
  return { path, words, look }
}

/** Undefined where there is none, or it is not to be relied on. */
export function lstatOfWasi(): QuickLstat | undefined {
  if (process.platform === 'win32') return undefined
  try {
    const quick = openWasi()
    const node = lstatOfNode()
    const isRight = [process.execPath, dirname(process.execPath)].every((path) =>
      isSame(lookAt(quick, path), lookAt(node, path)),
    )
    return isRight ? quick : undefined
  } catch {
    // Whatever keeps it from working (a permission of Node's, another shape in a later Node), there is another way.
    return undefined
  }
}

function openWasi(): QuickLstat {
  const wasi = withoutWarning(() => {
    const { WASI } = process.getBuiltinModule('node:wasi')
    return new WASI({ version: 'preview1', preopens: { '/': '/' } })
  })
  const instance = new WebAssembly.Instance(new WebAssembly.Module(MEMORY_ALONE))
  wasi.initialize(instance)
  const { buffer } = instance.exports.memory
  const path = new Uint8Array(buffer, PATH_AT, PATH_BYTES)
  const lstat = wasi.wasiImport['path_filestat_get'] as (
    ...values: [folder: number, flags: number, path: number, pathBytes: number, to: number]
  ) => number
  const look = (pathBytes: number) => {
    if (pathBytes >= PATH_BYTES || path[0] !== SLASH) return false
    // It reads on to the first zero, whatever length it is told.
    path[pathBytes] = 0
    return lstat(FIRST_FOLDER, 0, PATH_AT + 1, pathBytes - 1, 0) === DONE
  }
  return { path, words: new Uint32Array(buffer, 0, STAT_BYTES / 4), look }
}

/** That it is experimental is our concern, and not for whoever runs a command. */
function withoutWarning<T>(load: () => T): T {
  const given = Object.getOwnPropertyDescriptor(process, 'emitWarning') ?? {}
  process.emitWarning = () => {}
  try {
    return load()
  } finally {
    Object.defineProperty(process, 'emitWarning', given)
  }
}

function lookAt(quick: QuickLstat, path: string): readonly number[] | undefined {
  const { ino, type, size, mtime, ctime } = STAT_WORD
  if (!quick.look(Buffer.from(path).copy(quick.path))) return undefined
  const [...words] = quick.words
  return [
    words[type],
    ...[ino, size, mtime, ctime].flatMap((at) => [words[at], words[at + 1]]),
  ].map(Number)
}

function isSame(one: readonly number[] | undefined, other: readonly number[] | undefined): boolean {
  return one !== undefined && one.join() === other?.join()
}

function lstatOf(path: Buffer) {
  try {
    return lstatSync(path, { bigint: true, throwIfNoEntry: false })
  } catch (error) {
    if (isError(error) && 'code' in error) return undefined
    throw error
  }
}
