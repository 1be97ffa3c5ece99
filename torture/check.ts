// The final check: every acknowledged checkpoint exists, and the store has no other faults.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Store } from '../src/index.js'
import { differenceOf, linesOf } from './folder.js'
import type { Model } from './model.js'

export type Found = {
  readonly checkpoints: number
  readonly pruned: number
  readonly states: number
}

export async function checkAll(
  store: Store,
  model: Model,
  projects: readonly string[],
): Promise<Found> {
  const found = { checkpoints: 0, pruned: 0, states: 0 }
  // First finish interrupted work.
  await store.status()
  for (const path of projects) {
    const project = await store.project(path)
    const checkpoints = await project.list({ limit: 100_000 })
    const there = new Set(checkpoints.map(({ id }) => id))
    for (const { id, lines, isProtected } of model.of(path)) {
      if (!there.has(id)) {
        found.pruned += 1
        if (isProtected) model.fault(`${id} of ${path} is named or pinned, and it is gone`)
        continue
      }
      await project.rewind(id)
      const difference = differenceOf(linesOf(path), lines)
      if (difference !== undefined)
        model.fault(`${id} of ${path} did not bring back the folder: ${difference}`)
      found.checkpoints += 1
    }
  }
  for (const [id, { step, digest }] of model.sessions) {
    const { session, state } = await store.resume(id)
    const latest = await session.latest()
    const now = createHash('sha256')
      .update(JSON.stringify(state ?? null))
      .digest('hex')
      .slice(0, 24)
    if ((latest?.step ?? -1) < step) model.fault(`${id} lost steps after ${latest?.step}`)
    if (latest?.step === step && now !== digest) model.fault(`${id} has another state at ${step}`)
    found.states += 1
    await session.close()
  }
  return found
}

/** After the last prune, which removes garbage. */
export async function checkStore(store: Store, model: Model, home: string): Promise<void> {
  const { problems } = await store.verify()
  for (const { kind, message } of problems) model.fault(`verify: ${kind}: ${message}`)
  const gitDir = join(home, 'objects.git')
  const args = ['-C', gitDir, 'fsck', '--strict', '--full', '--no-dangling']
  try {
    execFileSync('git', args, { stdio: 'pipe' })
  } catch (error) {
    model.fault(`git fsck: ${error instanceof Error ? error.message : String(error)}`)
  }
  for (const folder of ['tmp', 'journal', 'watches'])
    if (existsSync(join(home, folder)) && readdirSync(join(home, folder)).length > 0)
      model.fault(`${folder} holds ${readdirSync(join(home, folder)).join(', ')}`)
  for (const name of readdirSync(join(gitDir, 'objects', 'pack')))
    if (!/^pack-[0-9a-f]{40}\.(pack|idx|rev)$/.test(name)) model.fault(`objects/pack holds ${name}`)
}

export function checkFolders(model: Model, projects: readonly string[]): void {
  for (const path of projects)
    for (const name of readdirSync(path, { recursive: true, encoding: 'utf8' }))
      if (name.includes('.savestate-tmp-')) model.fault(`${path} holds ${name}`)
}
