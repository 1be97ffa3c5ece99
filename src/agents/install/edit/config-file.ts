// Reads and writes configuration files of other programs. Keeps links and modes, writes atomically, and does not overwrite
// a file that has changed since it was read.
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, isAbsolute, join, sep } from 'node:path'
import { hasCode } from '../../../base/index.js'
import { explainSystemError, SavestateError } from '../../../internal.js'
import { pathBelow } from '../config-paths.js'

const MAX_BYTES = 16 * 1024 * 1024

/** As many as Linux follows. */
const MAX_LINKS = 40

/** Undefined if there is no file. Throws CONFIG_INVALID if it is not UTF-8. */
export function readConfig(path: string): string | undefined {
  const bytes = ifExists(() => {
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

type ConfigWrite = {
  readonly path: string
  /** The content that the plan was made from. */
  readonly before: string | undefined
  /** Undefined removes the file. */
  readonly after: string | undefined
  /** For a new file. */
  readonly mode: number
  /** Only the user may read it afterwards. */
  readonly isSecret?: boolean
  /** For new folders. */
  readonly folderMode: number
}

/** Returns the folders that it created, outermost first. */
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
  const target = followLinks(path)
  if (after === undefined) {
    rmSync(target, { force: true })
    return []
  }
  const created = makeFolders(dirname(target), folderMode)
  const known = ifExists(() => statSync(target).mode & 0o7777)
  const temporary = `${target}.savestate-${process.pid}.tmp`
  try {
    writeFileSync(temporary, after, { flag: 'wx', mode: 0o600, flush: true })
    chmodSync(temporary, (known ?? mode) & (isSecret ? 0o700 : 0o7777))
    renameSync(temporary, target)
  } catch (error) {
    ifExists(() => unlinkSync(temporary))
    throw explainSystemError(error)
  }
  return created
}

/** Innermost first. Folders that are not empty stay. */
export function removeFolders(folders: readonly string[]): void {
  for (const folder of folders.toReversed()) {
    try {
      rmdirSync(folder)
    } catch (error) {
      if (!hasCode(error, 'ENOTEMPTY', 'EEXIST', 'ENOENT')) throw error
    }
  }
}

/** Throws CONFIG_INVALID if the file cannot be created because a parent is not a folder. */
export function expectCreatable(path: string): void {
  missingFolders(dirname(followLinks(path)))
}

/**
 * Throws CONFIG_INVALID for a path in the project that leads out of it: a repository may contain symbolic links, and must not
 * choose which files of the user we write (I4).
 */
export function expectInside(path: string, root: string): void {
  if (pathBelow(root, path) === undefined || pathBelow(root, followLinks(path)) !== undefined)
    return
  throw new SavestateError(
    'CONFIG_INVALID',
    `${path} is left as it is: a symbolic link leads from it out of the project, to ${followLinks(path)}`,
    { hint: 'Remove the link, or install without --project.' },
  )
}

/** Resolves links like the kernel, but also for a path that does not exist yet. Throws CONFIG_INVALID. */
function followLinks(path: string, links = 0): string {
  if (links > MAX_LINKS) throw linkLoop()
  const folder = dirname(path)
  if (folder === path) return path
  const parent = followLinks(folder, links)
  const here = join(parent, basename(path))
  const link = ifExists(() => (lstatSync(here).isSymbolicLink() ? readlinkSync(here) : undefined))
  if (link === undefined) return here
  // Not normalized: `..` after a link leads elsewhere than the text suggests.
  return followLinks(isAbsolute(link) ? link : `${parent}${sep}${link}`, links + 1)
}

function linkLoop(cause?: unknown): SavestateError {
  return new SavestateError('CONFIG_INVALID', 'it is a loop of symbolic links', { cause })
}

/** Outermost first. Throws CONFIG_INVALID if an existing parent is not a folder. */
function missingFolders(folder: string): readonly string[] {
  const found = ifExists(() => statSync(folder))
  if (found === undefined) return [...missingFolders(dirname(folder)), folder]
  if (found.isDirectory()) return []
  throw new SavestateError('CONFIG_INVALID', `${folder} is in the way: it is not a folder`)
}

function makeFolders(folder: string, mode: number): readonly string[] {
  const missing = missingFolders(folder)
  try {
    for (const one of missing) {
      mkdirSync(one)
      // Our umask is the strict one of the store.
      chmodSync(one, mode)
    }
  } catch (error) {
    throw explainSystemError(error)
  }
  return missing
}

function ifExists<Result>(read: () => Result): Result | undefined {
  try {
    return read()
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return undefined
    if (hasCode(error, 'ELOOP')) throw linkLoop(error)
    throw explainSystemError(error)
  }
}
