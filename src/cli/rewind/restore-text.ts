// The result of a rewind, undo or redo as text.
import {
  CHANGED_BY_USER,
  HAS_HOOKS,
  NOT_READABLE,
  type PlanItem,
  type RewindResult,
} from '../../internal.js'
import type { Request } from '../runtime/command.js'
import { EXIT } from '../runtime/exit.js'
import type { Paint } from '../terminal/colors.js'
import { isNothing, notRestoredText, planCounts, planText, stateText } from '../render/plan-text.js'
import { printableLine } from '../terminal/escape.js'

type Words = {
  /** `Rewound to bcdfghjk`. */
  readonly done: string
  /** `the folder is as it was at bcdfghjk`. */
  readonly nothing: string
  readonly next: string
  /** The first line of a dry run: `Would go back to bcdfghjk:`. */
  readonly goal?: string
  /** The paths that the user has changed since, for the plan of a dry run. */
  readonly mine?: ReadonlySet<string>
}

/** The parts of a result that are shown. */
type Shown = Pick<RewindResult, 'plan' | 'applied' | 'declined' | 'session' | 'notRestored'>

export function restoreText(result: Shown, request: Request, words: Words): string {
  if (result.declined) return 'Nothing has been changed.'
  const { paint, now } = request.screen
  const left = notRestoredText(result.notRestored, { paint, now })
  return [doneText(result, request, words), left].filter((text) => text !== '').join('\n')
}

function doneText(result: Shown, { screen, options }: Request, words: Words): string {
  const { plan, applied, session } = result
  const kept = keptText(plan.keep, screen.paint)
  if (isNothing(plan) && session === undefined && !applied) {
    return `Nothing to do: ${nothingText(plan.keep, words.nothing)}.${kept}`
  }
  if (options.has('dry-run'))
    return [
      words.goal ?? '',
      stateText(session),
      planText(plan, screen.paint, words.mine),
      'A dry run: nothing has been changed.',
    ]
      .filter((text) => text !== '')
      .join('\n')
  if (!applied) return ''
  const mine = plan.keep.some((item) => isMine(item) || hasHooks(item)) ? kept : ''
  const files = isNothing(plan) ? words.nothing : planCounts(plan)
  const state = session === undefined ? '' : `, and the state of ${printableLine(session)} changed`
  return `${words.done}: ${files}${state}. ${words.next}${mine}`
}

/** Starts with a line break; empty if nothing is kept. */
export function keptText(keep: readonly PlanItem[], paint: Paint): string {
  return keep.length === 0 ? '' : `\n${planText({ ...NONE, keep }, paint)}`
}

/** Why no file changes; `nothing` is the text if the folder is already as it was. */
export function nothingText(keep: readonly PlanItem[], nothing: string): string {
  if (keep.some(isMine)) return 'what differs was changed by you'
  return keep.some(({ reason }) => reason === NOT_READABLE)
    ? 'nothing differs but what cannot be read'
    : keep.some(hasHooks)
      ? 'nothing differs but the hooks of Savestate'
      : nothing
}

const isMine = ({ reason }: PlanItem) => reason === CHANGED_BY_USER
const hasHooks = ({ reason }: PlanItem) => reason === HAS_HOOKS

export function restoreExitCode({ declined }: Pick<RewindResult, 'declined'>): number {
  return declined ? EXIT.declined : EXIT.done
}

const NONE = { write: [], remove: [], keep: [], conflict: [] }
