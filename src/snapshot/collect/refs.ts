// The refs of the checkpoints, seen from outside git: a look takes a few milliseconds, so that it can be taken
// while no save is under way.
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { ObjectId } from '../../model/index.js'
import { runGit } from '../git/git-program.js'
import { eachLine } from './mark.js'
import { whileAlone } from './ref-locks.js'
import { listIfThere } from '../../system/index.js'

const ROOT = 'refs/savestate'

/** By name: the commit. */
export type Refs = ReadonlyMap<string, string>

/** All refs, and what tells later whether there are more. */
export type RefsSeen = { readonly refs: Refs; readonly packed: string }

export async function seeRefs(gitDir: string): Promise<RefsSeen> {
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

/** Refs that came since. Undefined if that cannot be told: somebody has packed them anew. */
export function newRefs(gitDir: string, seen: RefsSeen): Refs | undefined {
  if (packedStamp(gitDir) !== seen.packed) return undefined
  const found = new Map<string, string>()
  for (const project of listIfThere(join(gitDir, ROOT))) {
    for (const checkpoint of listIfThere(join(gitDir, ROOT, project))) {
      const name = `${ROOT}/${project}/${checkpoint}`
      if (!seen.refs.has(name)) found.set(name, readFileSync(join(gitDir, name), 'latin1').trim())
    }
  }
  return found
}

/** Removes these refs, wherever they are kept. One that is gone already is no fault. */
export async function removeRefs(gitDir: string, names: readonly string[]): Promise<void> {
  if (names.length === 0) return
  await updateRefs(
    gitDir,
    names.map((name) => `delete ${name}`),
  )
}

/** Sets refs that exist or not, whatever they hold. */
export async function setRefs(gitDir: string, refs: Refs): Promise<void> {
  if (refs.size === 0) return
  await updateRefs(
    gitDir,
    [...refs].map(([name, commit]) => `update ${name} ${commit}`),
  )
}

/** A file of its own for each ref takes a block of the disk. */
export async function packRefs(gitDir: string): Promise<void> {
  await whileAlone(gitDir, () => runGit(gitDir, ['pack-refs', '--all', '--prune']))
}

async function updateRefs(gitDir: string, input: readonly string[]): Promise<void> {
  const args = ['update-ref', '--stdin']
  await whileAlone(gitDir, () => eachLine(gitDir, { args, input }, () => undefined))
}

export function commitsOf(refs: Refs): Set<ObjectId> {
  return new Set(refs.values()) as Set<ObjectId>
}

function packedStamp(gitDir: string): string {
  const stats = statSync(join(gitDir, 'packed-refs'), { bigint: true, throwIfNoEntry: false })
  return stats === undefined ? '' : `${stats.ino} ${stats.mtimeNs} ${stats.size}`
}
