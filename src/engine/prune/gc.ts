// Removes unreferenced data: refs without a row, objects, states, pages of the ledger, what killed processes
// left. Every step can be cut off by a kill and is taken up by the next collection (docs/store.md#collection).
import { lstatSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseProjectId, type Project } from '../../model/index.js'
import { collectObjects, removeRefs, seeRefs, setRefs } from '../../snapshot/index.js'
import { diskUsage, listIfThere, takeLock } from '../../system/index.js'
import { collectLockPath, expectSameStore, type StoreContext } from '../operation/context.js'
import type { Hooks } from '../operation/callbacks.js'
import { withRecoveredProject } from '../restore/recover.js'
import { forgetProjectSizes } from '../store/sizes.js'

export type CollectResult = {
  /** False: others were at work, and something is left for the next time. */
  readonly isComplete: boolean
}

const WAIT_MS = 10_000
/** Long enough for those who wait to see that it is their turn. */
const PAUSE_MS = 3
const ABANDONED_MS = 600_000
/** Of a project, perhaps with an ending. */
const ID = /^[bcdfghjklmnpqrstvwxz]{18}(?:\.owner)?$/
const ID_LETTERS = 18
/** The folder for our own temporaries. */
const COLLECT = 'collect'

export async function collect(
  context: StoreContext,
  options: { readonly thorough: boolean },
): Promise<CollectResult> {
  expectSameStore(context)
  const lock = await takeLock(collectLockPath(context.home), { waitMs: 0, purpose: 'collect' })
  if (lock === undefined) return { isComplete: false }
  try {
    // A prune may have written it just before the rows were removed that are to leave no trace.
    if (options.thorough) context.ledger.removeBackup()
    await adoptNextRefs(context)
    await removeUnrecordedRefs(context)
    const temporary = join(context.home, 'tmp', COLLECT)
    const { isComplete } = await collectObjects(context.snapshots.gitDir, {
      temporary,
      alone: (work) => context.objects.alone(work),
      recorded: () => context.ledger.pruning.commits(),
      thorough: options.thorough,
      waitMs: WAIT_MS,
    })
    const pause = () => sleep(PAUSE_MS)
    await context.ledger.vacuum.collect(pause)
    await context.ledger.vacuum.shrink(pause)
    forgetProjectSizes(context)
    sweepLeftovers(context, join(temporary, 'leftovers'))
    // Large files take a while to remove, so that is done when others may work again.
    rmSync(temporary, { recursive: true, force: true })
    return { isComplete }
  } finally {
    lock.release()
  }
}

/**
 * Removes something from a project, under its lock and after recovery; then collects, and measures what that freed. The
 * collection runs without the lock, because it waits until no process is at work.
 */
export async function removeAndCollect<Result extends { readonly applied: boolean }>(
  context: StoreContext,
  project: Project | undefined,
  request: {
    readonly purpose: string
    readonly hooks: Hooks
    readonly work: () => Promise<Result> | Result
  },
): Promise<Result & { readonly bytesReclaimed: number }> {
  const { purpose, hooks, work } = request
  const before = await diskUsage(context.home)
  const result =
    project === undefined
      ? await work()
      : await withRecoveredProject(context, project, { purpose, hooks, work: async () => work() })
  if (!result.applied) return { ...result, bytesReclaimed: 0 }
  const { isComplete } = await collect(context, { thorough: true })
  if (!isComplete)
    hooks.onNotice?.(
      'Other processes were using the store: the next `savestate prune` removes the contents from the disk.',
    )
  return { ...result, bytesReclaimed: Math.max(0, before - (await diskUsage(context.home))) }
}

/** A save that died between its ref and its row never happened (I2). One that is under way keeps us from looking. */
async function removeUnrecordedRefs({ ledger, snapshots, objects }: StoreContext): Promise<void> {
  const { refs } = await seeRefs(snapshots.gitDir)
  const without = [...refs].filter(([, commit]) => !ledger.pruning.holds(commit))
  if (without.length === 0) return
  // Checked again while no save is between its ref and its row.
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

/** Caches and locks of projects that are gone, and temporaries whose writers are dead. */
function sweepLeftovers({ home, ledger, objects, clock }: StoreContext, away: string): void {
  const isUnknown = (name: string) =>
    ID.test(name) && ledger.project(parseProjectId(name.slice(0, ID_LETTERS))) === undefined
  // A cache is written when its save is over, so another process may be writing it now.
  const isAbandoned = (path: string) => {
    const writtenMs = lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Number.NaN
    return path.endsWith('.tmp') && clock.nowMs() - writtenMs > ABANDONED_MS
  }
  for (const name of listIfThere(join(home, 'cache'))) {
    const path = join(home, 'cache', name)
    if (isUnknown(name) || isAbandoned(path)) rmSync(path, { recursive: true, force: true })
  }
  // A process that still waits for such a lock finds that the project is gone (`whileKnown`).
  for (const name of listIfThere(join(home, 'locks')))
    if (isUnknown(name)) rmSync(join(home, 'locks', name), { force: true })
  mkdirSync(away, { recursive: true, mode: 0o700 })
  const temporaries = join(home, 'tmp')
  objects.alone(() => {
    for (const name of listIfThere(temporaries))
      if (name !== COLLECT) renameSync(join(temporaries, name), join(away, name))
  })
}
