import { type RepairStep, repairStore } from '../../index.js'
import { command, type Request } from '../command.js'
import { isAgreed, terminalAsker } from '../confirm.js'
import { EXIT } from '../exit.js'
import { counted } from '../figures.js'
import { printable } from '../printable.js'
import { problemLine } from '../problem-text.js'
import { stopDaemon } from '../stop-daemon.js'

export const run = command({
  async call(request) {
    const dryRun = request.options.has('dry-run')
    if (!dryRun) await stopDaemon()
    const confirm = (steps: readonly RepairStep[]) => confirmSteps(request, steps)
    return repairStore({ mayBlock: true, dryRun, confirm }, request.hooks)
  },
  render({ steps, applied, declined, setAside, problems }, { screen, options }) {
    const left = problems.filter(({ severity }) => severity === 'damage')
    const rest = left.map((problem) => problemLine(problem, screen))
    if (options.has('dry-run'))
      return steps.length === 0
        ? ['There is nothing to repair.', ...rest].join('\n')
        : ['It would do this first:', ...steps.map(stepLine)].join('\n')
    if (declined && !applied) return 'Nothing was changed.'
    if (!applied) return [untouched(left.length), ...rest].join('\n')
    const lines = [`${counted(steps.length, 'step')} done:`, ...steps.map(stepLine)]
    if (setAside !== null) lines.push(`Damaged files were moved to ${printable(setAside)}`)
    if (rest.length > 0) lines.push('These problems remain:', ...rest)
    return lines.join('\n')
  },
  exitCode({ problems, declined }) {
    if (declined) return EXIT.declined
    return problems.some(({ severity }) => severity === 'damage') ? EXIT.failed : EXIT.done
  },
})

function untouched(lost: number): string {
  return lost === 0
    ? 'There is nothing to repair.'
    : `There is nothing more to repair. ${counted(lost, 'problem')} cannot be repaired:`
}

async function confirmSteps(request: Request, steps: readonly RepairStep[]): Promise<boolean> {
  if (request.options.has('yes')) return true
  request.bar.erase()
  const plan = ['Repair will:', ...steps.map(stepLine)].join('\n')
  return isAgreed(plan, { question: 'Continue?', asker: terminalAsker(request) })
}

function stepLine({ action, problem }: RepairStep): string {
  const { message, path } = problem
  return `  ${printable(`${action} (${path === undefined ? '' : `${path}: `}${message})`)}`
}
