// The folder that a checkpoint is written into: new or empty, outside of the project and of the store (I4).
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
} from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import {
  type BytePath,
  bytePath,
  bytePathFromBytes,
  fsPath,
  hasCode,
  isInside,
  joinPath,
  type Project,
  SavestateError,
} from '../../model/index.js'
import { refuseUnsafeFolder } from '../../snapshot/index.js'
import type { StoreContext } from '../operation/context.js'

export type Destination = {
  /** Its real path. */
  readonly path: BytePath
  /** Removes what was created, including folders above it that did not exist. An empty folder of the user stays. */
  readonly discard: () => void
}

/** Creates the folder. Throws BAD_INPUT if it contains something, and PROJECT_REFUSED. Nothing is created then. */
export function prepareDestination(
  { home }: StoreContext,
  text: string,
  { outside }: { readonly outside: Project },
): Destination {
  if (text === '' || text.includes('\0'))
    throw new SavestateError('BAD_INPUT', 'The name of a folder cannot be empty')
  const path = resolveWithReal(resolve(text))
  const isTaken = isTakenByUser(path, text)
  if (isInside(path, outside.path))
    throw refusal(text, 'is in the project: the next save would capture it')
  refuseUnsafeFolder(path, bytePath(home))
  const first = mkdirSync(fsPath(path), { recursive: true })
  const discard = () => {
    if (!isTaken && first !== undefined) return removeFolder(first)
    for (const name of namesIn(path)) removeFolder(fsPath(joinPath(path, name)))
  }
  return { path, discard }
}

/** True for an empty folder that exists already. */
function isTakenByUser(path: BytePath, text: string): boolean {
  const stats = lstatSync(fsPath(path), { throwIfNoEntry: false })
  if (stats === undefined) return false
  if (!stats.isDirectory()) throw refusal(text, 'exists and is not a folder')
  if (namesIn(path).length > 0) throw refusal(text, 'is not empty')
  return true
}

function refusal(text: string, why: string): SavestateError {
  return new SavestateError('BAD_INPUT', `${JSON.stringify(text)} ${why}`, {
    hint: 'Name a new or empty folder outside of the project. Nothing has been written.',
  })
}

/** The real path of the nearest existing folder above, then the other names. */
function resolveWithReal(path: string): BytePath {
  try {
    return bytePathFromBytes(realpathSync.native(path, 'buffer'))
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error
  }
  const above = dirname(path)
  return above === path
    ? bytePath(path)
    : joinPath(resolveWithReal(above), bytePath(basename(path)))
}

function namesIn(folder: BytePath): string[] {
  return readdirSync(fsPath(folder), { encoding: 'latin1' })
}

/** Removes a file or folder completely, also if the checkpoint has folders without write permission. Follows no link. */
export function removeFolder(path: string | Buffer): void {
  try {
    rmSync(path, { recursive: true, force: true })
  } catch (error) {
    if (!hasCode(error, 'EACCES', 'EPERM')) throw error
    openFolders(String(path))
    rmSync(path, { recursive: true, force: true })
  }
}

function openFolders(path: string): void {
  if (!lstatSync(path).isDirectory()) return
  chmodSync(path, statSync(path).mode | 0o700)
  for (const entry of readdirSync(path, { withFileTypes: true }))
    if (entry.isDirectory()) openFolders(join(path, entry.name))
}
