import type { PruneInput, PruneResult } from '../../index.js'
import { command, type Request } from '../command.js'
import { confirmText } from '../confirm.js'
import { EXIT } from '../exit.js'
import { bytes, counted } from '../figures.js'
import { printable } from '../printable.js'
import { prunePlanText } from '../prune-text.js'

type Pruned = PruneResult & { readonly isDeclined: boolean }

export const run = command<Pruned>({
  async call(request) {
    const store = await request.store()
    let isDeclined = false
    const confirmPrune = async (planned: PruneResult) => {
      isDeclined = !(await isAgreed(request, planned))
      return !isDeclined
    }
    // Where nobody is, nobody is asked.
    const asking = request.options.has('unattended') ? {} : { confirmPrune }
    const dryRun = request.options.has('dry-run')
    const result = await store.prune(
      { ...inputOf(request), dryRun },
      { ...request.hooks, ...asking },
    )
    return { ...result, isDeclined }
  },
  json: ({ isDeclined: _declined, ...result }) => result,
  render(result, request) {
    if (result.isDeclined) return 'Nothing has been removed.'
    if (!result.applied) return prunePlanText(result, request.screen)
    // What a timer runs should send no mail about a day like any other.
    return request.options.has('unattended') && isWell(result) ? '' : figures(result)
  },
  exitCode: (result) =>
    result.isDeclined ? EXIT.declined : isWell(result) ? EXIT.done : EXIT.failed,
})

function isWell({ errors, above }: PruneResult): boolean {
  return errors.length === 0 && above === null
}

function inputOf({ options }: Request): PruneInput {
  return {
    retentionDays: options.number('retention-days'),
    maxSizeMb: options.number('max-size-mb'),
    maxCheckpoints: options.number('max-checkpoints'),
    keepOrphans: options.has('keep-orphans'),
    unattended: options.has('unattended'),
  }
}

function isAgreed(request: Request, planned: PruneResult): Promise<boolean> {
  const plan = prunePlanText(planned, request.screen)
  return confirmText(request, { plan, question: 'Remove it?' })
}

function figures(result: PruneResult): string {
  const { scanned, deletedOrphan, deletedStale, errors, bytesReclaimed, above } = result
  return [
    `Scanned:          ${counted(scanned, 'project')}`,
    `Deleted orphan:   ${deletedOrphan}`,
    `Deleted stale:    ${deletedStale}`,
    `Checkpoints gone: ${result.deletedCheckpoints}`,
    `Sessions gone:    ${result.deletedSessions}`,
    `Errors:           ${errors.length}`,
    ...errors.map(({ what, message }) => `  ${printable(what)}: ${printable(message)}`),
    `Bytes reclaimed:  ${bytes(bytesReclaimed)}`,
    `The store takes ${bytes(result.sizeBytes)} of ${bytes(result.plan.capBytes)}.`,
    ...(above === null
      ? []
      : [`It is ${bytes(above.byBytes)} over the limit, because of ${above.because.join(', ')}.`]),
  ].join('\n')
}
