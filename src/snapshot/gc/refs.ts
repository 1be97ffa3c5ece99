// Reads the refs of the checkpoints without git. It takes a few milliseconds, so it can happen while saves are locked out.
import { rmdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { hasCode, type ObjectId } from '../../model/index.js'
import { failpoint, listIfExists, syncFile, syncFolder } from '../../system/index.js'
import { readLooseRefs, readPackedRefs } from '../repair/refs-file.js'
import { runGit } from '../git/git-program.js'
import { eachLine } from './mark.js'
import { withRefLock } from './ref-locks.js'

const ROOT = 'refs/savestate'

/** Commits by ref name. */
export type Refs = ReadonlyMap<string, string>

/** All refs, and a stamp that shows later whether there are new ones. */
export type RefsScan = { readonly refs: Refs; readonly packed: string }

export async function scanRefs(gitDir: string): Promise<RefsScan> {
  for (;;) {
    const packed = packedStamp(gitDir)
    const format = '--format=%(refname) %(objectname)'
    const output = await runGit(gitDir, ['for-each-ref', format, ROOT])
    const refs = new Map<string, string>()
    for (const line of output.toString('latin1').split('\n')) {
      const [name, commit] = line.split(' ')
      if (name !== undefined && commit !== undefined) refs.set(name, commit)
    }
    if (packedStamp(gitDir) === packed) return { refs, packed }
  }
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
  if (names.length === 0) return
  await updateRefs(
    gitDir,
    names.map((name) => `delete ${name}`),
  )
}

export async function setRefs(gitDir: string, refs: Refs): Promise<void> {
  if (refs.size === 0) return
  await updateRefs(
    gitDir,
    [...refs].map(([name, commit]) => `update ${name} ${commit}`),
  )
}

/**
 * Packs refs, because each loose ref takes a disk block. `git pack-refs` alone would remove the loose refs before the packed file
 * is safely on disk: a power failure could lose both.
 */
export async function packRefs(gitDir: string): Promise<void> {
  await withRefLock(gitDir, async () => {
    await runGit(gitDir, ['pack-refs', '--all', '--no-prune'])
    syncFile(join(gitDir, 'packed-refs'))
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
  const args = ['update-ref', '--stdin']
  await withRefLock(gitDir, () => eachLine(gitDir, { args, input }, () => undefined))
}

export function commitsOf(refs: Refs): Set<ObjectId> {
  return new Set(refs.values()) as Set<ObjectId>
}

function packedStamp(gitDir: string): string {
  const stats = statSync(join(gitDir, 'packed-refs'), { bigint: true, throwIfNoEntry: false })
  return stats === undefined ? '' : `${stats.ino} ${stats.mtimeNs} ${stats.size}`
}
