// Checks that a received snapshot is complete, safe to restore (I4), and exactly what a capture could have stored. So its id is that
// of what a restore makes of it (I9).
import {
  type BytePath,
  joinPath,
  type Limits,
  type ObjectId,
  printablePath,
  ROOT,
  SavestateError,
} from '../../model/index.js'
import { isTemporaryName } from '../capture/capture-target.js'
import type { BlobReader } from '../git/blob-reader.js'
import { eachLine } from '../git/git-program.js'
import { MAX_PATH_BYTES, readSourceTree, type SourceEntry } from '../import/source-tree.js'
import { decodeModes, encodeModes, unusualPaths } from '../objects/modes.js'
import { objectIdOf } from '../objects/object-id.js'
import { refuseHostilePath } from '../objects/safe-path.js'
import { encodeTree, GIT_MODE, sortEntries, type TreeEntry } from '../objects/tree.js'
import type { PackedType } from './envelope.js'
import { badPack, REJECTED } from './pack-parser.js'

const MODES_START = 'savestate-modes '
const MAX_MODE = 0o7777

type Check = {
  /** The objects of the packs. */
  readonly imported: {
    /** Checked by `checkTree`. */
    readonly trees: ReadonlyMap<ObjectId, Buffer>
    readonly modes: ReadonlyMap<ObjectId, Buffer>
    /** Whether a blob may be the target of a link. */
    readonly blobs: ReadonlyMap<ObjectId, boolean>
  }
  /** They read all other objects from the store. */
  readonly gitDir: string
  readonly reader: BlobReader
  readonly limits: Limits
}

type Sum = { readonly files: number; readonly longestPath: number }

/** Returns the objects that the store already had. Throws BAD_INPUT. */
export async function checkSnapshot(
  tree: ObjectId,
  { imported, gitDir, reader, limits }: Check,
): Promise<ReadonlySet<ObjectId>> {
  const relied = new Set<ObjectId>()
  /** Blobs of the store, which must exist and be blobs. */
  const stored = new Set<ObjectId>()
  // A hostile tree may contain one folder a billion times.
  const known = new Map<ObjectId, Sum>()

  const { files, modes } = partsOf(tree, await readTree(tree))
  await visit(files.id, ROOT)
  checkModes(imported.modes.get(modes.id) ?? (await readStored(modes.id, 'blob')))
  await expectBlobs(gitDir, stored)
  for (const id of stored) relied.add(id)
  return relied

  async function visit(id: ObjectId, path: BytePath): Promise<Sum> {
    const before = known.get(id)
    if (before !== undefined) return before
    if (path.length > MAX_PATH_BYTES) throw pathTooLong()
    let sum: Sum = { files: 0, longestPath: 0 }
    for (const entry of await readTree(id)) {
      const below =
        entry.mode === GIT_MODE.folder
          ? await visit(entry.id, joinPath(path, entry.name))
          : { files: 1, longestPath: 0 }
      if (entry.mode === GIT_MODE.link) await expectLink(entry)
      else if (entry.mode !== GIT_MODE.folder && !imported.blobs.has(entry.id)) stored.add(entry.id)
      const longest = entry.name.length + 1 + below.longestPath
      sum = {
        files: sum.files + below.files,
        longestPath: Math.max(sum.longestPath, longest),
      }
      if (sum.files > limits.maxFiles)
        throw badPack(`it has more than the ${limits.maxFiles} files that a project may have`, {
          hint: 'Raise `maxFiles` in the settings.',
        })
      if (sum.longestPath > MAX_PATH_BYTES) throw pathTooLong()
    }
    known.set(id, sum)
    return sum
  }

  async function expectLink({ id, name }: TreeEntry): Promise<void> {
    const isTarget = imported.blobs.get(id) ?? isLinkTarget(await readStored(id, 'blob'))
    if (!isTarget) throw badPack(`the link ${printablePath(name)} has no valid target`)
  }

  async function readTree(id: ObjectId): Promise<readonly TreeEntry[]> {
    return checkTree(imported.trees.get(id) ?? (await readStored(id, 'tree')))
  }

  async function readStored(id: ObjectId, type: PackedType): Promise<Buffer> {
    relied.add(id)
    try {
      const content = await reader.read(id)
      if (objectIdOf(type, content) === id) return content
    } catch (error) {
      if (!(error instanceof SavestateError && error.code === 'STORE_DAMAGED')) throw error
    }
    throw lacksObject(type, id)
  }
}

function partsOf(tree: ObjectId, entries: readonly TreeEntry[]) {
  const [files, modes] = entries
  const isFiles = files?.name === 'files' && files.mode === GIT_MODE.folder
  const isModes = modes?.name === 'modes' && modes.mode === GIT_MODE.file
  if (!isFiles || !isModes || entries.length > 2)
    throw badPack(`${tree} is not the tree of a snapshot`)
  return { files, modes }
}

/** Throws unless all names are safe and the tree has git's form, so that `git fsck --strict` accepts it. */
export function checkTree(bytes: Buffer): readonly TreeEntry[] {
  const entries = readEntries(bytes).map(({ mode, name, id }) => {
    if (mode === null || isTemporaryName(name))
      throw badPack(`a tree has ${printablePath(name)}, which no checkpoint can contain`)
    return { mode, name, id }
  })
  if (!encodeTree(sortEntries(entries)).equals(bytes)) throw badPack('a tree is malformed')
  return entries
}

function readEntries(bytes: Buffer): readonly SourceEntry[] {
  try {
    return readSourceTree(bytes)
  } catch (error) {
    throw rejected(error)
  }
}

export function isLinkTarget(content: Buffer): boolean {
  return content.length > 0 && content.length <= MAX_PATH_BYTES && !content.includes(0)
}

export function startsLikeModes(content: Buffer): boolean {
  return content.toString('latin1', 0, MODES_START.length) === MODES_START
}

/** Throws unless the permissions are in the form in which a capture stores them. */
function checkModes(bytes: Buffer): void {
  try {
    const table = decodeModes(bytes)
    const modes = [...Object.values(table.usual), ...table.unusual.values()]
    const isExact = encodeModes(table).equals(bytes) && modes.every((mode) => mode <= MAX_MODE)
    if (!isExact || (table.isAssumed && table.unusual.size > 0))
      throw badPack('its permissions are malformed')
    for (const path of unusualPaths(table)) if (path !== ROOT) refuseHostilePath(path)
  } catch (error) {
    throw rejected(error)
  }
}

/** Throws unless the store has all of them, as blobs. */
async function expectBlobs(gitDir: string, ids: ReadonlySet<ObjectId>): Promise<void> {
  if (ids.size === 0) return
  const args = ['cat-file', '--batch-check=%(objectname) %(objecttype)', '--buffer']
  let lacking: string | undefined
  await eachLine(gitDir, { args, input: [...ids] }, (line) => {
    const [id, type] = line.split(' ')
    if (type !== 'blob') lacking ??= id
  })
  if (lacking !== undefined) throw lacksObject('blob', lacking)
}

function lacksObject(type: PackedType, id: string): SavestateError {
  return badPack(`neither the packs nor the store have the ${type} ${id}`)
}

function pathTooLong(): SavestateError {
  return badPack('it has a path that no file system can store')
}

/** The checks of imports and of the store report other codes and hints. */
function rejected(error: unknown): unknown {
  const isFault =
    error instanceof SavestateError && ['BAD_INPUT', 'STORE_DAMAGED'].includes(error.code)
  return isFault && !error.message.startsWith(REJECTED) ? badPack(error.message) : error
}
