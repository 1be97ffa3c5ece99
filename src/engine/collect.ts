// Gives back what nobody holds: refs without a row, objects, states, pages of the ledger, what killed processes
// left. Every step can be cut off by a kill and is taken up by the next collection (docs/store.md#collection).
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { hasCode, parseProjectId } from '../model/index.js'
import { collectObjects, removeRefs, seeRefs, setRefs } from '../snapshot/index.js'
import { takeLock } from '../system/index.js'
import { collectLockPath, type StoreContext } from './context.js'

export type CollectResult = {
  /** False: others were at work, and something is left for the next time. */
  readonly isComplete: boolean
}

const WAIT_MS = 10_000

export async function collect(
  context: StoreContext,
  options: { readonly thorough: boolean },
): Promise<CollectResult> {
  const lock = await takeLock(collectLockPath(context.home), { waitMs: 0, purpose: 'collect' })
  if (lock === undefined) return { isComplete: false }
  try {
    await adoptNextRefs(context)
    await removeUnrecordedRefs(context)
    const temporary = join(context.home, 'tmp', 'collect')
    const { isComplete } = await collectObjects(context.snapshots.gitDir, {
      temporary,
      alone: (work) => context.objects.alone(work),
      thorough: options.thorough,
      waitMs: WAIT_MS,
    })
    const pause = async () => void (await nextTurn())
    await context.ledger.upkeep.collect(pause)
    await context.ledger.upkeep.shrink(pause)
    rmSync(temporary, { recursive: true, force: true })
    sweepLeftovers(context)
    return { isComplete }
  } finally {
    lock.release()
  }
}

/** A save that died between its ref and its row never happened (I2). One that is under way keeps us from looking. */
async function removeUnrecordedRefs({ ledger, snapshots, objects }: StoreContext): Promise<void> {
  const { refs } = await seeRefs(snapshots.gitDir)
  const without = [...refs].filter(([, commit]) => !ledger.pruning.holds(commit))
  if (without.length === 0) return
  // Looked at again while nobody is between the two.
  const surely = objects.alone(() => without.filter(([, commit]) => !ledger.pruning.holds(commit)))
  await removeRefs(
    snapshots.gitDir,
    (surely?.result ?? []).map(([name]) => name),
  )
}

/** A `forget` that was killed has left its checkpoints held by these only. */
export const NEXT = '.next'

async function adoptNextRefs({ ledger, snapshots, objects }: StoreContext): Promise<void> {
  await objects.shared(async () => {
    const { refs } = await seeRefs(snapshots.gitDir)
    const next = [...refs].filter(([name]) => name.endsWith(NEXT))
    const held = next.filter(([, commit]) => ledger.pruning.holds(commit))
    await setRefs(
      snapshots.gitDir,
      new Map(held.map(([name, commit]) => [name.slice(0, -NEXT.length), commit])),
    )
    await removeRefs(
      snapshots.gitDir,
      held.map(([name]) => name),
    )
  })
}

/** Caches of projects that are gone, and temporaries whose writers are dead. */
function sweepLeftovers({ home, ledger, objects }: StoreContext): void {
  const isUnknown = (name: string) =>
    /^[a-z]{18}$/.test(name) && ledger.project(parseProjectId(name)) === undefined
  objects.alone(() => {
    for (const name of namesIn(join(home, 'cache')))
      if (isUnknown(name) || name.endsWith('.tmp')) rmSync(join(home, 'cache', name))
    for (const name of namesIn(join(home, 'tmp')))
      rmSync(join(home, 'tmp', name), { recursive: true, force: true })
  })
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return []
    throw error
  }
}
