// Imports checkpoints that were made elsewhere: plan all histories, ask, then add the items one by one. Each item is
// added completely or not at all, and the next import adds what an interrupted one did not (I6).
import * as z from 'zod/mini'
import type { StoreContext } from '../operation/context.js'
import { planCommits } from './import-commits.js'
import {
  type ImportHistory,
  type ImportPlan,
  type ImportProblem,
  importFault,
  type PlannedHistory,
} from './import-history.js'
import { planStates } from './import-states.js'
import { storeOperation } from '../operation/operation.js'

export type ImportCheckpointsResult = {
  readonly plan: ImportPlan
  readonly applied: boolean
  /** True if the user said no. */
  readonly declined: boolean
  readonly added: number
  readonly known: number
  /** Those of the plan, and those found while adding. */
  readonly problems: readonly ImportProblem[]
}

export const importCheckpoints = storeOperation({
  name: 'import',
  summary: 'Import checkpoints that were made elsewhere',
  effect: 'adds',
  input: () =>
    z.strictObject({
      histories: z.array(z.custom<ImportHistory>()),
      /** Items that the caller could not read; they become part of the plan. */
      problems: z._default(z.array(z.custom<ImportProblem>()), []),
      /** The prefix of the ids of new sessions. */
      prefix: z._default(z.string(), ''),
      dryRun: z._default(z.boolean(), false),
    }),
  async run(context, input, callbacks): Promise<ImportCheckpointsResult> {
    const problems = [...input.problems]
    try {
      const planned = await planAll(context, input, problems)
      const plan = planOf(planned, problems)
      const { known } = plan
      const result = { plan, applied: false, declined: false, added: 0, known, problems }
      if (input.dryRun || plan.add === 0) return result
      if (callbacks.confirmImport !== undefined && !(await callbacks.confirmImport(plan)))
        return { ...result, declined: true }
      let done = 0
      const onDone = () => {
        done += 1
        callbacks.onProgress?.({ phase: 'import', files: done, bytes: 0, of: plan.add })
      }
      let added = 0
      for (const { add } of planned) {
        callbacks.signal?.throwIfAborted()
        added += await add({ problems, onDone })
      }
      return { ...result, applied: true, added }
    } finally {
      await context.snapshots.closeSource()
    }
  },
})

/** A history that cannot be read at all becomes a problem. */
async function planAll(
  context: StoreContext,
  { histories, prefix }: { readonly histories: readonly ImportHistory[]; readonly prefix: string },
  problems: ImportProblem[],
): Promise<PlannedHistory[]> {
  const planned: PlannedHistory[] = []
  // Two histories may share commits. The first one adds them.
  const claimed = new Set<string>()
  for (const history of histories) {
    try {
      const next =
        history.type === 'commits'
          ? await planCommits(context, history, claimed)
          : planStates(context, history, prefix + history.id)
      planned.push(next)
      problems.push(...next.problems)
    } catch (error) {
      problems.push({ source: history.source, message: importFault(error) })
    }
  }
  return planned
}

function planOf(
  planned: readonly PlannedHistory[],
  problems: readonly ImportProblem[],
): ImportPlan {
  const sources = planned.map(({ view }) => view)
  return {
    sources,
    add: sources.reduce((sum, { add }) => sum + add, 0),
    known: sources.reduce((sum, { known }) => sum + known, 0),
    // A copy: the list grows while items are added.
    problems: [...problems],
  }
}
