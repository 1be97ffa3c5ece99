// Drops checkpoints and sessions by rule; the plan can be shown before it is done (I7). A survivor never needs what is
// dropped: states are whole, and the rows after a dropped one get its parent.
import * as z from 'zod/mini'
import { type CheckpointId, dropByMilestones, isTooOld, type Session } from '../model/index.js'
import type { RetainedStep } from '../ledger/index.js'
import { failpoint, giveWay } from '../system/index.js'
import { deleteSession } from './sessions.js'
import { isHeld } from './open-session.js'
import { sessionOperation, storeOperation } from './operation.js'
import type { SessionContext } from './session-context.js'

export type RetainResult = { readonly dropped: readonly string[]; readonly applied: boolean }

const input = () => z.strictObject({ dryRun: z._default(z.boolean(), false) })

/** Steps that are read or removed at once: some 10 ms. */
const SLICE = 500

/**
 * Policy `milestones`, of one session. Removes the newest first, slice by slice. Killed in between it leaves a whole
 * session, and the next retention drops the rest: the same checkpoints survive.
 */
export const retainMilestones = sessionOperation({
  name: 'retain',
  summary: 'Drop checkpoints of a session that are neither first, recent, named last nor pinned',
  effect: 'adds',
  input,
  async run(context, { dryRun }): Promise<RetainResult> {
    const planned = await planMilestones(context)
    if (dryRun) return { dropped: [...planned.keys()], applied: false }
    return { dropped: await dropPlanned(context, planned), applied: true }
  },
})

/** The steps that the rule drops, with their names, oldest first. */
async function planMilestones({
  ledger,
  hold,
}: SessionContext): Promise<Map<CheckpointId, string | null>> {
  const steps: RetainedStep[] = []
  for (let step = Number.MAX_SAFE_INTEGER; ; ) {
    const startMs = performance.now()
    const page = ledger.steps.before(hold.key, { step, limit: SLICE })
    for (const one of page) steps.push(one)
    step = page.at(-1)?.step ?? 0
    if (page.length < SLICE) break
    await giveWay(startMs)
  }
  const dropped = new Set(dropByMilestones(steps.reverse()))
  return new Map(steps.flatMap(({ id, name }) => (dropped.has(id) ? [[id, name]] : [])))
}

/** The ids of those that went, oldest first: without any that was pinned or named meanwhile, or that a rewind needs. */
async function dropPlanned(
  { ledger, hold }: SessionContext,
  planned: ReadonlyMap<CheckpointId, string | null>,
): Promise<CheckpointId[]> {
  const dropped: CheckpointId[] = []
  for (let step = Number.MAX_SAFE_INTEGER; ; ) {
    const startMs = performance.now()
    const page = ledger.transaction(() => {
      ledger.sessions.check(hold)
      const steps = ledger.steps.before(hold.key, { step, limit: SLICE })
      const ids = steps.flatMap(({ id, name, pinned }) =>
        !pinned && planned.has(id) && planned.get(id) === name ? id : [],
      )
      ledger.steps.drop(hold.key, { ids, from: steps.at(-1)?.step ?? 0 })
      dropped.push(...ids)
      return steps
    })
    failpoint('retain:slice-removed')
    step = page.at(-1)?.step ?? 0
    if (page.length < SLICE) return dropped.reverse()
    await giveWay(startMs)
  }
}

/** Policy `ages`, of all sessions: 7 days without a touch, 1 day once completed. Pinned checkpoints keep theirs. */
export const retainAges = storeOperation({
  name: 'retain',
  summary: 'Remove sessions that were not used for long',
  effect: 'adds',
  input,
  async run(context, { dryRun }): Promise<RetainResult> {
    const { ledger, clock } = context
    const nowMs = clock.nowMs()
    const isDue = ({ key, lease, status, updatedAtMs }: Session) =>
      !isHeld(lease, nowMs) &&
      isTooOld({ status: status.state, updatedAtMs }, nowMs) &&
      !ledger.checkpoints.list({ session: key }).some(({ pinned }) => pinned)
    const due = ledger.sessions.list({}).filter(isDue)
    const dropped = dryRun
      ? due
      : due.filter(({ id }) => deleteSession(context, id, { isDue }).isDeleted)
    return { dropped: dropped.map(({ id }) => id), applied: !dryRun }
  },
})
