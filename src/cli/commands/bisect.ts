// `savestate bisect`: runs a command in copies of checkpoints until the one that broke something is found.
import type { BisectResult, BisectStep, CheckpointDetails, DiffResult } from '../../index.js'
import { SavestateError } from '../../index.js'
import { bisectText, stepText } from '../render/bisect-text.js'
import { UNCUT_WIDTH } from '../render/diff-text.js'
import { checkCommand } from '../run/check-command.js'
import { command, type Request } from '../runtime/command.js'
import { dependencyMode } from '../runtime/dependency-mode.js'
import { endOnSignals } from '../runtime/exit.js'
import { commandLine } from '../terminal/shell-quote.js'
import { shortIdOf } from '../terminal/short-id.js'

const SECOND_MS = 1000
const TIMEOUT_S = 600
/** As for `git bisect run`. */
const SKIP = 125

type Found = {
  readonly result: BisectResult
  readonly details: CheckpointDetails
  readonly diff: DiffResult
}

export const run = command<Found>({
  isPaged: true,
  async call(request) {
    const project = await request.project()
    const result = await search(request)
    const details = await project.show(result.checkpoint)
    const diff = await project.diff(result.checkpoint, { previous: true, width: UNCUT_WIDTH })
    return { result, details, diff }
  },
  json: ({ result }) => result,
  render: async (found, request) =>
    bisectText(found, { request, shown: await shortIdOf(request, found.result.checkpoint) }),
})

async function search(request: Request): Promise<BisectResult> {
  const { options, words, screen, bar } = request
  const timeoutS = options.number('timeout') ?? TIMEOUT_S
  const retries = options.number('retries')
  const signal = endOnSignals()
  const onStep = (step: BisectStep) => {
    bar.erase()
    screen.note(stepText(step))
  }
  const call = (await request.project()).bisect({
    ...namedEnds(request),
    ...(retries === undefined ? {} : { retries }),
    ...dependencyMode(options),
    ...request.hooks,
    restart: options.has('restart'),
    resumeAs: JSON.stringify([words, timeoutS]),
    signal,
    onStep,
    async run(folder) {
      const how = { folder, timeoutMs: timeoutS * SECOND_MS, signal }
      const { exitCode, isTimedOut } = await checkCommand(words, how)
      if (isTimedOut) screen.note(`savestate: ended after ${timeoutS} s.`)
      if (isTimedOut) return 'bad'
      return exitCode === 0 ? 'good' : exitCode === SKIP ? 'skip' : 'bad'
    },
  })
  return call.catch((error: unknown) => {
    if (!signal.aborted || error !== signal.reason) throw error
    throw new SavestateError('INTERRUPTED', 'Interrupted before the answer was known', {
      hint: `The results are kept. To continue: savestate bisect … -- ${commandLine(words)}`,
      cause: error,
    })
  })
}

function namedEnds({ options }: Request): { readonly good?: string; readonly bad?: string } {
  const [good, bad] = [options.text('good'), options.text('bad')]
  return { ...(good === undefined ? {} : { good }), ...(bad === undefined ? {} : { bad }) }
}
