// Takes back what single steps changed, and keeps everything later: a three-way merge per step (docs/internals/history.md).
import * as z from 'zod/mini'
import {
  type BytePath,
  CONFLICT_CHOICES,
  type ConflictChoice,
  HAS_MARKERS,
  KEPT_IN_MERGE,
  type Left,
  type ObjectId,
  type Project,
  SavestateError,
} from '../../model/index.js'
import { describeTarget } from '../checkpoints/describe-target.js'
import { retryUntilConfirmed } from '../operation/confirm-unlocked.js'
import { findKnownProject, type StoreContext } from '../operation/context.js'
import { projectOperation } from '../operation/operation.js'
import {
  type MadeGoal,
  type RestoreRequest,
  type RestoreResult,
  restore,
} from '../restore/restore.js'
import { readLeftOut, viewTarget } from '../restore/rewind-target.js'
import { refuseDamagedFiles } from '../verify/damage-marks.js'
import { referenceTo, selectSteps, type StepRun } from './select-steps.js'

const ID_LETTERS = 8

export const undoSteps = projectOperation({
  name: 'undoSteps',
  summary: 'Take back what single checkpoints changed, and keep everything later',
  effect: 'changes-files',
  input: () =>
    z.strictObject({
      /** Checkpoints, or ranges `A..B`: the checkpoints after A, up to and including B. */
      refs: z.array(z.string()),
      /** How to decide paths that cannot be merged. */
      conflict: z._default(z.enum(CONFLICT_CHOICES), 'refuse'),
      dryRun: z._default(z.boolean(), false),
    }),
  async run(context, { refs, conflict, dryRun }, callbacks): Promise<RestoreResult> {
    const project = findKnownProject(context)
    const runs = await selectSteps(context, project, refs)
    const [newest] = runs
    if (newest === undefined || project === undefined)
      throw new SavestateError('BAD_INPUT', 'undoSteps: no checkpoint is given')
    const attempt = async (agreed: string | undefined) => {
      const request = await makeRequest(context, project, { runs, newest, conflict, dryRun })
      return restore(context, project, { request, callbacks, agreed })
    }
    return retryUntilConfirmed(context, project, { purpose: 'undo', callbacks, attempt })
  },
})

type Chosen = {
  readonly runs: readonly StepRun[]
  readonly newest: StepRun
  readonly conflict: ConflictChoice
  readonly dryRun: boolean
}

async function makeRequest(
  context: StoreContext,
  project: Project,
  { runs, newest: { before, newest }, conflict, dryRun }: Chosen,
): Promise<RestoreRequest> {
  const { ledger } = context
  const changed = new Set<BytePath>()
  for (const run of runs) for (const path of await pathsOf(context, run)) changed.add(path)
  const undone = runs.map(referenceTo)
  return {
    kind: 'rewind',
    of: null,
    target: newest.id,
    goal: newest.snapshot.tree,
    makeGoal: (now) => undoRuns(context, project, { runs, conflict, now }),
    ownersThen: ledger.checkpoints.details(before.id)?.owners,
    paths: undefined,
    only: [...changed],
    reason: describeUndo(runs),
    dryRun,
    subject: { to: viewTarget(ledger, newest), undone },
    rewind: { target: newest.id, undone },
  }
}

/** The paths that the steps changed. Throws CHECKPOINT_DAMAGED if one of them cannot be read. */
async function pathsOf(
  { ledger, snapshots }: StoreContext,
  { before, newest }: StepRun,
): Promise<readonly BytePath[]> {
  const trees = [before.snapshot.tree, newest.snapshot.tree] as const
  const changes = await snapshots.compare(...trees, { countLines: false })
  const paths = changes.map(({ path }) => path)
  for (const end of [before, newest]) refuseDamagedFiles(ledger, end, paths)
  return paths
}

/** Newest first, each on the result of the one before. */
async function undoRuns(
  { ledger, snapshots }: StoreContext,
  project: Project,
  { runs, conflict: choice, now }: Pick<Chosen, 'runs' | 'conflict'> & { readonly now: ObjectId },
): Promise<MadeGoal> {
  const keep: Left[] = []
  const conflict: Left[] = []
  const reasons = new Map<BytePath, string>()
  let goal = now
  for (const { before, newest } of runs) {
    const merged = await snapshots.merge(project, {
      base: newest.snapshot.tree,
      ours: goal,
      theirs: before.snapshot.tree,
      labels: {
        ours: 'now',
        base: `after ${newest.id.slice(0, ID_LETTERS)}`,
        theirs: `before ${newest.id.slice(0, ID_LETTERS)}`,
      },
      conflict: choice,
      leftOut: readLeftOut(ledger, before.id),
    })
    goal = merged.tree
    conflict.push(...merged.conflict)
    keep.push(...merged.uncaptured)
    if (choice === 'ours')
      keep.push(
        ...merged.kept.map(({ path, reason }) => ({ path, reason: KEPT_IN_MERGE + reason })),
      )
    for (const path of merged.marked) reasons.set(path, HAS_MARKERS)
  }
  return { goal, keep, conflict, reasons }
}

function describeUndo(runs: readonly StepRun[]): string {
  const [first] = runs
  const steps = runs.reduce((sum, { count }) => sum + count, 0)
  const newest = first === undefined ? '' : describeTarget(first.newest)
  return steps === 1 ? `undo of ${newest}` : `undo of ${steps} steps up to ${newest}`
}
