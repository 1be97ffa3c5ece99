// Reads one tree of a foreign repository. Git stores any bytes, so nothing in it is trusted: a name could lead out of the folder,
// or into a `.git` (I4).
import { type BytePath, type ObjectId, printablePath, SavestateError } from '../../model/index.js'
import { isReservedName } from '../capture/scan/reserved-name.js'
import { GIT_MODE, type GitMode } from '../objects/tree.js'

export type SourceEntry = {
  readonly name: BytePath
  readonly id: ObjectId
  /** Null for a submodule (a commit of another repository). */
  readonly mode: GitMode | null
}

const ID_BYTES = 20
export const MAX_PATH_BYTES = 4095

/** Throws BAD_INPUT for a malformed or unsafe tree. */
export function readSourceTree(bytes: Buffer): SourceEntry[] {
  const entries: SourceEntry[] = []
  const names = new Set<BytePath>()
  for (let at = 0; at < bytes.length; ) {
    const blank = bytes.indexOf(0x20, at)
    const end = blank === -1 ? -1 : bytes.indexOf(0, blank)
    if (end === -1 || end + ID_BYTES >= bytes.length) throw badSource('a tree is malformed')
    const name = bytes.latin1Slice(blank + 1, end) as BytePath
    refuseName(name)
    if (names.has(name)) throw badSource(`a tree has ${printablePath(name)} twice`)
    names.add(name)
    const mode = modeOf(bytes.latin1Slice(at, blank), name)
    entries.push({ name, mode, id: bytes.hexSlice(end + 1, end + 1 + ID_BYTES) as ObjectId })
    at = end + 1 + ID_BYTES
  }
  return entries
}

function refuseName(name: BytePath): void {
  const fault =
    name === ''
      ? 'an entry without a name'
      : name === '.' || name === '..' || name.includes('/') || isReservedName(name)
        ? `an entry named ${printablePath(name)}`
        : name.length > MAX_PATH_BYTES
          ? 'an entry with a name that no file system can store'
          : undefined
  if (fault !== undefined) throw badSource(`a tree has ${fault}`)
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
