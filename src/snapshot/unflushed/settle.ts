// From a log of unflushed files to the places of these files: flushed there while the machine has not stopped since, or
// written there again if it has. Either way the log has served its purpose then.
import { chmodSync, closeSync, fsync, mkdirSync, openSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { hasCode } from '../../model/index.js'
import {
  listIfThere,
  ownIdentity,
  readIfThere,
  syncFolder,
  writeFileAtomically,
} from '../../system/index.js'
import { syncFolders } from '../objects/loose.js'
import { bootOfLog, type LoggedFile, parseLog } from './log-file.js'

const flush = promisify(fsync)

export function unflushedFolder(home: string): string {
  return join(home, 'unflushed')
}

export function unflushedLogs(home: string): string[] {
  const folder = unflushedFolder(home)
  return listIfThere(folder).map((name) => join(folder, name))
}

/** Whether the machine has stopped since a log was written. */
export function hasLogsOfBefore(home: string): boolean {
  return unflushedLogs(home).some((path) => isOfBefore(path))
}

/** Puts back what a power cut may have taken. Nobody else may be at it, and nobody at work yet. */
export function replayLogsOfBefore(home: string): void {
  for (const path of unflushedLogs(home)) {
    if (!isOfBefore(path)) continue
    replayLog(home, path)
    rmSync(path, { force: true })
  }
}

/** How many files are in a log and not, or not whole, at their places. */
export function lostFromLogs(home: string): number {
  const gitDir = join(home, 'objects.git')
  const files = unflushedLogs(home).flatMap((path) => filesOf(path))
  return new Set(files.filter((file) => !isWell(gitDir, file)).map(({ name }) => name)).size
}

/** The same of all logs, which stay: for a store whose files went in some other way. */
export function replayLogs(home: string): void {
  for (const path of unflushedLogs(home)) replayLog(home, path)
}

/** Whatever the log holds is at its place afterwards, and flushed. */
export function replayLog(home: string, path: string): void {
  const gitDir = join(home, 'objects.git')
  const folders = new Set<string>()
  for (const file of filesOf(path)) {
    const place = join(gitDir, file.name)
    if (isWell(gitDir, file)) continue
    mkdirSync(dirname(place), { recursive: true, mode: 0o700 })
    chmodSync(dirname(place), 0o700)
    writeFileAtomically({
      path: place,
      temporary: `${path}.tmp`,
      content: file.content,
      durable: true,
    })
    folders.add(dirname(dirname(place)))
  }
  for (const folder of folders) syncFolder(folder)
}

/** The files are at their places, as far as the system knows: they are flushed there, and the log goes. */
export async function settleLog(home: string, path: string): Promise<void> {
  await flushPlaces(home, path)
  rmSync(path, { force: true })
}

/** What the logs are at a moment when nobody is at work: the files that they tell of have their places. */
export function markLogs(home: string): ReadonlyMap<string, string> {
  return new Map(
    unflushedLogs(home).flatMap((path) => {
      const mark = markOf(path)
      return mark === undefined ? [] : [[path, mark]]
    }),
  )
}

export async function flushLogs(home: string, marked: ReadonlyMap<string, string>): Promise<void> {
  for (const path of marked.keys()) await flushPlaces(home, path)
}

/** Removes those that have been flushed and are still as they were. Again nobody may be at work. */
export function dropLogs(marked: ReadonlyMap<string, string>): void {
  for (const [path, mark] of marked) if (markOf(path) === mark) rmSync(path, { force: true })
}

function markOf(path: string): string | undefined {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false })
  return stats && `${stats.ino} ${stats.size} ${stats.mtimeNs}`
}

async function flushPlaces(home: string, path: string): Promise<void> {
  const gitDir = join(home, 'objects.git')
  const folders = new Set<string>()
  for (const { name } of filesOf(path)) {
    const place = join(gitDir, name)
    if (await flushFile(place)) folders.add(dirname(place)).add(dirname(dirname(place)))
  }
  await syncFolders(folders)
}

/** False if a collection has put it into a pack, or found that nobody needs it. */
async function flushFile(path: string): Promise<boolean> {
  let fd: number
  try {
    // Windows flushes only what may be written to.
    fd = openSync(path, 'r+')
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false
    throw error
  }
  try {
    await flush(fd)
  } finally {
    closeSync(fd)
  }
  return true
}

function filesOf(path: string): readonly LoggedFile[] {
  return parseLog(readIfThere(path) ?? Buffer.alloc(0)).files
}

function isWell(gitDir: string, { name, content }: LoggedFile): boolean {
  const there = readIfThere(join(gitDir, name))
  if (name.startsWith('objects/')) return there?.equals(content) === true
  // A ref that says something else was changed since, durably; one that is packed is not needed here.
  const isRef = there !== undefined && /^[0-9a-f]{40}\n$/.test(there.toString('latin1'))
  return isRef || (readIfThere(join(gitDir, 'packed-refs'))?.includes(` ${name}\n`) ?? false)
}

/** One without a header has nothing in it yet. */
function isOfBefore(path: string): boolean {
  const boot = bootOfLog(path)
  return boot !== undefined && boot !== ownIdentity().boot
}
