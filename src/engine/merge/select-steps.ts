// Finds the steps that references and ranges name. Consecutive steps become one run: from the folder before the oldest to the
// folder after the newest.
import { type FilesCheckpoint, invariant, type Project, SavestateError } from '../../model/index.js'
import { withFilesHere } from '../checkpoints/files-here.js'
import { withFiles } from '../checkpoints/resolve-ref.js'
import type { StoreContext } from '../operation/context.js'
import { filesBefore, resolveTarget } from '../restore/rewind-target.js'

/** Steps without a gap between them. */
export type StepRun = {
  /** The folder before the oldest step. */
  readonly before: FilesCheckpoint
  readonly newest: FilesCheckpoint
  readonly count: number
}

/** The runs, newest first. Brings their files to this store. Throws what `resolve` does, and BAD_INPUT for an empty range. */
export async function selectSteps(
  context: StoreContext,
  project: Project | undefined,
  refs: readonly string[],
): Promise<readonly StepRun[]> {
  const runs: StepRun[] = []
  for (const ref of refs) runs.push(await selectRun(context, project, ref))
  return joinRuns(context, runs)
}

/** The run as a reference that `undoSteps` takes. It stays valid when numbers shift. */
export function referenceTo({ before, newest, count }: StepRun): string {
  return count === 1 ? newest.id : `${before.id}..${newest.id}`
}

async function selectRun(
  context: StoreContext,
  project: Project | undefined,
  ref: string,
): Promise<StepRun> {
  const { ledger } = context
  const find = async (text: string) =>
    withFiles(await withFilesHere(context, resolveTarget(context, project, text)))
  const at = ref.indexOf('..')
  // A name may contain two dots.
  const isName =
    project !== undefined && ledger.checkpoints.byName({ project: project.id }, ref) !== undefined
  if (at === -1 || isName) {
    const newest = await find(ref)
    const before = filesBefore(ledger, newest)
    return { before, newest, count: 1 }
  }
  const before = await find(ref.slice(0, at))
  invariant(project !== undefined, 'a checkpoint was resolved in a project')
  const end = ref.slice(at + 2)
  const newest = end === '' ? ledger.checkpoints.newestFiles(project.id) : await find(end)
  invariant(newest !== undefined, 'the project has a checkpoint')
  const later = ledger.authorship.stepsFrom(project.id, before.id)
  const count = later.findIndex(({ id }) => id === newest.id)
  if (count > 0) return { before, newest, count }
  throw new SavestateError('BAD_INPUT', `${JSON.stringify(ref)} contains no step`, {
    hint: 'A range A..B means the steps after A, up to and including B: give the older checkpoint first, as in 5..2.',
  })
}

/** Newest first, without duplicates; neighbors are joined. */
function joinRuns({ ledger }: StoreContext, runs: readonly StepRun[]): readonly StepRun[] {
  const numberOf = (checkpoint: FilesCheckpoint) => ledger.checkpoints.numberOf(checkpoint)
  const ordered = runs
    .map((run) => ({ ...run, first: numberOf(run.newest), last: numberOf(run.before) }))
    .sort((a, b) => a.first - b.first)
  const joined: (typeof ordered)[number][] = []
  for (const run of ordered) {
    const above = joined.at(-1)
    if (above === undefined || run.first > above.last) joined.push(run)
    else if (run.last > above.last) {
      const { project } = above.newest
      const steps = ledger.authorship.stepsFrom(project, run.before.id)
      const count = steps.findIndex(({ id }) => id === above.newest.id)
      joined[joined.length - 1] = { ...above, before: run.before, last: run.last, count }
    }
  }
  return joined.map(({ before, newest, count }) => ({ before, newest, count }))
}
