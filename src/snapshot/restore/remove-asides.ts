// Removes the files that a rewind moved aside. A file is removed only if its current content is in a checkpoint. If a program
// wrote to it while it was being moved or had it open, the new content is stored; the caller records it and then calls this
// again (I3).
import { fchmodSync, fstatSync, lstatSync, readlinkSync, unlinkSync } from 'node:fs'
import {
  type BytePath,
  type FileEntry,
  hasCode,
  joinPath,
  type LinkEntry,
  type ObjectId,
  parentOf,
} from '../../model/index.js'
import { failpoint } from '../../system/index.js'
import { listFolder } from '../capture/scan/list-folder.js'
import { readStable } from '../capture/hash/read-file.js'
import { type Aside, isKnown, pathsByAsideName } from './aside.js'
import { visitFolders } from './leftovers.js'
import type { SafeFolders } from './safe-folders.js'
import { mayChangeMode } from './special-bits.js'

/** A larger file stays where it is. */
const MAX_SAVED_BYTES = 1 << 30

export type SettledAsides = {
  /** Files that still exist. If their content is stored now, it is listed as known. */
  readonly rest: readonly Aside[]
  readonly stored: ReadonlyMap<BytePath, FileEntry | LinkEntry>
}

export type SettleContext = {
  readonly folders: SafeFolders
  readonly store: (content: Buffer) => ObjectId
}

export function removeAsides(
  asides: readonly Aside[],
  { folders, store }: SettleContext,
): SettledAsides {
  const rest: Aside[] = []
  const stored = new Map<BytePath, FileEntry | LinkEntry>()
  const byFolder = new Map<BytePath, Aside[]>()
  for (const aside of asides) {
    const folder = parentOf(aside.at)
    const others = byFolder.get(folder)
    if (others === undefined) byFolder.set(folder, [aside])
    else others.push(aside)
  }
  visitFolders(folders, byFolder.keys(), (folder) =>
    whileWritable(folders, folder, () => {
      for (const aside of byFolder.get(folder) ?? []) {
        const location = folders.at(aside.at)
        const known = isKnown(aside, location)
        if (known === undefined) continue
        if (known) {
          unlinkSync(location)
          failpoint('asides:removed')
          continue
        }
        // A checkpoint has one content per path; a second one waits for the next call.
        const entry = stored.has(aside.path) ? undefined : storeFile(location, store)
        if (entry !== undefined) stored.set(aside.path, entry)
        rest.push(entry === undefined ? aside : { ...aside, known: [entry], stamp: undefined })
      }
    }),
  )
  return { rest, stored }
}

/** Finds the files that an interrupted rewind moved aside. Its journal has their paths and contents. */
export function findAsides(
  folders: SafeFolders,
  left: {
    readonly tag: string
    readonly sweep: readonly BytePath[]
    readonly known: ReadonlyMap<BytePath, Aside['known']>
  },
): Aside[] {
  const pathOf = pathsByAsideName(left.tag, [...left.known.keys()])
  const found: Aside[] = []
  visitFolders(folders, left.sweep, (folder) => {
    for (const name of listFolder(folders.listable(folder))?.keys() ?? []) {
      const path = pathOf(name)
      if (path === undefined) continue
      const known = left.known.get(path) ?? []
      found.push({ path, at: joinPath(folder, name), known, stamp: undefined })
    }
  })
  return found
}

/** Undefined if the file is gone or keeps changing. */
function storeFile(
  location: string | Buffer,
  store: SettleContext['store'],
): FileEntry | LinkEntry | undefined {
  try {
    if (lstatSync(location).isSymbolicLink())
      return { type: 'link', blob: store(readlinkSync(location, { encoding: 'buffer' })) }
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
  const path = typeof location === 'string' ? location : location.toString('latin1')
  const read = readStable(path, MAX_SAVED_BYTES)
  if (typeof read === 'string') return undefined
  return { type: 'file', blob: store(read.content), mode: Number(read.stats.mode) & 0o7777 }
}

/** If the rewind itself made the folder writable, the journal has its mode. */
function whileWritable(folders: SafeFolders, folder: BytePath, use: () => void): void {
  const fd = folders.descriptor(folder)
  const stats = fstatSync(fd)
  const mode = stats.mode & 0o7777
  if ((mode & 0o300) === 0o300 || !mayChangeMode(stats)) {
    use()
    return
  }
  fchmodSync(fd, mode | 0o700)
  try {
    use()
  } finally {
    fchmodSync(fd, mode)
  }
}
