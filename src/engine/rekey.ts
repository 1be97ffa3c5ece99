// Changes the key that the store is encrypted with; also from none and to none. Order of writes and what a kill leaves:
// docs/encryption.md#order-of-writes.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import * as z from 'zod/mini'
import type { RekeyPlan, Target } from '../ledger/index.js'
import { SavestateError } from '../model/index.js'
import { failpoint, takeLock } from '../system/index.js'
import { collect } from './collect.js'
import { rekeyLockPath, type StoreContext } from './context.js'
import { hideReasons } from './hide-reasons.js'
import type { Hooks } from './hooks.js'
import { storeOperation } from './operation.js'

export type RekeyResult = {
  readonly plan: RekeyPlan
  readonly applied: boolean
  readonly moved: number
  /** Rows that no key opens: they were damaged before, and stay as they are. */
  readonly damaged: number
}

export const rekey = storeOperation({
  name: 'rekey',
  summary: 'Change the key that states are encrypted with',
  effect: 'changes-store',
  input: () =>
    z.strictObject({
      /** To no key at all. */
      plain: z._default(z.boolean(), false),
      dryRun: z._default(z.boolean(), false),
    }),
  async run(context, { plain, dryRun }, hooks): Promise<RekeyResult> {
    const target = plain ? undefined : wantedKey(context)
    const plan = context.ledger.rekey.plan(target)
    if (dryRun || !plan.isNeeded) return { plan, applied: false, moved: 0, damaged: 0 }
    const lock = await takeLock(rekeyLockPath(context.home), { waitMs: 0, purpose: 'rekey' })
    if (lock === undefined)
      throw new SavestateError('STORE_BUSY', 'Another process is changing the key', {
        hint: 'Wait until it is done.',
      })
    try {
      return { plan, applied: true, ...(await apply(context, { target, plan, hooks })) }
    } finally {
      lock.release()
    }
  },
})

async function apply(
  context: StoreContext,
  { target, plan, hooks }: { target: Target; plan: RekeyPlan; hooks: Hooks },
): Promise<Pick<RekeyResult, 'moved' | 'damaged'>> {
  const { home, ledger, clock } = context
  let [moved, damaged] = [0, 0]
  ledger.rekey.begin(target, clock.nowMs())
  failpoint('rekey:begun')
  for (const batch of ledger.rekey.move(target)) {
    moved += batch.moved
    damaged += batch.damaged
    failpoint('rekey:batch')
    const files = moved + damaged
    hooks.onProgress?.({ phase: 'seal', files, bytes: 0, of: Math.max(plan.total, files) })
    // Others have a turn, in this process (I12) and at the ledger.
    await turn()
  }
  failpoint('rekey:moved')
  if (target !== undefined) await hideWords(context, hooks)
  failpoint('rekey:hidden')
  ledger.rekey.erase()
  failpoint('rekey:erased')
  ledger.rekey.finish(target, clock.nowMs())
  if (existsSync(join(home, 'damaged')))
    hooks.onNotice?.(
      'The files that `repair` has moved to the folder `damaged` of the store were not changed: they use the old key, or none.',
    )
  return { moved, damaged }
}

/** Prompts and commands that hooks wrote while there was no key: in notes, in reasons, and in the commits of checkpoints. */
async function hideWords(context: StoreContext, hooks: Hooks): Promise<void> {
  context.ledger.rekey.dropHookNotes()
  await hideReasons(context, hooks)
  const { isComplete } = await collect(context, { thorough: true })
  if (isComplete) return
  throw new SavestateError(
    'REKEY_UNFINISHED',
    'Other programs are using the store, so old commits cannot be removed now',
    { hint: 'Close them and run `savestate rekey` again to finish.' },
  )
}

function wantedKey({ ledger }: StoreContext): Target {
  const key = ledger.rekey.givenKey
  if (key !== undefined) return key
  throw new SavestateError('KEY_MISSING', 'No key was given to encrypt the store with', {
    hint: 'Set SAVESTATE_NEW_KEY or SAVESTATE_NEW_KEY_FILE; `openssl rand -hex 32` makes a key.',
  })
}
