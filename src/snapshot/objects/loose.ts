// Loose objects, for saves of a few files: write all, flush all at once, then name all.
import {
  type PathLike,
  chmodSync,
  closeSync,
  fsync,
  mkdirSync,
  openSync,
  renameSync,
} from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { hasCode, type ObjectId } from '../../model/index.js'
import { failpoint, listIfExists, writeAll } from '../../system/index.js'
import { objectHeader, type ObjectType } from './object-id.js'
import { deflate } from './deflate.js'

const fsyncAsync = promisify(fsync)
/** Flushed together; a process may open only so many files. */
const OPEN_AT_ONCE = 32

export type NewObject = {
  readonly id: ObjectId
  readonly type: ObjectType
  readonly content: Uint8Array
}

export function loosePath(objectsFolder: string, id: ObjectId): string {
  return join(objectsFolder, id.slice(0, 2), id.slice(2))
}

/** Looks up loose objects, listing each of the 256 folders at most once. Does not see later changes. */
export class LooseListing {
  readonly #objectsFolder: string
  readonly #names = new Map<string, ReadonlySet<string>>()

  constructor(objectsFolder: string) {
    this.#objectsFolder = objectsFolder
  }

  has(id: ObjectId): boolean {
    const prefix = id.slice(0, 2)
    let names = this.#names.get(prefix)
    if (names === undefined) {
      names = new Set(listIfExists(join(this.#objectsFolder, prefix)))
      this.#names.set(prefix, names)
    }
    return names.has(id.slice(2))
  }
}

export type WriteLoose = {
  readonly folder: string
  readonly temporary: string
  readonly durable: boolean
  /** Descriptors to flush together with the objects. */
  readonly also?: readonly number[]
  /** Folders to flush together with those that changed. */
  readonly folders?: readonly string[]
  /** Called once the objects are readable; their names are not flushed yet. */
  readonly onNamed?: (() => void) | undefined
}

export async function writeLooseObjects(
  objects: readonly { readonly id: ObjectId; readonly bytes: Uint8Array }[],
  { folder, temporary, durable, also = [], folders = [], onNamed }: WriteLoose,
): Promise<void> {
  const open: number[] = []
  const flush = async (fds: readonly number[]) => {
    if (durable) await Promise.all(fds.map((fd) => fsyncAsync(fd)))
    for (const fd of open.splice(0)) closeSync(fd)
  }
  try {
    for (const { id, bytes } of objects) {
      const fd = openSync(join(temporary, id), 'w', 0o600)
      open.push(fd)
      writeAll(fd, bytes)
      if (open.length >= OPEN_AT_ONCE) await flush(open)
    }
    await flush([...open, ...also])
  } finally {
    for (const fd of open) closeSync(fd)
  }
  failpoint('loose:written')
  const changed = new Set(folders)
  for (const { id } of objects)
    for (const name of nameLooseObject(folder, { id, path: join(temporary, id) })) changed.add(name)
  onNamed?.()
  if (durable) await syncFolders(changed)
}

export function looseBytes({ type, content }: Omit<NewObject, 'id'>): Buffer {
  const header = Buffer.from(objectHeader(type, content.length))
  return Buffer.from(deflate(Buffer.concat([header, content])))
}

/** Moves a complete temporary file to its final path; returns the folders whose entries changed. */
export function nameLooseObject(
  folder: string,
  { id, path }: { readonly id: ObjectId; readonly path: string },
): string[] {
  const folderOfObject = join(folder, id.slice(0, 2))
  const changed = [folderOfObject]
  try {
    renameSync(path, loosePath(folder, id))
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error
    mkdirSync(folderOfObject, { recursive: true, mode: 0o700 })
    // With a restrictive umask the folder could not be written to later.
    chmodSync(folderOfObject, 0o700)
    renameSync(path, loosePath(folder, id))
    changed.push(folder)
  }
  failpoint('loose:named')
  return changed
}

export async function syncFolders(folders: Iterable<PathLike>): Promise<void> {
  if (process.platform === 'win32') return
  const all = [...folders]
  for (let at = 0; at < all.length; at += OPEN_AT_ONCE) {
    const group = all.slice(at, at + OPEN_AT_ONCE)
    await syncAndClose(group.map((folder) => openSync(folder, 'r')))
  }
}

export async function syncAndClose(fds: readonly number[]): Promise<void> {
  try {
    await Promise.all(fds.map((fd) => fsyncAsync(fd)))
  } finally {
    for (const fd of fds) closeSync(fd)
  }
}
