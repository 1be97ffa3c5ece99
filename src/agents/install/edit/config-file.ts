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
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, isAbsolute, parse, resolve, sep } from 'node:path'
import { hasCode } from '../../../base/index.js'
import { explainSystemError, SavestateError } from '../../../internal.js'
import { pathBelow } from '../config-paths.js'

const MAX_BYTES = 16 * 1024 * 1024

/** As many as Linux follows. */
const MAX_LINKS = 40

/** The text of a file; undefined if it is not there. Throws CONFIG_INVALID for what is no text. */
export function readConfig(path: string): string | undefined {
  const bytes = ifThere(() => {
    const found = statSync(path)
    if (found.isDirectory())
      throw new SavestateError('FILE_FAILED', `${path} is a folder, but must be a file`, {
        hint: 'Fix it, then run the command again.',
      })
    const { size } = found
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
    throw new SavestateError('CONFIG_INVALID', `${path} changed while the question was open`, {
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
    ifThere(() => unlinkSync(temporary))
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
      if (!hasCode(error, 'ENOTEMPTY', 'EEXIST', 'ENOENT')) throw error
    }
  }
}

/** For a file that is to be made. Throws CONFIG_INVALID where it never can be. */
export function expectPlace(path: string): void {
  missingFolders(dirname(targetOf(path)))
}

/**
 * Throws CONFIG_INVALID for a path in the project that leads out of it: a repository brings its own links, and must not
 * choose which files of its user are written (I4).
 */
export function expectInside(path: string, root: string): void {
  if (pathBelow(root, path) === undefined || pathBelow(root, targetOf(path)) !== undefined) return
  throw new SavestateError(
    'CONFIG_INVALID',
    `${path} is left as it is: a symbolic link leads from it out of the project, to ${targetOf(path)}`,
    { hint: 'Remove the link, or install without --project.' },
  )
}

/** Where a path leads, link by link, as the system goes; also if there is nothing yet. Throws CONFIG_INVALID. */
function targetOf(path: string): string {
  const { root } = parse(path)
  const ahead = path.slice(root.length).split(sep)
  let at = root
  let links = 0
  for (let part = ahead.shift(); part !== undefined; part = ahead.shift()) {
    const next = resolve(at, part)
    const link = linkAt(next)
    if (link === undefined) at = next
    else {
      links += 1
      if (links > MAX_LINKS) throw circle()
      ahead.unshift(...link.split(sep))
      if (isAbsolute(link)) at = parse(link).root
    }
  }
  return at
}

function linkAt(path: string): string | undefined {
  return ifThere(() => (lstatSync(path).isSymbolicLink() ? readlinkSync(path) : undefined))
}

function circle(cause?: unknown): SavestateError {
  return new SavestateError('CONFIG_INVALID', 'it is a loop of symbolic links', { cause })
}

/** Outermost first. Throws CONFIG_INVALID where one of them, or what is above them, is no folder. */
function missingFolders(folder: string): readonly string[] {
  const found = ifThere(() => statSync(folder))
  if (found === undefined) return [...missingFolders(dirname(folder)), folder]
  if (found.isDirectory()) return []
  throw new SavestateError('CONFIG_INVALID', `${folder} is in the way: it is not a folder`)
}

function makeFolders(folder: string, mode: number): readonly string[] {
  const missing = missingFolders(folder)
  try {
    for (const one of missing) {
      mkdirSync(one)
      // The umask is that of the store, which is for nobody else.
      chmodSync(one, mode)
    }
  } catch (error) {
    throw explainSystemError(error)
  }
  return missing
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
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return undefined
    if (hasCode(error, 'ELOOP')) throw circle(error)
    throw explainSystemError(error)
  }
}
