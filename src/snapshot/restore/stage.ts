// New content, complete and durable beside its place, checked against its id before it is used.
import { createHash } from 'node:crypto'
import {
  closeSync,
  fchownSync,
  fstatSync,
  fsync,
  lchownSync,
  lstatSync,
  openSync,
  symlinkSync,
} from 'node:fs'
import { promisify } from 'node:util'
import {
  type BytePath,
  hasCode,
  invariant,
  joinPath,
  parentOf,
  type PlannedWrite,
  SavestateError,
} from '../../model/index.js'
import { writeAll } from '../../system/index.js'
import { absolute, temporaryName } from '../capture/site.js'
import type { BlobReader } from '../git/blob-reader.js'
import { objectHeader } from '../objects/object-id.js'
import { FolderReplaced, type SafeFolders } from './safe-folders.js'
import { setModeAt } from './special-bits.js'
import { inUserWords } from './user-words.js'

const fsyncAsync = promisify(fsync)

export type Staged = {
  readonly write: PlannedWrite
  readonly temporary: BytePath
  /** The mode that it has, if the system did not let it have the one it is to get. */
  readonly partialMode?: number | undefined
}

export type StageContext = {
  readonly root: BytePath
  readonly folders: SafeFolders
  readonly blobs: BlobReader
  readonly tag: string
  readonly durable: boolean
  readonly beforeWriteIn: (folder: BytePath) => void
  readonly onProgress: (files: number, bytes: number) => void
}

/** `firstNumber` keeps the names of two stagings of one operation apart. */
export async function stage(
  writes: readonly PlannedWrite[],
  context: StageContext,
  firstNumber: number,
): Promise<{ staged: Staged[]; disturbed: BytePath[] }> {
  const staged: Staged[] = []
  const disturbed: BytePath[] = []
  const unsynced: number[] = []
  const closeAll = () => {
    for (const fd of unsynced.splice(0)) closeSync(fd)
  }
  const sync = async () => {
    if (context.durable) await Promise.all(unsynced.map((fd) => fsyncAsync(fd)))
    closeAll()
  }
  try {
    for (const [i, write] of writes.entries()) {
      const name = temporaryName(context.tag, firstNumber + i)
      const temporary = joinPath(parentOf(write.path), name)
      try {
        context.beforeWriteIn(parentOf(write.path))
        const opened = (fd: number) => unsynced.push(fd)
        const partialMode = await stageOne({ write, temporary }, { ...context, opened })
        staged.push({ write, temporary, partialMode })
      } catch (error) {
        if (!(error instanceof FolderReplaced) && !hasCode(error, 'ENOENT', 'ENOTDIR'))
          throw inUserWords(error, absolute(context, write.path))
        disturbed.push(write.path)
      }
      if (unsynced.length >= context.folders.atOnce) await sync()
    }
    await sync()
  } finally {
    closeAll()
  }
  return { staged, disturbed }
}

/** `opened` gets the descriptor of a new file, to flush and close. Returns what `setModeAt` does. */
async function stageOne(
  { write, temporary }: Staged,
  context: StageContext & { readonly opened: (fd: number) => void },
): Promise<number | undefined> {
  const { to } = write
  invariant(to.type !== 'folder', 'only files and links are staged')
  const { folders, blobs, onProgress } = context
  const owner = ownerFor(write, folders)
  if (to.type === 'link') {
    const target = await blobs.read(to.blob)
    symlinkSync(target, folders.at(temporary))
    if (owner !== undefined) lchownSync(folders.at(temporary), owner.uid, owner.gid)
    onProgress(1, target.length)
    return undefined
  }
  const fd = openSync(folders.at(temporary), 'wx', 0o600)
  context.opened(fd)
  const hash = createHash('sha1')
  let written = 0
  await blobs.stream(to.blob, {
    start: (size) => hash.update(objectHeader('blob', size)),
    chunk: (bytes) => {
      hash.update(bytes)
      writeAll(fd, bytes)
      written += bytes.length
    },
  })
  if (hash.digest('hex') !== to.blob) {
    throw new SavestateError('STORE_DAMAGED', `Object ${to.blob} of the store is damaged`, {
      hint: 'Nothing of the project has been changed. Run `savestate verify`.',
    })
  }
  if (owner !== undefined) fchownSync(fd, owner.uid, owner.gid)
  const partialMode = setModeAt(fd, to.mode)
  onProgress(1, written)
  return partialMode
}

/** Run as root, a restored file keeps its owner, or gets that of its folder. */
function ownerFor(
  { path, from }: PlannedWrite,
  folders: SafeFolders,
): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined
  const stats =
    from === undefined ? fstatSync(folders.descriptor(parentOf(path))) : lstatSync(folders.at(path))
  return stats.uid === 0 && stats.gid === 0 ? undefined : { uid: stats.uid, gid: stats.gid }
}
