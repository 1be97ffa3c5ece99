// Writes new content next to its final path, flushes it and verifies it against its id.
import { createHash } from 'node:crypto'
import { closeSync, fstatSync, fsync, openSync, symlinkSync, unlinkSync } from 'node:fs'
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
import { absolute, temporaryName, temporaryPrefix } from '../capture/capture-target.js'
import { listFolder } from '../capture/scan/list-folder.js'
import { objectHeader } from '../objects/object-id.js'
import type { RestoreWork } from './apply.js'
import { ownNewFile, ownNewLink, type PartialMode, setModeAt } from './permissions.js'
import { FolderReplaced, visitFolders, withUserPath } from './safe-folders.js'

const fsyncAsync = promisify(fsync)

export type Staged = {
  readonly write: PlannedWrite
  readonly temporary: BytePath
  /** Its actual mode, if it could not get its recorded one. */
  readonly partial?: Pick<PartialMode, 'mode' | 'why'> | undefined
}

/** `firstNumber` keeps the names of two stagings of one operation distinct. */
export async function stage(
  writes: readonly PlannedWrite[],
  context: RestoreWork,
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
        const partial = await stageOne({ write, temporary }, { ...context, opened })
        staged.push({ write, temporary, partial })
      } catch (error) {
        if (!(error instanceof FolderReplaced) && !hasCode(error, 'ENOENT', 'ENOTDIR'))
          throw withUserPath(error, absolute(context, write.path))
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

/** `opened` receives the descriptor of a new file, to flush and close it. */
async function stageOne(
  { write, temporary }: Staged,
  context: RestoreWork & { readonly opened: (fd: number) => void },
): Promise<Staged['partial']> {
  const { path, to } = write
  invariant(to.type !== 'folder', 'only files and links are staged')
  const { folders, blobs, onProgress } = context
  const owner = context.lookupOwner(path)
  if (to.type === 'link') {
    const target = await blobs.read(to.blob)
    symlinkSync(target, folders.at(temporary))
    ownNewLink(folders.at(temporary), owner)
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
    throw new SavestateError('STORE_DAMAGED', `Object ${to.blob} in the store is damaged`, {
      hint: 'The project has not been changed. Run `savestate verify` to see which checkpoints are affected.',
    })
  }
  const folder = fstatSync(folders.descriptor(parentOf(path)))
  const granted = ownNewFile(fd, { wanted: to.mode, owner, folder })
  const partialMode = setModeAt(fd, granted.mode)
  onProgress(1, written)
  if (partialMode !== undefined) return { mode: partialMode, why: 'system' }
  return granted.why === undefined ? undefined : { mode: granted.mode, why: granted.why }
}

/** Removes what an attempt at the rewind has staged, in this process or in a killed one. */
export function removeLeftovers({ folders, sweep, tag, beforeWriteIn }: RestoreWork): void {
  visitFolders(folders, sweep, (folder) => {
    for (const name of listFolder(folders.listable(folder))?.keys() ?? []) {
      if (!name.startsWith(temporaryPrefix(tag))) continue
      const path = joinPath(folder, name)
      try {
        beforeWriteIn(folder)
        unlinkSync(folders.at(path))
      } catch (error) {
        throw withUserPath(error, path)
      }
    }
  })
}
