// Opens the store's folder: created with mode 0700 and a `format` file, refused if the folder or the format is not ours (I8).
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { hasCode, SavestateError } from '../../model/index.js'
import { writeFileAtomically } from '../../system/index.js'
import { removeAccessOfOthers, refuseOtherOwner } from './store-owner.js'

export const FORMAT = 'savestate 1\n'
// I8: the format file of newer versions.
const NEWER = /^savestate [0-9]+\n$/

const REFUSALS = ['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EEXIST'] as const

/** Creates the store if necessary; returns its real path. Throws STORE_FOREIGN, STORE_NEWER, STORE_UNUSABLE. */
export function openHome(path: string): string {
  return prepareHome(path, removeAccessOfOthers)
}

function prepareHome(path: string, check: (home: string) => void): string {
  try {
    makeFolder(path)
  } catch (error) {
    // In /proc, where no folder can be created, mkdir fails with ENOENT.
    if (!hasCode(error, ...REFUSALS, 'ENOENT')) throw error
    throw unusableError(path, error)
  }
  try {
    const home = realpathSync(path)
    refuseOtherOwner(home)
    checkFormat(home)
    check(home)
    return home
  } catch (error) {
    if (!hasCode(error, ...REFUSALS)) throw error
    throw unusableError(path, error)
  }
}

/** Creates parents one by one: `mkdir` with `recursive` never returns below /proc. */
function makeFolder(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return
    const above = dirname(path)
    if (!hasCode(error, 'ENOENT') || existsSync(above)) throw error
    makeFolder(above)
    makeFolder(path)
  }
}

function unusableError(path: string, cause: unknown): SavestateError {
  if (path === '') {
    return new SavestateError('STORE_UNUSABLE', 'The path of the store is empty', {
      hint: 'Set SAVESTATE_HOME to a folder, or leave it unset for ~/.savestate.',
      cause,
    })
  }
  const file = findBlockingFile(path)
  if (file !== undefined) {
    return new SavestateError(
      'STORE_UNUSABLE',
      `The store ${path} cannot be created: ${file} is a file`,
      { hint: 'Choose a folder for the store with SAVESTATE_HOME.', cause },
    )
  }
  return new SavestateError('STORE_UNUSABLE', `The store ${path} cannot be opened or written`, {
    hint: 'Check the permissions, or choose another folder with SAVESTATE_HOME.',
    cause,
  })
}

/** The path or one of its parents, if that is not a folder. Undefined if none is, or if it cannot be checked. */
function findBlockingFile(path: string): string | undefined {
  for (let part = path; part !== dirname(part); part = dirname(part)) {
    try {
      const found = statSync(part, { throwIfNoEntry: false })
      if (found !== undefined) return found.isDirectory() ? undefined : part
    } catch (error) {
      if (!hasCode(error, 'ENOTDIR', ...REFUSALS)) throw error
    }
  }
  return undefined
}

/**
 * Like `openHome`, for a store that may be damaged: accepts a wrong format file if the folder has the files of a store, and access
 * of other users, which `verify` reports.
 */
export function inspectHome(path: string): string {
  if (!existsSync(path) || !hasFormatFault(path)) return prepareHome(path, () => undefined)
  const home = realpathSync(path)
  refuseOtherOwner(home)
  return home
}

/** If the folder is not accessible, opening it reports the error. */
function hasFormatFault(path: string): boolean {
  try {
    return formatFault(realpathSync(path)) !== undefined
  } catch (error) {
    if (!hasCode(error, ...REFUSALS)) throw error
    return false
  }
}

/** Describes what is wrong with the format file; undefined also if the folder is no store. Throws STORE_NEWER. */
export function formatFault(home: string): string | undefined {
  const format = readIfThere(join(home, 'format'))
  if (format === FORMAT || !hasStoreFiles(home)) return undefined
  if (format === undefined) return 'the format file is missing'
  if (NEWER.test(format)) checkFormat(home)
  return 'the format file is damaged'
}

/** For a store that has been open for a while: another program may have removed it or migrated it to a newer format (I8). */
export function expectStoreExists(home: string): void {
  const format = readIfThere(join(home, 'format'))
  if (format === FORMAT) return
  if (format !== undefined && NEWER.test(format)) checkFormat(home)
  if (existsSync(join(home, 'ledger.db'))) return
  throw new SavestateError('STORE_UNUSABLE', `The store ${home} no longer exists`, {
    hint: 'Nothing has been saved. Put the store back if it was moved, and open it again.',
  })
}

function hasStoreFiles(home: string): boolean {
  return (
    existsSync(join(home, 'ledger.db')) ||
    existsSync(join(home, 'objects.git', 'refs', 'savestate'))
  )
}

/** If the ledger is missing and checkpoints exist, creating a new ledger would hide them. Throws STORE_DAMAGED. */
export function refuseMissingLedger(home: string): void {
  const size = statSync(join(home, 'ledger.db'), { throwIfNoEntry: false })?.size ?? 0
  if (size > 0) return
  const gitDir = join(home, 'objects.git')
  const refs = join(gitDir, 'refs', 'savestate')
  const hasRefs = existsSync(refs) && readdirSync(refs).length > 0
  if (!hasRefs && !existsSync(join(gitDir, 'packed-refs'))) return
  throw new SavestateError('STORE_DAMAGED', 'The ledger of the store is missing', {
    hint: 'Run `savestate repair`. The files of every checkpoint are still in objects.git.',
  })
}

function checkFormat(home: string): void {
  const path = join(home, 'format')
  const format = readIfThere(path)
  if (format === FORMAT) return
  if (format !== undefined) {
    const shown = JSON.stringify(format.trim().slice(0, 60))
    throw new SavestateError('STORE_NEWER', `The store ${home} has the format ${shown}`, {
      hint: 'It was made by a newer version of Savestate: update. If not, `savestate repair` checks it. Nothing has been changed.',
    })
  }
  refuseNonEmpty(home)
  chmodSync(home, 0o700)
  // Check again: before the chmod, other users may have been able to write to it.
  refuseNonEmpty(home)
  refuseOtherOwner(home)
  writeFileAtomically({ path, content: FORMAT, durable: true })
}

function refuseNonEmpty(home: string): void {
  if (isEmpty(home) || readIfThere(join(home, 'format')) === FORMAT) return
  throw new SavestateError('STORE_UNUSABLE', `${home} is not empty and is not a store`, {
    hint: 'Point SAVESTATE_HOME at a new or empty folder.',
  })
}

/** Ignores the temporary file of another process that is creating the store, and settings, which may exist before the store. */
function isEmpty(home: string): boolean {
  return readdirSync(home).every((name) => name.startsWith('format.') || name === 'config.json')
}

/** Empty if it is no regular file: reading a pipe would block forever. */
function readIfThere(path: string): string | undefined {
  try {
    const found = statSync(path, { throwIfNoEntry: false })
    if (found === undefined) return undefined
    return found.isFile() ? readFileSync(path, 'utf8') : ''
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    if (hasCode(error, 'ELOOP')) return ''
    throw error
  }
}
