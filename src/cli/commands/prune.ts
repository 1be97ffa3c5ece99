import type { PruneOptions, PruneResult } from '../../index.js'
import { command, type Request } from '../runtime/command.js'
import { confirmText } from '../runtime/confirm.js'
import { EXIT } from '../runtime/exit.js'
import { prunePlanText, pruneResultText } from '../render/prune-text.js'

type Pruned = PruneResult & { readonly isDeclined: boolean }

export const run = command<Pruned>({
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
    return { ...result, isDeclined }
  },
  json: ({ isDeclined: _declined, ...result }) => result,
  render(result, request) {
    if (result.isDeclined) return 'Nothing has been removed.'
    if (!result.applied) return prunePlanText(result, request.screen)
    // A timer that mails the output must not send mail if all is well.
    return request.options.has('unattended') && isWell(result) ? '' : pruneResultText(result)
  },
  exitCode: (result) =>
    result.isDeclined ? EXIT.declined : isWell(result) ? EXIT.done : EXIT.failed,
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
