// `savestate adopt`: a rewind of this project to the files of a fork.
import type { AdoptResult } from '../../index.js'
import { command } from '../runtime/command.js'
import { confirmOn } from '../runtime/confirm.js'
import { restoreExitCode, restoreText } from '../rewind/restore-text.js'
import { printableLine } from '../terminal/escape.js'
import { programFor } from '../terminal/shell-quote.js'

export const run = command<AdoptResult>({
  async call(request) {
    const fork = request.argument(0)
    const question = async () => `Take over the files of ${printableLine(fork)}?`
    return (await request.project()).adopt(fork, {
      dryRun: request.options.has('dry-run'),
      ...request.hooks,
      confirm: confirmOn(request, { question }),
    })
  },
  render: (result, request) => {
    const fork = printableLine(result.fork)
    return restoreText(result, request, {
      done: `Took over the files of ${fork}`,
      nothing: `the folder already has the files of ${fork}`,
      next: `Undo with: ${programFor(request.options)} undo`,
      goal: `Would take over the files of ${fork}:`,
    })
  },
  exitCode: restoreExitCode,
})
