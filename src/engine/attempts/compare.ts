// Compares two attempts at the same work: forks in folders of their own, sessions or checkpoints. Changes nothing.
import * as z from 'zod/mini'
import {
  type ChangeCounts,
  hasFiles,
  type ObjectId,
  pathText,
  type TestResult,
} from '../../model/index.js'
import { totalsOf } from '../../snapshot/index.js'
import { captureFolder } from '../checkpoints/compared-ends.js'
import { type ChangeView, viewChange } from '../checkpoints/views.js'
import type { Callbacks } from '../operation/callbacks.js'
import type { ProjectContext } from '../operation/context.js'
import { projectOperation } from '../operation/operation.js'
import { isExistingFolder } from '../projects/locate-project.js'
import { recoverIfNeeded } from '../restore/recover.js'
import { refuseDamagedFiles } from '../verify/damage-marks.js'
import { type Attempt, findAttempt } from './find-attempt.js'

export type AttemptView = ChangeCounts & {
  /** Null for a checkpoint. */
  readonly session: string | null
  /** Its newest checkpoint. For a folder of its own, the comparison includes what is not saved yet. */
  readonly checkpoint: string
  /** The folder of its own; null if it has none. */
  readonly path: string | null
  /** The newest result of test commands that its agent ran; null if none is known. */
  readonly tests: TestResult | null
  /** Null: not known. */
  readonly tokens: number | null
}

export type CompareResult = ChangeCounts & {
  /** `files`, `insertions` and `deletions` count what the attempt changed since its start; for a checkpoint, since the one before it. */
  readonly a: AttemptView
  readonly b: AttemptView
  /** From `a` to `b`, as are the totals. */
  readonly changes: readonly ChangeView[]
}

export const compare = projectOperation({
  name: 'compare',
  summary: 'Compare two attempts: forks, sessions or checkpoints',
  effect: 'reads',
  input: () => z.strictObject({ a: z.string(), b: z.string() }),
  async run(context, input, callbacks): Promise<CompareResult> {
    await recoverIfNeeded(context, callbacks)
    const [one, other] = [await findAttempt(context, input.a), await findAttempt(context, input.b)]
    for (const { newest } of [one, other]) refuseDamagedFiles(context.ledger, newest)
    // A prune must not remove objects while they are compared.
    return context.objects.shared(async () => {
      const [before, after] = [
        await treeOf(context, one, callbacks),
        await treeOf(context, other, callbacks),
      ]
      callbacks.signal?.throwIfAborted()
      const changes = await context.snapshots.compare(before, after, { countLines: true })
      return {
        a: await viewAttempt(context, one, before),
        b: await viewAttempt(context, other, after),
        ...totalsOf(changes),
        changes: changes.map(viewChange),
      }
    })
  },
})

/** The folder of its own as it is now, if it exists. */
async function treeOf(
  context: ProjectContext,
  { own, newest }: Attempt,
  callbacks: Callbacks,
): Promise<ObjectId> {
  if (own === undefined || !isExistingFolder(pathText(own.path))) return newest.snapshot.tree
  return captureFolder({ ...context, path: own.path }, newest.snapshot.tree, callbacks)
}

async function viewAttempt(
  context: ProjectContext,
  attempt: Attempt,
  tree: ObjectId,
): Promise<AttemptView> {
  const { session, own, newest } = attempt
  return {
    session: session?.id ?? null,
    checkpoint: newest.id,
    path: own === undefined ? null : pathText(own.path),
    ...(await changesOf(context, attempt, tree)),
    tests: testsOf(context, attempt),
    tokens: null,
  }
}

/** A fork begins with a checkpoint of its own, which outlives the one that it was forked from. */
async function changesOf(
  { ledger, snapshots }: ProjectContext,
  { session, newest }: Attempt,
  tree: ObjectId,
): Promise<ChangeCounts> {
  if (session === undefined) return newest.changes
  const first = ledger.checkpoints.list({ session: session.key, afterStep: -1 }).find(hasFiles)
  const start = first?.snapshot.tree ?? newest.snapshot.tree
  return totalsOf(await snapshots.compare(start, tree, { countLines: true }))
}

/** In a folder of its own, a coding agent has its own sessions. */
function testsOf({ ledger }: ProjectContext, { session, own, newest }: Attempt): TestResult | null {
  const scope =
    own !== undefined ? { project: own.id } : session !== undefined && { session: session.key }
  const rows =
    scope === false
      ? ledger.checkpoints.briefs({ project: newest.project }).filter(({ id }) => id === newest.id)
      : ledger.checkpoints.briefs(scope)
  return rows.find(({ tests }) => tests !== null)?.tests ?? null
}
