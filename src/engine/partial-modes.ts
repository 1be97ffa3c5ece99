// Modes that the system did not let be set in full: no reason to give up all the rest, and nothing to be silent about.
import {
  type BytePath,
  pathText,
  printablePath,
  type PlannedWrite,
  type RestorePlan,
  sameEntry,
} from '../model/index.js'
import type { PartialMode } from '../snapshot/index.js'
import type { Hooks } from './hooks.js'
import type { PlanView } from './view.js'

export type PartialModes = ReadonlyMap<BytePath, PartialMode>

/** What is still to be done, if the modes are left as they are. */
export function withoutPartial(plan: RestorePlan, partial: PartialModes): RestorePlan {
  return { ...plan, write: plan.write.filter((write) => !isLeft(write, partial.get(write.path))) }
}

/** Listed with what the rewind leaves as it is. */
export function withPartial(view: PlanView, partial: PartialModes): PlanView {
  const left = [...partial.values()].map((each) => ({
    path: pathText(each.path),
    reason: reasonOf(each),
  }))
  return left.length === 0 ? view : { ...view, keep: [...view.keep, ...left] }
}

export function tellPartial(partial: PartialModes, hooks: Hooks): void {
  for (const each of partial.values())
    hooks.onNotice?.(`${printablePath(each.path) || '.'}: ${reasonOf(each)}.`)
}

function isLeft({ from, to }: PlannedWrite, partial: PartialMode | undefined): boolean {
  if (partial === undefined || from === undefined) return false
  if (from.type === 'link' || to.type === 'link' || from.mode !== partial.mode) return false
  return to.mode === partial.wanted && sameEntry({ ...from, mode: to.mode }, to)
}

function reasonOf({ wanted, mode }: PartialMode): string {
  return `mode is ${octal(mode)}, was ${octal(wanted)}; the system does not let you set it`
}

function octal(mode: number): string {
  return mode.toString(8).padStart(4, '0')
}
