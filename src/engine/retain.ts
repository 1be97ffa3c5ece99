// Drops checkpoints and sessions by rule; shown before it is done (I7). What is dropped is never an ancestor
// that a survivor needs: states are whole, and the rows after it get its parent.
import * as z from 'zod/mini'
import { dropByMilestones, isTooOld, type Session } from '../model/index.js'
import { deleteSession } from './sessions.js'
import { isHeld } from './open-session.js'
import { sessionOperation, storeOperation } from './operation.js'

export type RetainResult = { readonly dropped: readonly string[]; readonly applied: boolean }

const input = () => z.strictObject({ dryRun: z._default(z.boolean(), false) })

/** Policy `milestones`, of one session. */
export const retainMilestones = sessionOperation({
  name: 'retain',
  summary: 'Drop checkpoints of a session that are neither first, recent, named last nor pinned',
  effect: 'adds',
  input,
  async run({ ledger, hold }, { dryRun }): Promise<RetainResult> {
    return ledger.transaction(() => {
      ledger.sessions.check(hold)
      const checkpoints = ledger.checkpoints.list({ session: hold.key }).reverse()
      // What a rewind can be undone by, and what another session stands on, stays.
      const protectedOnes = checkpoints.map((checkpoint) => ({
        ...checkpoint,
        pinned: checkpoint.pinned || ledger.isInOperation(checkpoint.id),
      }))
      const dropped = new Set(dropByMilestones(protectedOnes))
      if (!dryRun)
        for (const checkpoint of checkpoints)
          if (dropped.has(checkpoint.id)) ledger.checkpoints.remove(checkpoint)
      return { dropped: [...dropped], applied: !dryRun }
    })
  },
})

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
