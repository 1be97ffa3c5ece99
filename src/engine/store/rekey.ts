// Changes the encryption key of the store, also from none and to none. Order of writes and the effect of a kill at each step:
// docs/guide/encryption.md#order-of-writes.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod/mini'
import type { RekeyPlan, Target } from '../../ledger/index.js'
import { SavestateError } from '../../model/index.js'
import { failpoint } from '../../system/index.js'
import { collect } from '../prune/gc.js'
import type { StoreContext } from '../operation/context.js'
import { removeIndexes } from '../search/index-file.js'
import { hideReasons } from './hide-reasons.js'
import type { Callbacks } from '../operation/callbacks.js'
import { storeOperation } from '../operation/operation.js'

export type RekeyResult = {
  readonly plan: RekeyPlan
  readonly applied: boolean
  readonly moved: number
  /** Rows that no key opens. They were damaged before and are not changed. */
  readonly damaged: number
}

export const rekey = storeOperation({
  name: 'rekey',
  summary: 'Change the key that states are encrypted with',
  effect: 'changes-store',
  input: () =>
    z.strictObject({
      /** Remove the encryption. */
      plain: z._default(z.boolean(), false),
      dryRun: z._default(z.boolean(), false),
    }),
  async run(context, { plain, dryRun }, callbacks): Promise<RekeyResult> {
    const { ledger, use } = context
    const target = plain ? undefined : requireKey(context)
    const plan = ledger.rekey.plan(target)
    if (dryRun || !plan.isNeeded) return { plan, applied: false, moved: 0, damaged: 0 }
    const done = await use?.upgrade(() => apply(context, { target, callbacks }))
    if (done !== undefined) return { plan, applied: true, ...done.result }
    throw new SavestateError('STORE_BUSY', 'Other programs have the store open', {
      hint: 'Close them, then run `savestate rekey` again. Nothing has been changed.',
    })
  },
})

/** The caller holds the store's lock exclusively. */
async function apply(
  context: StoreContext,
  { target, callbacks }: { readonly target: Target; readonly callbacks: Callbacks },
): Promise<Pick<RekeyResult, 'moved' | 'damaged'>> {
  const { home, ledger, clock } = context
  if (target !== undefined) await hidePrompts(context, callbacks)
  failpoint('rekey:hidden')
  const { total: of } = ledger.rekey.plan(target)
  const result = await ledger.rekey.rewrite(target, {
    nowMs: clock.nowMs(),
    onRows: (files) => callbacks.onProgress?.({ phase: 'seal', files, bytes: 0, of }),
  })
  await removeIndexes(home)
  if (existsSync(join(home, 'damaged')))
    callbacks.onWarning?.(
      'The files that `repair` has moved to the folder `damaged` of the store were not changed: they use the old key, or none.',
    )
  return result
}

/** Removes prompts and commands that hooks wrote before there was a key: from notes, reasons and commits. */
async function hidePrompts(context: StoreContext, callbacks: Callbacks): Promise<void> {
  // They contain the last prompt and the running calls. Without them the next checkpoint gets a less specific reason.
  context.ledger.notes.removeAll('hook:')
  await hideReasons(context, callbacks)
  const { isComplete } = await collect(context, { thorough: true })
  if (isComplete) return
  throw new SavestateError(
    'STORE_BUSY',
    'The store is in use, so commits that quote prompts cannot be removed now',
    { hint: 'Wait until other calls have ended, then run `savestate rekey` again.' },
  )
}

function requireKey({ ledger }: StoreContext): Target {
  const key = ledger.rekey.givenKey
  if (key !== undefined) return key
  throw new SavestateError('KEY_MISSING', 'No key was given to encrypt the store with', {
    hint: 'Set SAVESTATE_NEW_KEY or SAVESTATE_NEW_KEY_FILE; `openssl rand -hex 32` makes a key.',
  })
}
