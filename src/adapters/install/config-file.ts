// Configurations of other programs, read and written with care: links stay links, modes stay, a write is whole or
// did not happen, and what somebody else has changed meanwhile is not written over.
import {
  chmodSync,
  closeSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, resolve } from 'node:path'
import { explainSystemError, SavestateError } from '../../index.js'

const MAX_BYTES = 16 * 1024 * 1024

/** The text of a file; undefined if it is not there. Throws CONFIG_INVALID for what is no text. */
export function readConfig(path: string): string | undefined {
  const bytes = ifThere(() => {
    const { size } = statSync(path)
    if (size > MAX_BYTES) throw new SavestateError('CONFIG_INVALID', 'it is too large')
    return readFileSync(path)
  })
  if (bytes === undefined) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (cause) {
    throw new SavestateError('CONFIG_INVALID', 'it is not UTF-8 text', { cause })
  }
}

export type ConfigWrite = {
  readonly path: string
  /** What it held when it was looked at. */
  readonly before: string | undefined
  /** Undefined: it is removed. */
  readonly after: string | undefined
  /** For a file that is new. */
  readonly mode: number
  /** Nobody else may read it from now on. */
  readonly isSecret?: boolean
  /** For folders that are new. */
  readonly folderMode: number
}

/** The folders that had to be made, outermost first. */
export function writeConfig({
  path,
  before,
  after,
  mode,
  isSecret = false,
  folderMode,
}: ConfigWrite): readonly string[] {
  if (readConfig(path) !== before) {
    throw new SavestateError('CONFIG_INVALID', `${path} was changed while you were asked`, {
      hint: 'Nothing was written to it. Run the command again.',
    })
  }
  const target = targetOf(path)
  if (after === undefined) {
    rmSync(target, { force: true })
    return []
  }
  const made = makeFolders(dirname(target), folderMode)
  const known = ifThere(() => statSync(target).mode & 0o7777)
  const temporary = `${target}.savestate-${process.pid}.tmp`
  try {
    writeFileSync(temporary, after, { flag: 'wx', mode: 0o600 })
    chmodSync(temporary, (known ?? mode) & (isSecret ? 0o700 : 0o7777))
    synced(temporary)
    renameSync(temporary, target)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw explainSystemError(error)
  }
  return made
}

/** Innermost first; one that has something in it stays. */
export function removeFolders(folders: readonly string[]): void {
  for (const folder of folders.toReversed()) {
    try {
      rmdirSync(folder)
    } catch (error) {
      if (!isCode(error, 'ENOTEMPTY', 'EEXIST', 'ENOENT')) throw error
    }
  }
}

/** Where a link leads, also if there is nothing yet. */
function targetOf(path: string): string {
  const real = ifThere(() => realpathSync(path))
  if (real !== undefined) return real
  const isLink = ifThere(() => lstatSync(path).isSymbolicLink()) === true
  return isLink ? resolve(dirname(path), readlinkSync(path)) : path
}

function makeFolders(folder: string, mode: number): readonly string[] {
  if (ifThere(() => statSync(folder)) !== undefined) return []
  const made = makeFolders(dirname(folder), mode)
  try {
    mkdirSync(folder)
    // The umask is that of the store, which is for nobody else.
    chmodSync(folder, mode)
  } catch (error) {
    throw explainSystemError(error)
  }
  return [...made, folder]
}

function synced(path: string): void {
  const fd = openSync(path, 'r+')
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

function ifThere<Result>(look: () => Result): Result | undefined {
  try {
    return look()
  } catch (error) {
    if (isCode(error, 'ENOENT', 'ENOTDIR')) return undefined
    throw explainSystemError(error)
  }
}

function isCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && codes.some((code) => code === error.code)
}
