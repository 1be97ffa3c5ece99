import type { PruneOptions, PruneRemoteResult, PruneResult } from '../../index.js'
import { pruneRemoteText } from '../render/remote-maintenance-text.js'
import { type Command, command, Declined, type Request } from '../runtime/command.js'
import { confirmText } from '../runtime/confirm.js'
import { EXIT } from '../runtime/exit.js'
import { prunePlanText, pruneResultText } from '../render/prune-text.js'

export const run: Command = (request) =>
  request.options.has('remote') ? pruneRemote(request) : pruneHere(request)

type PrunedRemote = PruneRemoteResult & {
  /** The plan of a dry run; undefined if there is nothing to remove. */
  readonly planned?: PruneResult | undefined
}

const pruneRemote = command<PrunedRemote>({
  async call(request) {
    const { remotes } = await request.store()
    const remote = request.options.text('remote') ?? ''
    const isDry = request.options.has('dry-run')
    let planned: PruneResult | undefined
    const confirm = (plan: PruneResult) => {
      planned = plan
      const question = 'Remove it from the remote?'
      return isDry
        ? false
        : confirmText(request, { plan: prunePlanText(plan, request.screen), question })
    }
    const result = await remotes.prune({
      ...(remote === '' ? {} : { remote }),
      dryRun: isDry,
      confirm,
    })
    if (isDry) return { ...result, planned }
    return result.declined ? new Declined(result) : result
  },
  render(result, { options, screen }) {
    if (!options.has('dry-run')) return pruneRemoteText(result)
    return result.planned === undefined
      ? `${result.remote.name}: no checkpoint to remove.`
      : prunePlanText(result.planned, screen)
  },
})

const pruneHere = command<PruneResult>({
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
