// Paths from the store lead to writes in the user's folder, so they are not trusted (I4). Our captures never store a name such
// as `..` or `.git`; a store that contains one was damaged or attacked.
import {
  type BytePath,
  staysBelowRoot,
  parentOf,
  printablePath,
  SavestateError,
} from '../../model/index.js'
import { isReservedName } from '../capture/scan/reserved-name.js'

export function refuseHostilePath(path: BytePath): void {
  if (staysBelowRoot(path) && !hasReservedName(path)) return
  throw hostileSnapshot(`has ${printablePath(path)}, which no checkpoint can contain`)
}

/** Refuses duplicate paths and paths inside non-folders: written one after the other, they could lead outside. */
export function refuseHostileTree(
  entries: readonly { readonly path: BytePath; readonly type: string }[],
): void {
  const typeOf = new Map<BytePath, string>()
  for (const { path, type } of entries) {
    refuseHostilePath(path)
    if (typeOf.has(path)) throw hostileSnapshot(`has ${printablePath(path)} twice`)
    typeOf.set(path, type)
  }
  for (const path of typeOf.keys()) {
    const above = typeOf.get(parentOf(path))
    if (path !== '' && above !== undefined && above !== 'folder')
      throw hostileSnapshot(`has ${printablePath(path)} in something that is not a folder`)
  }
}

export function hostileSnapshot(what: string): SavestateError {
  return new SavestateError('STORE_DAMAGED', `A snapshot in the store ${what}`, {
    hint: 'Nothing has been changed. Run `savestate verify` to see which checkpoints are affected.',
  })
}

function hasReservedName(path: BytePath): boolean {
  // A quick test: most paths contain none of these letters.
  if (!/git/i.test(path) && !path.includes('\xe2') && !path.includes('\xef')) return false
  return path.split('/').some((name) => isReservedName(name as BytePath))
}
