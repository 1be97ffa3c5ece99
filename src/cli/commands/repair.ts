import { stopDaemon } from '../../daemon/index.js'
import { type RepairStep, repairStore } from '../../index.js'
import { command } from '../runtime/command.js'
import { confirmText } from '../runtime/confirm.js'
import { EXIT } from '../runtime/exit.js'
import { formatCount } from '../terminal/format-numbers.js'
import { printable } from '../terminal/escape.js'
import { problemLine } from '../render/problem-text.js'

export const run = command({
  async call(request) {
    const dryRun = request.options.has('dry-run')
    if (!dryRun) await stopDaemon()
    // Without a callback all rounds run under one lock.
    let isAfterChanges = false
    const confirm = async (steps: readonly RepairStep[]) => {
      const plan = ['Repair will:', ...steps.map(stepLine)].join('\n')
      const isWanted = await confirmText(request, { plan, question: 'Continue?', isAfterChanges })
      isAfterChanges = true
      return isWanted
    }
    const asking = request.options.has('yes') ? {} : { confirm }
    return repairStore({ inProcess: true, dryRun, ...asking, ...request.hooks })
  },
  render({ steps, applied, declined, setAside, problems }, { screen, options }) {
    const left = problems.filter(({ severity }) => severity === 'damage')
    const rest = left.map((problem) => problemLine(problem, screen))
    if (options.has('dry-run'))
      return steps.length === 0
        ? ['There is nothing to repair.', ...rest].join('\n')
        : ['It would do this first:', ...steps.map(stepLine)].join('\n')
    if (declined && !applied) return 'Nothing was changed.'
    if (!applied && left.length === 0) return 'There is nothing to repair.'
    if (!applied) {
      const count = formatCount(left.length, 'problem')
      return [`There is nothing more to repair. ${count} cannot be repaired:`, ...rest].join('\n')
    }
    const lines = [`${formatCount(steps.length, 'step')} done:`, ...steps.map(stepLine)]
    if (setAside !== null) lines.push(`Damaged files were moved to ${printable(setAside)}`)
    if (rest.length > 0) lines.push('These problems remain:', ...rest)
    return lines.join('\n')
  },
  exitCode({ problems, declined }) {
    if (declined) return EXIT.declined
    return problems.some(({ severity }) => severity === 'damage') ? EXIT.failed : EXIT.done
  },
})

function stepLine({ action, problem }: RepairStep): string {
  const { message, path } = problem
  return `  ${printable(`${action} (${path === undefined ? '' : `${path}: `}${message})`)}`
}
