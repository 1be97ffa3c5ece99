// The consent to a rewind that the user typed as a prompt. The prompt itself is the yes, unless the rewind would overwrite
// the changes of the user since then: in that case the answer is the plan, and the command with --yes.
import type { PlanView, RestoreOptions } from '../../index.js'
import type { Request } from '../runtime/command.js'
import { planText } from '../render/plan-text.js'
import { changedByUserSince } from '../rewind/own-changes.js'
import { commandLine } from '../terminal/shell-quote.js'

/** As `hooks.confirm`. */
export function consentOf(
  request: Request,
  typed: readonly string[],
): NonNullable<RestoreOptions['confirm']> {
  return async (plan, details) => {
    const mine = await changedByUserSince(await request.project(), details.target)
    const isMine = ({ path }: PlanView['write'][number]) => mine.has(path)
    const isBlocked = plan.conflict.length > 0
    if (!isBlocked && ![...plan.write, ...plan.remove].some(isMine)) return true
    const { screen } = request
    screen.print(planText(plan, screen.paint))
    screen.print(isBlocked ? BLOCKED : changedText([...mine], typed))
    return false
  }
}

const BLOCKED = 'Something is in the way, as listed above.'
const SHOWN = 5

function changedText(paths: readonly string[], typed: readonly string[]): string {
  const more = paths.length - SHOWN
  const shown = [...paths.slice(0, SHOWN), ...(more > 0 ? [`${more} more`] : [])].join(', ')
  const command = commandLine(['savestate', ...typed, '--yes'])
  return `You have changed files since then: ${shown}. To overwrite them, type: ${command}`
}
