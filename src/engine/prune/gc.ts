// Removes unreferenced data: refs without a row, objects, states, pages of the ledger, leftovers of killed processes. After a
// kill at any step, the next collection continues (docs/guide/store.md#collection).
import { lstatSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseProjectId, type Project } from '../../model/index.js'
import { collectObjects, removeRefs, scanRefs, setRefs } from '../../snapshot/index.js'
import { diskUsage, listIfExists, takeLock } from '../../system/index.js'
import { collectLockPath, expectSameStore, type StoreContext } from '../operation/context.js'
import type { Callbacks } from '../operation/callbacks.js'
import { withRecoveredProject } from '../restore/recover.js'
import { pendingGoals } from '../restore/restore-journal.js'
import { removeStaleIndexes } from '../search/project-index.js'
import { forgetProjectSizes } from '../store/sizes.js'

export type CollectResult = {
  /** False: other processes were using the store, so the next collection has to remove the rest. */
  readonly isComplete: boolean
}

const WAIT_MS = 10_000
/** Long enough for waiting processes, which poll, to get the lock. */
const PAUSE_MS = 3
const ABANDONED_MS = 600_000
const PROJECT_FILE = /^[bcdfghjklmnpqrstvwxz]{18}(?:\.search(?:-journal)?)?(?:\.owner)?$/
const ID_LETTERS = 18
/** The folder for the temporary files of a collection. */
const COLLECT = 'collect'

export async function collect(
  context: StoreContext,
  options: { readonly thorough: boolean },
): Promise<CollectResult> {
  expectSameStore(context)
  await removeStaleIndexes(context)
  const lock = await takeLock(collectLockPath(context.home), { waitMs: 0, purpose: 'collect' })
  if (lock === undefined) return { isComplete: false }
  try {
    // A prune may have written a backup just before rows were removed, and it would still contain them.
    if (options.thorough) context.ledger.removeBackup()
    await adoptNextRefs(context)
    await removeUnrecordedRefs(context)
    const temporary = join(context.home, 'tmp', COLLECT)
    const { isComplete } = await collectObjects(context.snapshots.gitDir, {
      temporary,
      alone: (work) => context.objects.alone(work),
      recorded: () => context.ledger.pruning.commits(),
      goals: () => pendingGoals(context.home),
      thorough: options.thorough,
      waitMs: WAIT_MS,
    })
    const pause = () => sleep(PAUSE_MS)
    await context.ledger.vacuum.collect(pause)
    await context.ledger.vacuum.shrink(pause)
    forgetProjectSizes(context)
    sweepLeftovers(context, join(temporary, 'leftovers'))
    // Removing large files takes a while, so it comes after the steps that keep other processes waiting.
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
    readonly callbacks: Callbacks
    readonly work: () => Promise<Result> | Result
  },
): Promise<Result & { readonly bytesReclaimed: number }> {
  const { purpose, callbacks, work } = request
  const before = await diskUsage(context.home)
  const result =
    project === undefined
      ? await work()
      : await withRecoveredProject(context, project, {
          purpose,
          callbacks,
          work: async () => work(),
        })
  if (!result.applied) return { ...result, bytesReclaimed: 0 }
  const { isComplete } = await collect(context, { thorough: true })
  if (!isComplete)
    callbacks.onWarning?.(
      'Other processes were using the store: the next `savestate prune` removes the contents from the disk.',
    )
  return { ...result, bytesReclaimed: Math.max(0, before - (await diskUsage(context.home))) }
}

/** A save that died between its ref and its row never happened (I2). A running save prevents the second check. */
async function removeUnrecordedRefs({ ledger, snapshots, objects }: StoreContext): Promise<void> {
  const { refs } = scanRefs(snapshots.gitDir)
  const without = [...refs].filter(([, commit]) => !ledger.pruning.holds(commit))
  if (without.length === 0) return
  // Check again while no save can be between its ref and its row.
  const surely = objects.alone(() => without.filter(([, commit]) => !ledger.pruning.holds(commit)))
  await removeRefs(
    snapshots.gitDir,
    (surely?.result ?? []).map(([name]) => name),
  )
}

/** The suffix of refs that a killed `forget` leaves; only they keep the new commits of its checkpoints alive. */
export const NEXT = '.next'

async function adoptNextRefs({ ledger, snapshots, objects }: StoreContext): Promise<void> {
  await objects.shared(async () => {
    const { refs } = scanRefs(snapshots.gitDir)
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
    PROJECT_FILE.test(name) &&
    ledger.project(parseProjectId(name.slice(0, ID_LETTERS))) === undefined
  // A cache is written when its save is over, so another process may be writing it now.
  const isAbandoned = (path: string) => {
    const writtenMs = lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Number.NaN
    return path.endsWith('.tmp') && clock.nowMs() - writtenMs > ABANDONED_MS
  }
  for (const name of listIfExists(join(home, 'cache'))) {
    const path = join(home, 'cache', name)
    if (isUnknown(name) || isAbandoned(path)) rmSync(path, { recursive: true, force: true })
  }
  // A process that waits for such a lock will find that the project is gone (`whileKnown`).
  for (const name of listIfExists(join(home, 'locks')))
    if (isUnknown(name)) rmSync(join(home, 'locks', name), { force: true })
  mkdirSync(away, { recursive: true, mode: 0o700 })
  const temporaries = join(home, 'tmp')
  objects.alone(() => {
    for (const name of listIfExists(temporaries))
      if (name !== COLLECT) renameSync(join(temporaries, name), join(away, name))
  })
}
