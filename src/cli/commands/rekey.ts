import { stopDaemon } from '../../daemon/index.js'
import type { RekeyResult } from '../../index.js'
import { command, Declined, type Request } from '../runtime/command.js'
import { confirmText } from '../runtime/confirm.js'
import { formatCount } from '../terminal/format-numbers.js'

type Rekeyed = RekeyResult & { readonly declined: boolean }

export const run = command<Rekeyed>({
  async call(request) {
    const { options, hooks } = request
    const store = await request.store()
    const plain = options.has('plain')
    const planned = await store.rekey({ plain, dryRun: true })
    if (options.has('dry-run') || !planned.plan.isNeeded) return { ...planned, declined: false }
    const isAgreed = await confirmText(request, {
      plan: planText(planned.plan),
      question: plain ? 'Decrypt it?' : 'Encrypt it?',
    })
    if (!isAgreed) return new Declined({ ...planned, declined: true }, 'Nothing has been changed.')
    await stopDaemon()
    return { ...(await store.rekey({ plain, ...hooks })), declined: false }
  },
  render: rekeyText,
})

function rekeyText({ plan, applied, moved, damaged }: Rekeyed, request: Request): string {
  const isHow = plan.to === null ? 'not encrypted' : `encrypted with the key ${plan.to}`
  if (!plan.isNeeded) return `Nothing to do: the store is ${isHow}.`
  if (!applied) return planText(plan)
  const damage =
    damaged === 0
      ? ''
      : ` ${formatCount(damaged, 'row')} could not be decrypted with any key, and ${damaged === 1 ? 'was' : 'were'} left unchanged.`
  const old = plan.from.length === 0 ? '' : ` Keep the old key for older copies of the store.`
  const next =
    plan.to === null ? ' Unset SAVESTATE_KEY.' : ' From now on set that key as SAVESTATE_KEY.'
  const advice = request.options.has('yes') ? '' : `${next}${old}`
  return `The store is ${isHow}: ${formatCount(moved, 'row')} rewritten.${damage}${advice}`
}

function planText({ to, from, rows, total }: RekeyResult['plan']): string {
  const keys = from.length === 0 ? '' : ` now under ${from.join(' and ')}`
  const goal = to === null ? 'Decrypt' : 'Encrypt'
  const how = to === null ? '' : ` with the key ${to}`
  return [
    `${goal} ${formatCount(total, 'row')} of the ledger${keys}${how}:`,
    ...Object.entries(rows).map(([table, count]) => `  ${table.replace('_', ' ')}: ${count}`),
    'The ledger is written again as a whole, so that no old data is left in its files. No other program may have the store open.',
  ].join('\n')
}
