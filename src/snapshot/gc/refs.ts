// The refs of the checkpoints, read from their files: git refuses to list any ref if one file is malformed, and a scan takes only
// a few milliseconds, so it can happen while saves are locked out. Git changes them.
import { rmdirSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { readIfExists } from '../../base/index.js'
import { hasCode, type ObjectId, SavestateError } from '../../model/index.js'
import { failpoint, listIfExists, syncFile, syncFolder, takeLock } from '../../system/index.js'
import { eachLine, runGit } from '../git/git-program.js'

const ROOT = 'refs/savestate'
const WAIT_MS = 60_000
const PAUSE_MS = 50
/** A git without a parent has finished long before its locks are this old. */
const DEAD_MS = 10_000

/** Commits by ref name. */
export type Refs = ReadonlyMap<string, string>

export type StoredRefs = {
  readonly commits: ReadonlyMap<string, ObjectId>
  /** Files that are not in git's format. */
  readonly malformed: readonly string[]
}

/** All refs, and a stamp that shows later whether there are new ones. */
export type RefsScan = { readonly refs: Refs; readonly packed: string }

/** Throws STORE_DAMAGED if packed refs cannot be read: to a collection, their objects would be garbage. */
export function scanRefs(gitDir: string): RefsScan {
  for (;;) {
    const packed = packedStamp(gitDir)
    const { commits, malformed } = readRefs(gitDir)
    // Like git, ignore other malformed files.
    if (malformed.includes(packedPath(gitDir))) throw malformedPackedRefs()
    // The user may have added other refs, such as branches.
    const refs = new Map([...commits].filter(([name]) => name.startsWith(`${ROOT}/`)))
    if (packedStamp(gitDir) === packed) return { refs, packed }
  }
}

/** Reads loose refs first: a concurrent prune may pack one, and then the second read finds it. */
export function readRefs(gitDir: string): StoredRefs {
  const { commits: loose, malformed } = readLooseRefs(gitDir)
  const packed = readPackedRefs(gitDir)
  if (packed === undefined) malformed.push(packedPath(gitDir))
  return { commits: new Map([...(packed ?? []), ...loose]), malformed }
}

function readLooseRefs(gitDir: string) {
  const commits = new Map<string, ObjectId>()
  const malformed: string[] = []
  for (const project of listIfExists(join(gitDir, ROOT))) {
    const folder = join(gitDir, ROOT, project)
    if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === false) {
      malformed.push(folder)
      continue
    }
    for (const checkpoint of listIfExists(folder)) {
      if (checkpoint.endsWith('.lock')) continue
      const path = join(folder, checkpoint)
      const text = readIfExists(path)?.toString('latin1')
      if (text === undefined) continue
      if (/^[0-9a-f]{40}\n?$/.test(text))
        commits.set(`${ROOT}/${project}/${checkpoint}`, text.trim() as ObjectId)
      else malformed.push(path)
    }
  }
  return { commits, malformed }
}

/** Undefined if the file is not in git's format. */
function readPackedRefs(gitDir: string): Map<string, ObjectId> | undefined {
  const text = readIfExists(packedPath(gitDir))?.toString('latin1') ?? ''
  if (text !== '' && !text.endsWith('\n')) return undefined
  const refs = new Map<string, ObjectId>()
  for (const line of text.split('\n').slice(0, -1)) {
    if (line.startsWith('#') || line.startsWith('^')) continue
    // The names of a user's branches may have any bytes but blanks and control characters.
    const match = /^([0-9a-f]{40}) (refs\/[!-~\x80-\xff]+)$/.exec(line)
    if (match === null) return undefined
    refs.set(match[2] ?? '', match[1] as ObjectId)
  }
  return refs
}

/**
 * Whether refs were added since, or refer to another commit (`forget` rewrites commits). Also true if the refs were packed again.
 * Files that are not refs are ignored, like git does.
 */
export function hasNewRefs(gitDir: string, seen: RefsScan): boolean {
  if (packedStamp(gitDir) !== seen.packed) return true
  return newRefs(readLooseRefs(gitDir).commits, seen).size > 0
}

/** The refs that are new, or refer to another commit. */
export function newRefs(refs: Refs, seen: RefsScan): Refs {
  return new Map([...refs].filter(([name, commit]) => seen.refs.get(name) !== commit))
}

/** Removes these refs, loose or packed. A ref that is already gone is not an error. */
export async function removeRefs(gitDir: string, names: readonly string[]): Promise<void> {
  const lines = names.map((name) => `delete ${name}`)
  await updateRefs(gitDir, lines)
}

export async function setRefs(gitDir: string, refs: Refs): Promise<void> {
  const lines = [...refs].map(([name, commit]) => `update ${name} ${commit}`)
  await updateRefs(gitDir, lines)
}

/**
 * Packs refs, because each loose ref takes a disk block. `git pack-refs` alone would remove the loose refs before the packed file
 * is safely on disk: a power failure could lose both.
 */
export async function packRefs(gitDir: string): Promise<void> {
  await withRefLock(gitDir, async () => {
    await runGit(gitDir, ['pack-refs', '--all', '--no-prune'])
    syncFile(packedPath(gitDir))
    syncFolder(gitDir)
    failpoint('refs:packed')
    const packed = readPackedRefs(gitDir) ?? new Map<string, ObjectId>()
    // Only we change an existing ref, one process at a time.
    for (const [name, commit] of readLooseRefs(gitDir).commits)
      if (packed.get(name) === commit) rmSync(join(gitDir, name), { force: true })
    for (const project of listIfExists(join(gitDir, ROOT)))
      removeIfEmpty(join(gitDir, ROOT, project))
  })
}

/** A process that is about to add a ref recreates the folder. */
function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder)
  } catch (error) {
    if (!hasCode(error, 'ENOTEMPTY', 'EEXIST', 'ENOENT', 'ENOTDIR')) throw error
  }
}

async function updateRefs(gitDir: string, input: readonly string[]): Promise<void> {
  if (input.length === 0) return
  const args = ['update-ref', '--stdin']
  await withRefLock(gitDir, () => eachLine(gitDir, { args, input }))
}

export function commitsOf(refs: Refs): Set<ObjectId> {
  return new Set(refs.values()) as Set<ObjectId>
}

function packedPath(gitDir: string): string {
  return join(gitDir, 'packed-refs')
}

function packedStamp(gitDir: string): string {
  const stats = statSync(packedPath(gitDir), { bigint: true, throwIfNoEntry: false })
  return stats === undefined ? '' : `${stats.ino} ${stats.mtimeNs} ${stats.size}`
}

/**
 * Runs the work while no one else changes refs, after removing stale git locks. They are files that remain when git is killed, and
 * then every later change of the ref fails. Only we change the refs of a store through git, one process at a time. So any lock file
 * at this point belongs to a dead git, unless that git has outlived the process that started it.
 */
async function withRefLock<T>(gitDir: string, work: () => Promise<T>): Promise<T> {
  const path = join(dirname(gitDir), 'locks', 'refs')
  const lock = await takeLock(path, { waitMs: WAIT_MS, purpose: 'change refs' })
  if (lock === undefined) throw busy()
  try {
    await removeDeadLocks(gitDir)
    return await work()
  } finally {
    lock.release()
  }
}

async function removeDeadLocks(gitDir: string): Promise<void> {
  const deadline = performance.now() + WAIT_MS
  for (;;) {
    const left = locksIn(gitDir)
    if (left.length === 0) return
    if (left.every(isDead)) {
      for (const path of left) rmSync(path, { force: true })
      return
    }
    if (performance.now() > deadline) throw busy()
    await sleep(PAUSE_MS)
  }
}

function locksIn(gitDir: string): string[] {
  const root = join(gitDir, ROOT)
  const ofRefs = listIfExists(root).flatMap((project) =>
    listIfExists(join(root, project))
      .filter((name) => name.endsWith('.lock'))
      .map((name) => join(root, project, name)),
  )
  const ofPacked = listIfExists(gitDir)
    .filter((name) => name === 'packed-refs.lock' || name === 'packed-refs.new')
    .map((name) => join(gitDir, name))
  return [...ofRefs, ...ofPacked]
}

function isDead(lock: string): boolean {
  return Date.now() - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? 0) > DEAD_MS
}

function malformedPackedRefs(): SavestateError {
  return new SavestateError('STORE_DAMAGED', 'The file packed-refs of the store is malformed', {
    hint: 'Run `savestate repair`, which recreates refs.',
  })
}

function busy(): SavestateError {
  return new SavestateError('STORE_BUSY', 'Another process is changing the refs of the store', {
    hint: 'Wait until it is done, then run the command again.',
  })
}
