// The target and the result of a rewind, undo or redo as text: which checkpoint, how old, before or after its prompt or call, and
// what was changed.
import { quotableReason } from '../../base/index.js'
import {
  CHANGED_BY_USER,
  HAS_HOOKS,
  MERGED_WITH_MINE,
  NOT_READABLE,
  type PlanDetails,
  type PlanItem,
  type RewindResult,
  type TargetView,
} from '../../internal.js'
import type { Request } from '../runtime/command.js'
import { EXIT } from '../runtime/exit.js'
import type { Paint } from '../terminal/colors.js'
import {
  isNothing,
  notRestoredText,
  outsideText,
  planCounts,
  planText,
  stateText,
} from '../render/plan-text.js'
import { displayPath, printableLine } from '../terminal/escape.js'
import { limitLines } from '../terminal/format-numbers.js'
import { relativeTime } from '../terminal/relative-time.js'
import { shortIdOf } from '../terminal/short-id.js'
import { cutEnd } from '../terminal/text-width.js'

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
type Shown = Pick<
  RewindResult,
  'plan' | 'applied' | 'declined' | 'session' | 'notRestored' | 'outside'
>

export function restoreText(result: Shown, request: Request, words: Words): string {
  if (result.declined) return 'Nothing has been changed.'
  const { paint, now } = request.screen
  const left = notRestoredText(result.notRestored, { paint, now })
  const outside = outsideText(result.outside, { paint, now })
  return [doneText(result, request, words), left, outside].filter((text) => text !== '').join('\n')
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
  const isShown = plan.keep.some((item) => isMine(item) || hasHooks(item))
  const mine = `${mergedText(plan.write)}${isShown ? kept : ''}`
  const files = isNothing(plan) ? words.nothing : planCounts(plan)
  const state = session === undefined ? '' : `, and the state of ${printableLine(session)} changed`
  return `${words.done}: ${files}${state}. ${words.next}${mine}`
}

/** The same for files in which the lines of the user stay. */
function mergedText(write: readonly PlanItem[]): string {
  const merged = write.filter(({ reason }) => reason === MERGED_WITH_MINE)
  if (merged.length === 0) return ''
  const lines = merged.map(({ path }) => `  ${displayPath(path)}`)
  return `\n${['Your changes stay in:', ...limitLines(lines, MAX_MERGED)].join('\n')}`
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

const MAX_MERGED = 20
const NONE = { write: [], remove: [], keep: [], conflict: [] }

const MAX_WORDS = 60
/** The messages of rewinds contain whole ids; here the first letters are enough. */
const WHOLE_ID = /\b[bcdfghjklmnpqrstvwxz]{18}\b/g
const SHORT_ID_LETTERS = 8

const shorten = (id: string) => id.slice(0, SHORT_ID_LETTERS)

/** `after "Bash: npm test"`, `before "You: Fix the login"`, or `"by hand"`; empty without a name and message. */
function whatText(to: Pick<TargetView, 'name' | 'reason' | 'moment'>): string {
  const quoted = quoteText(to)
  return to.moment === null || quoted === '' ? quoted : `${to.moment} ${quoted}`
}

/** The prompt, call or reason in quotes; empty if there is none. */
function quoteText({ name, reason }: Pick<TargetView, 'name' | 'reason'>): string {
  const said = printableLine(reason ?? name ?? '')
  const words = quotableReason(said).replace(WHOLE_ID, shorten)
  return words === '' ? '' : `"${cutEnd(words, MAX_WORDS)}"`
}

/** The checkpoint that the user named, if the target is the one before its call. */
export type BeforeCall = Pick<TargetView, 'id' | 'name' | 'reason'> | undefined

/** `Go back to 11 · blmqmxvf · 3 min ago · after "Bash: npm test"?` */
export async function goBackQuestion(
  request: Request,
  context: PlanDetails,
  call?: BeforeCall,
): Promise<string> {
  return `Go back${await goalText(request, context, call)}?`
}

/** ` to 11 · blmqmxvf · 3 min ago · after "Bash: npm test"` */
export async function goalText(
  request: Request,
  { to }: Pick<PlanDetails, 'to'>,
  call?: BeforeCall,
): Promise<string> {
  if (to === null) return ''
  const which = [
    ...(to.number === null ? [] : [`${to.number}`]),
    await shortIdIn(request, to),
    relativeTime(to.createdAt, request.screen.now),
  ]
  if (call !== undefined) return ` to ${beforeText(call)} (${which.join(' · ')})`
  return ` to ${[...which, whatText(to)].filter((part) => part !== '').join(' · ')}`
}

/** `just before "Bash: npm test"` */
export function beforeText(call: NonNullable<BeforeCall>): string {
  return `just before ${quoteText(call) || call.id}`
}

/** `blmqmxvf (3 min ago, after "Bash: npm test")`, for the result of a rewind. */
export function targetText(shown: string, to: TargetView | null, now: Date): string {
  if (to === null) return shown
  const isNamed = to.reason === null && to.name === shown
  const what = isNamed ? '' : whatText(to)
  const about = [relativeTime(to.createdAt, now), what].filter((part) => part !== '')
  return `${shown} (${about.join(', ')})`
}

/** `Undo the step 4 · blmqmxvf · 3 min ago · after "Bash: npm test"?` */
export async function stepsQuestion(request: Request, context: PlanDetails): Promise<string> {
  const isOne = isOneStep(context.undone)
  const { to } = context
  if (!isOne || to === null) return `Undo ${await stepsText(request, context)}?`
  return `Undo the step${(await goalText(request, { to })).replace(/^ to/, '')}?`
}

/** `the step blmqmxvf (after "Bash: npm test")`, or `the steps bcdfghjk..blmqmxvf`. */
export async function stepsText(
  request: Request,
  { to, undone = [] }: Pick<PlanDetails, 'to' | 'undone'>,
): Promise<string> {
  if (!isOneStep(undone) || to === null)
    return `the steps ${undone.map((ref) => ref.replace(WHOLE_ID, shorten)).join(' ')}`
  const what = whatText(to)
  return `the step ${await shortIdIn(request, to)}${what === '' ? '' : ` (${what})`}`
}

function isOneStep(undone: readonly string[] = []): boolean {
  return undone.length === 1 && !undone.some((ref) => ref.includes('..'))
}

/** `the rewind to blmqmxvf (after "Bash: npm test")`, for an undo or redo. */
export async function rewindText(
  request: Request,
  { to, undone }: Pick<PlanDetails, 'to' | 'undone'>,
): Promise<string> {
  if (undone !== undefined) return `the undo of ${await stepsText(request, { to, undone })}`
  if (to === null) return 'the last rewind'
  const what = whatText(to)
  return `the rewind to ${await shortIdIn(request, to)}${what === '' ? '' : ` (${what})`}`
}

/** `Undo the rewind to blmqmxvf (after "Bash: npm test"), 2 min ago?` */
export async function repeatQuestion(
  request: Request,
  { verb, context }: { readonly verb: string; readonly context: PlanDetails },
): Promise<string> {
  const { rewoundAt } = context
  const when = rewoundAt === undefined ? '' : `, ${relativeTime(rewoundAt, request.screen.now)}`
  return `${verb} ${await rewindText(request, context)}${when}?`
}

async function shortIdIn(request: Request, { id, number }: TargetView): Promise<string> {
  return number === null ? id : shortIdOf(request, id)
}
