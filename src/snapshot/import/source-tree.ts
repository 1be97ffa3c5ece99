// Reads one tree of a foreign repository. Git stores any bytes, so nothing in it is trusted: a name could lead out of the folder,
// or into a `.git` (I4).
import { type BytePath, type ObjectId, printablePath, SavestateError } from '../../model/index.js'
import { isReservedName } from '../capture/scan/reserved-name.js'
import { decodeTree, GIT_MODE, type GitMode, type TreeEntry } from '../objects/tree.js'

export type SourceEntry = {
  readonly name: BytePath
  readonly id: ObjectId
  /** Null for a submodule (a commit of another repository). */
  readonly mode: GitMode | null
}

export const MAX_PATH_BYTES = 4095

/** Throws BAD_INPUT for a malformed or unsafe tree. */
export function readSourceTree(bytes: Buffer): SourceEntry[] {
  const names = new Set<BytePath>()
  return decode(bytes).map(({ name, mode, id }) => {
    refuseName(name)
    if (names.has(name)) throw badSource(`a tree has ${printablePath(name)} twice`)
    names.add(name)
    return { name, id, mode: modeOf(mode, name) }
  })
}

function decode(bytes: Buffer): TreeEntry[] {
  try {
    return decodeTree(bytes)
  } catch (error) {
    if (!(error instanceof SavestateError)) throw error
    throw badSource('a tree is malformed')
  }
}

function refuseName(name: BytePath): void {
  if (name === '') throw badSource('a tree has an entry without a name')
  if (name === '.' || name === '..' || name.includes('/') || isReservedName(name))
    throw badSource(`a tree has an entry named ${printablePath(name)}`)
  if (name.length > MAX_PATH_BYTES)
    throw badSource('a tree has an entry with a name that no file system can store')
}

/** Old programs wrote modes such as 100664 and 040000; their meaning is clear. */
function modeOf(digits: string, name: BytePath): GitMode | null {
  const mode = /^[0-7]{5,7}$/.test(digits) ? Number.parseInt(digits, 8) : 0
  switch (mode & 0o170000) {
    case 0o040000:
      return GIT_MODE.folder
    case 0o100000:
      return (mode & 0o100) === 0 ? GIT_MODE.file : GIT_MODE.executable
    case 0o120000:
      return GIT_MODE.link
    case 0o160000:
      return null
    default:
      throw badSource(`a tree has ${printablePath(name)} with the mode ${JSON.stringify(digits)}`)
  }
}

export function badSource(message: string): SavestateError {
  return new SavestateError('BAD_INPUT', message)
}
