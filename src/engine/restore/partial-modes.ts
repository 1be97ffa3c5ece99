// Modes and owners that could not be restored completely. The rewind continues without them, and reports them.
import {
  type BytePath,
  pathText,
  printablePath,
  type PlannedWrite,
  type RestorePlan,
  sameEntry,
} from '../../model/index.js'
import type { PartialMode } from '../../snapshot/index.js'
import type { Callbacks } from '../operation/callbacks.js'
import type { PlanView } from '../checkpoints/views.js'

export type PartialModes = ReadonlyMap<BytePath, PartialMode>

/** Drops the writes that would only set such a mode again. */
export function withoutPartial(plan: RestorePlan, partial: PartialModes): RestorePlan {
  return { ...plan, write: plan.write.filter((write) => !isLeft(write, partial.get(write.path))) }
}

/** Adds them to the entries that the rewind leaves as they are. */
export function withPartial(view: PlanView, partial: PartialModes): PlanView {
  const left = [...partial.values()].map((each) => ({
    path: pathText(each.path),
    reason: describeMode(each),
  }))
  return left.length === 0 ? view : { ...view, keep: [...view.keep, ...left] }
}

/** Reports each path, but entries with an unknown owner only once with their number. */
export function reportPartialModes(partial: PartialModes, callbacks: Callbacks): void {
  const all = [...partial.values()]
  const [first, ...others] = all.filter(({ why }) => why === 'unknown-owner')
  for (const each of all.filter((one) => one === first || !others.includes(one))) {
    const more = each === first && others.length > 0 ? ` (and ${others.length} more)` : ''
    callbacks.onWarning?.(`${printablePath(each.path) || '.'}${more}: ${describeMode(each)}.`)
  }
}

function isLeft({ from, to }: PlannedWrite, partial: PartialMode | undefined): boolean {
  if (partial === undefined || from === undefined) return false
  if (from.type === 'link' || to.type === 'link' || from.mode !== partial.mode) return false
  return to.mode === partial.wanted && sameEntry({ ...from, mode: to.mode }, to)
}

function describeMode({ wanted, mode, why }: PartialMode): string {
  const modes = `mode is ${octal(mode)}, was ${octal(wanted)}`
  if (why === 'system') return `${modes}; the system does not let you set it`
  if (why === 'owner')
    return `${modes}; setuid and setgid are restored only for the owner they were saved with`
  const isLess = mode === wanted ? '' : `, and its ${modes}`
  return `belongs to root${isLess}: its owner is not recorded, or cannot be restored`
}

function octal(mode: number): string {
  return mode.toString(8).padStart(4, '0')
}
