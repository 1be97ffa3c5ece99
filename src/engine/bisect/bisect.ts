// Finds the checkpoint since which something is broken: runs a check in a throwaway copy of some checkpoints. The project's folder is
// only read. Checkpoints with equal files are one state.
import * as z from 'zod/mini'
import {
  type CheckpointId,
  fsPath,
  type FilesCheckpoint,
  hasCode,
  invariant,
  type ObjectId,
  type Project,
  SavestateError,
  USER_AUTHOR,
} from '../../model/index.js'
import { DEPENDENCY_MODES } from '../attempts/dependencies.js'
import { writeCheckpoint } from '../attempts/open.js'
import { withFilesHere } from '../checkpoints/files-here.js'
import { resolve, withFiles } from '../checkpoints/resolve-ref.js'
import { save } from '../checkpoints/save.js'
import type { Callbacks } from '../operation/callbacks.js'
import { findKnownProject, type ProjectContext } from '../operation/context.js'
import { projectOperation } from '../operation/operation.js'
import { describeBroken } from './describe-broken.js'
import { locate, type Verdict } from './locate.js'
import { KeptResults, type Outcomes } from './results.js'
import { removeThrowaway, ThrowawayFolder } from './throwaway-folder.js'

/** Checks the folder of one checkpoint. `skip`: it cannot be checked. */
export type BisectCheck = (
  folder: string,
  details: { readonly checkpoint: string; readonly signal: AbortSignal | undefined },
) => Promise<Verdict> | Verdict

export type BisectStep = {
  readonly checkpoint: string
  /** Undefined before the check. */
  readonly outcomes: Outcomes | undefined
  /** True if an interrupted bisect had this result. */
  readonly isKept: boolean
  /** At most so many checkpoints are to be checked after this one; undefined for the ends. */
  readonly left: number | undefined
}

export type BisectRun = {
  readonly checkpoint: string
  readonly verdict: Verdict
  /** The result of each run of the check. If they disagree, the checkpoint counts as good. */
  readonly outcomes: Outcomes
}

export type BisectResult = {
  /** The first checkpoint that is bad. */
  readonly checkpoint: string
  /** The prompt of the coding agent under which it was made. */
  readonly prompt: string | null
  /** Its tool calls. */
  readonly tool: string | null
  /** In the order in which they were checked, kept results included. */
  readonly runs: readonly BisectRun[]
  /** Present if skipped checkpoints hide which one it is: all that it can be, oldest first. */
  readonly candidates?: readonly string[]
}

type State = { readonly id: CheckpointId; readonly tree: ObjectId }

export const bisect = projectOperation({
  name: 'bisect',
  summary: 'Find the checkpoint since which a check fails',
  effect: 'adds',
  input: () =>
    z.strictObject({
      /** The oldest checkpoint if left out. */
      good: z.optional(z.string()),
      /** The folder as it is now, which is saved first, if left out. */
      bad: z.optional(z.string()),
      run: z.custom<BisectCheck>((value) => typeof value === 'function', 'must be a function'),
      onStep: z.optional(z.custom<(step: BisectStep) => void>((it) => typeof it === 'function')),
      /** A check that fails is repeated so many times. */
      retries: z._default(z.int().check(z.minimum(0), z.maximum(100)), 1),
      dependencies: z._default(z.enum(DEPENDENCY_MODES), 'link'),
      /** The results are kept under this name until the answer is known. */
      resumeAs: z.optional(z.string()),
      restart: z._default(z.boolean(), false),
    }),
  async run(context, input, callbacks): Promise<BisectResult> {
    const { project, states } = await findRange(context, input, callbacks)
    const kept = new KeptResults(context, project, input.resumeAs)
    if (kept.leftFolder !== undefined) removeThrowaway(kept.leftFolder)
    if (input.restart) kept.forget()
    const folder = new ThrowawayFolder(project)
    try {
      kept.keep(folder.top)
      const search = { ...input, project, states, kept, folder, callbacks }
      const result = await findFirstBad(context, search)
      kept.forget()
      return result
    } catch (error) {
      // A wrong end has most likely another cause than the checkpoint, which the user corrects before the next attempt.
      if (hasCode(error, 'BISECT_ENDS')) kept.forget()
      else kept.keepWithoutFolder()
      throw error
    } finally {
      removeThrowaway(folder.top)
    }
  },
})

type Ends = { readonly good?: string | undefined; readonly bad?: string | undefined }

/** All states from the good one to the bad one, without repetitions. */
async function findRange(
  context: ProjectContext,
  { good, bad }: Ends,
  callbacks: Callbacks,
): Promise<{ readonly project: Project; readonly states: readonly State[] }> {
  const { ledger } = context
  // Before the save, which shifts the numbers.
  const first = good === undefined ? undefined : await findEnd(context, good)
  const last = await (bad === undefined
    ? save.run(
        context,
        { reason: 'before bisect', namedBy: 'user', author: USER_AUTHOR },
        callbacks,
      )
    : findEnd(context, bad))
  const project = findKnownProject(context)
  invariant(project !== undefined, 'the end was found in a project')
  const oldest = first ?? ledger.checkpoints.list({ project: project.id }).findLast(isWithFiles)
  const steps = oldest === undefined ? [] : ledger.authorship.stepsFrom(project.id, oldest.id)
  const end = steps.findIndex(({ id }) => id === last.id)
  const states = steps
    .slice(0, end + 1)
    .filter(({ tree }, at) => at === 0 || steps[at - 1]?.tree !== tree)
  if (states.length >= 2) return { project, states }
  const why =
    oldest !== undefined && end < 0
      ? `The good checkpoint ${oldest.id} is newer than the bad one, ${last.id}`
      : 'The good and the bad end have the same files'
  throw new SavestateError('BAD_INPUT', why, {
    hint: '--good names an older checkpoint where the command succeeds, and --bad a newer one where it fails.',
  })
}

function isWithFiles(checkpoint: { readonly snapshot: unknown }): boolean {
  return checkpoint.snapshot !== null
}

async function findEnd(context: ProjectContext, ref: string): Promise<FilesCheckpoint> {
  const found = resolve(context.ledger, findKnownProject(context), ref)
  return withFiles(await withFilesHere(context, found))
}

type Search = {
  readonly project: Project
  readonly states: readonly State[]
  readonly run: BisectCheck
  readonly onStep?: ((step: BisectStep) => void) | undefined
  readonly retries: number
  readonly dependencies: (typeof DEPENDENCY_MODES)[number]
  readonly kept: KeptResults
  readonly folder: ThrowawayFolder
  readonly callbacks: Callbacks
}

async function findFirstBad(context: ProjectContext, search: Search): Promise<BisectResult> {
  const { states } = search
  const runs: BisectRun[] = []
  const verdicts: (Verdict | undefined)[] = states.map(() => undefined)
  const check = async (at: number, left?: number): Promise<Verdict> => {
    const state = states[at]
    invariant(state !== undefined, 'a state of the range is checked')
    const outcomes = await checkState(context, search, { ...state, left })
    const verdict = verdictOf(outcomes)
    verdicts[at] = verdict
    runs.push({ checkpoint: state.id, verdict, outcomes })
    return verdict
  }
  const last = states.length - 1
  if ((await check(last)) !== 'bad') throw wrongEnd('bad', runs)
  if ((await check(0)) !== 'good') throw wrongEnd('good', runs)
  for (;;) {
    const { good, bad, next, left } = locate(verdicts)
    if (next !== undefined) {
      await check(next, left - 1)
      continue
    }
    const candidates = states.slice(good + 1, bad + 1).map(({ id }) => id)
    const checkpoint = states[bad]?.id
    invariant(checkpoint !== undefined, 'the range has a bad end')
    return {
      checkpoint,
      ...describeBroken(context, checkpoint),
      runs,
      ...(candidates.length > 1 ? { candidates } : {}),
    }
  }
}

/** A check that passes once is good: a failure of the step that is searched for repeats. */
function verdictOf(outcomes: Outcomes): Verdict {
  return outcomes.find((one) => one !== 'bad') ?? 'bad'
}

async function checkState(
  context: ProjectContext,
  search: Search,
  { id, tree, left }: State & { readonly left: number | undefined },
): Promise<Outcomes> {
  const { kept, folder, onStep, retries } = search
  const known = kept.of(tree)
  const step = { checkpoint: id, left, isKept: known !== undefined }
  onStep?.({ ...step, outcomes: known })
  if (known !== undefined) return known
  const outcomes: Verdict[] = []
  do outcomes.push(await checkOnce(context, search, id))
  while (verdictOf(outcomes) === 'bad' && outcomes.length <= retries)
  kept.keep(folder.top, tree, outcomes)
  onStep?.({ ...step, outcomes })
  return outcomes
}

/** Each run gets a new copy: a failed one may have left files. */
async function checkOnce(
  context: ProjectContext,
  { folder, project, dependencies, run, callbacks }: Search,
  id: CheckpointId,
): Promise<Verdict> {
  const { signal } = callbacks
  signal?.throwIfAborted()
  folder.renew()
  try {
    // A prune may have removed it since.
    const checkpoint = withFiles(resolve(context.ledger, project, id))
    const how = { path: folder.path, project, dependencies, callbacks: { signal } }
    await writeCheckpoint(context, checkpoint, how)
  } catch (error) {
    if (hasCode(error, 'CHECKPOINT_DAMAGED', 'STORE_DAMAGED')) return 'skip'
    throw error
  }
  const verdict: unknown = await run(String(fsPath(folder.path)), { checkpoint: id, signal })
  signal?.throwIfAborted()
  if (verdict === 'good' || verdict === 'bad' || verdict === 'skip') return verdict
  throw new SavestateError('BAD_INPUT', "The check of a bisect returned no 'good', 'bad' or 'skip'")
}

function wrongEnd(end: 'good' | 'bad', runs: readonly BisectRun[]): SavestateError {
  const { checkpoint = '', verdict } = runs.at(-1) ?? {}
  const found =
    verdict === 'skip' ? 'cannot be checked' : `is ${verdict === 'good' ? 'good' : 'bad'}`
  const hint =
    end === 'bad'
      ? 'Nothing is broken there, or it fails only in the project, for example because of an ignored file. Name a checkpoint that is broken with --bad.'
      : 'Name a checkpoint that works with --good: `savestate list` marks those whose tests passed with ✓. If it fails only in the copy, it may need an ignored file of the project, or dependencies (--deps copy).'
  return new SavestateError('BISECT_ENDS', `The ${end} end, checkpoint ${checkpoint}, ${found}`, {
    hint,
  })
}
