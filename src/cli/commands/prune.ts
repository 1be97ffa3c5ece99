import type { PruneOptions, PruneResult } from '../../index.js'
import { command, Declined, type Request } from '../runtime/command.js'
import { confirmText } from '../runtime/confirm.js'
import { EXIT } from '../runtime/exit.js'
import { prunePlanText, pruneResultText } from '../render/prune-text.js'

export const run = command<PruneResult>({
  async call(request) {
    const store = await request.store()
    let isDeclined = false
    const confirm = async (planned: PruneResult) => {
      const plan = prunePlanText(planned, request.screen)
      isDeclined = !(await confirmText(request, { plan, question: 'Remove it?' }))
      return !isDeclined
    }
    const asking = request.options.has('unattended') ? {} : { confirm }
    const dryRun = request.options.has('dry-run')
    const result = await store.prune({ ...inputOf(request), dryRun, ...request.hooks, ...asking })
    return isDeclined ? new Declined(result) : result
  },
  render(result, request) {
    if (!result.applied) return prunePlanText(result, request.screen)
    // A timer that mails the output must not send mail if all is well.
    return request.options.has('unattended') && isWell(result) ? '' : pruneResultText(result)
  },
  exitCode: (result) => (isWell(result) ? EXIT.done : EXIT.failed),
})

function isWell({ errors, above }: PruneResult): boolean {
  return errors.length === 0 && above === null
}

function inputOf({ options }: Request): PruneOptions {
  return {
    retentionDays: options.number('retention-days'),
    maxSizeMb: options.number('max-size-mb'),
    maxCheckpoints: options.number('max-checkpoints'),
    keepOrphans: options.has('keep-orphans'),
    unattended: options.has('unattended'),
  }
}
