// Keeps the store within its limits: plan, ask, remove, measure; repeat if it is still too large.
import * as z from 'zod/mini'
import { pathText, retentionPolicy } from '../../model/index.js'
import { diskUsage, failpoint, takeLock } from '../../system/index.js'
import { collect } from './gc.js'
import { collectLockPath, type StoreContext } from '../operation/context.js'
import { recordFailure } from '../operation/failures.js'
import { storeOperation } from '../operation/operation.js'
import { applyPlan } from './prune-apply.js'
import { planPrune, type PrunePlan } from './prune-plan.js'
import { type PruneResult, buildResult, Tally } from './prune-result.js'
import { recoverAll } from '../restore/recover.js'
import { storeSettings } from '../store/settings.js'
import { recordAbove } from '../store/sizes.js'

const MAX_ROUNDS = 4

export const prune = storeOperation({
  name: 'prune',
  summary: 'Remove checkpoints that the settings no longer keep',
  effect: 'changes-store',
  input: () =>
    z.strictObject({
      dryRun: z._default(z.boolean(), false),
      retentionDays: z.optional(z.number().check(z.nonnegative())),
      maxSizeMb: z.optional(z.number().check(z.nonnegative())),
      maxCheckpoints: z.optional(z.int().check(z.positive())),
      keepOrphans: z.optional(z.boolean()),
      unattended: z.optional(z.boolean()),
    }),
  async run(context, { dryRun, ...input }, callbacks): Promise<PruneResult> {
    await recoverAll(context, callbacks)
    const startBytes = await diskUsage(context.home)
    const isOver = startBytes > retentionPolicy(storeSettings(context.home).config, input).maxBytes
    // The store may fit once it is packed, and only packed objects have their final size in the plan.
    if (isOver && !dryRun) await collect(context, { thorough: true })
    callbacks.signal?.throwIfAborted()
    const first = await plan(context, input)
    const tally = new Tally()
    for (const { summary, fault } of first.projects)
      if (fault !== null) tally.fail(pathText(summary.project.path), fault)
    const sizes = { startBytes, sizeBytes: first.sizeBytes }
    const shown = buildResult(first, tally, { applied: false, ...sizes })
    if (dryRun) return shown
    // Asks about the plan that will be carried out: planning again after the answer could remove more than was shown.
    const { signal, confirmPrune } = callbacks
    if (hasWork(first) && confirmPrune !== undefined && !(await confirmPrune(shown))) return shown
    signal?.throwIfAborted()
    const sizeBytes = await applyInRounds(context, first, { input, tally, isOver, signal })
    context.ledger.record.set('pruned_at', context.clock.nowMs())
    const result = buildResult(first, tally, { applied: true, startBytes, sizeBytes })
    recordAbove(context, result.above?.projects ?? [])
    // The backup must not bring the store over its limit.
    if (sizeBytes + context.ledger.vacuum.bytesInUse() <= first.capBytes) await backUp(context)
    return result
  },
})

/** A failed backup, as on a full disk, must not fail the prune that frees space. */
async function backUp(context: StoreContext): Promise<void> {
  const { home, ledger, clock } = context
  const lock = await takeLock(collectLockPath(home), { waitMs: 0, purpose: 'backup' })
  try {
    if (lock !== undefined) ledger.backUp(clock.nowMs())
  } catch (error) {
    recordFailure(context, { operation: 'backup', project: null, error })
  } finally {
    lock?.release()
  }
}

/** Returns the size of the store afterwards. */
async function applyInRounds(
  context: StoreContext,
  first: PrunePlan,
  {
    input,
    tally,
    isOver,
    signal,
  }: {
    readonly input: Parameters<typeof planPrune>[1]
    readonly tally: Tally
    readonly isOver: boolean
    readonly signal: AbortSignal | undefined
  },
): Promise<number> {
  let current = first
  for (let round = 1; ; round += 1) {
    await applyPlan(context, current, { tally, signal })
    signal?.throwIfAborted()
    failpoint('prune:rows-removed')
    const { isComplete } = await collect(context, { thorough: isOver })
    const sizeBytes = await diskUsage(context.home)
    if (!isComplete)
      tally.fail('store', {
        code: 'STORE_BUSY',
        message: 'other processes were using the store; the next prune removes the rest',
      })
    if (sizeBytes <= first.capBytes || !isComplete || round === MAX_ROUNDS) return sizeBytes
    current = await plan(context, input, { isFirst: false })
    if (!hasWork(current)) return sizeBytes
  }
}

/** Under the shared lock: a concurrent collection must not remove objects that are being measured. */
function plan(...given: Parameters<typeof planPrune>): Promise<PrunePlan> {
  const [context] = given
  return context.objects.shared(() => planPrune(...given))
}

function hasWork({ projects, unattached, sessions }: PrunePlan): boolean {
  return sessions.length > 0 || [...projects, unattached].some(({ drop }) => drop.length > 0)
}
