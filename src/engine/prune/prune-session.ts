// Prunes one session to its milestones. The remaining checkpoints do not depend on removed ones: states are complete, and the rows
// after a removed one get its parent.
import * as z from 'zod/mini'
import { type CheckpointId, planSessionRetention, retentionPolicy } from '../../model/index.js'
import type { SessionStep } from '../../ledger/index.js'
import { failpoint, pauseForWriters } from '../../system/index.js'
import { sessionOperation } from '../operation/operation.js'
import type { SessionContext } from '../sessions/session-context.js'
import { storeSettings } from '../store/settings.js'

export type SessionPruneResult = {
  /** Oldest first. */
  readonly dropped: readonly string[]
  readonly applied: boolean
}

/** Steps that are read or removed at once: some 10 ms. */
const SLICE = 500

/** Removes the newest first, slice by slice. After a kill the session is intact, and the next prune removes the rest. */
export const pruneSession = sessionOperation({
  name: 'prune',
  summary: 'Remove checkpoints of a session that are neither first, recent, named last nor pinned',
  effect: 'changes-store',
  input: () =>
    z.strictObject({
      dryRun: z._default(z.boolean(), false),
      keepLast: z.optional(z.int().check(z.positive())),
      maxCheckpoints: z.optional(z.int().check(z.positive())),
    }),
  async run(context, { dryRun, ...given }): Promise<SessionPruneResult> {
    const steps = await readSteps(context)
    const policy = retentionPolicy(storeSettings(context.home).config, given)
    const ids = planSessionRetention(steps, policy).map(({ id }) => id)
    if (dryRun) return { dropped: ids, applied: false }
    const gone = new Set(ids)
    const planned = new Map(steps.flatMap(({ id, name }) => (gone.has(id) ? [[id, name]] : [])))
    return { dropped: await removePlanned(context, planned), applied: true }
  },
})

/** Newest first. */
async function readSteps({ ledger, lease }: SessionContext): Promise<SessionStep[]> {
  const steps: SessionStep[] = []
  for (let step = Number.MAX_SAFE_INTEGER; ; ) {
    const startMs = performance.now()
    const page = ledger.steps.before(lease.key, { step, limit: SLICE })
    for (const one of page) steps.push(one)
    step = page.at(-1)?.step ?? 0
    if (page.length < SLICE) return steps
    await pauseForWriters(startMs)
  }
}

/** Skips steps that were pinned or renamed since, or that a rewind needs. */
async function removePlanned(
  { ledger, lease }: SessionContext,
  planned: ReadonlyMap<CheckpointId, string | null>,
): Promise<CheckpointId[]> {
  const dropped: CheckpointId[] = []
  for (let step = Number.MAX_SAFE_INTEGER; ; ) {
    const startMs = performance.now()
    const page = ledger.transaction(() => {
      ledger.sessions.check(lease)
      const steps = ledger.steps.before(lease.key, { step, limit: SLICE })
      const ids = steps.flatMap(({ id, name, pinned }) =>
        !pinned && planned.has(id) && planned.get(id) === name ? id : [],
      )
      ledger.steps.drop(lease.key, { ids, from: steps.at(-1)?.step ?? 0 })
      dropped.push(...ids)
      return steps
    })
    failpoint('prune:slice-removed')
    step = page.at(-1)?.step ?? 0
    if (page.length < SLICE) return dropped.reverse()
    await pauseForWriters(startMs)
  }
}
