// The target of a rewind as text: which checkpoint, how old, and whether it is before or after its prompt or call.
import { quotableReason } from '../../base/index.js'
import type { PlanDetails, TargetView } from '../../index.js'
import type { Request } from '../runtime/command.js'
import { printableLine } from '../terminal/escape.js'
import { relativeTime } from '../terminal/relative-time.js'
import { shortIdOf } from '../terminal/short-id.js'
import { cutEnd } from '../terminal/text-width.js'

const MAX_WORDS = 60
/** The messages of rewinds contain whole ids; here the first letters are enough. */
const WHOLE_ID = /\b[bcdfghjklmnpqrstvwxz]{18}\b/g
const SHORT_ID_LETTERS = 8

/** `after "Bash: npm test"`, `before "You: Fix the login"`, or `"by hand"`; empty without a name and message. */
function whatText(to: Pick<TargetView, 'name' | 'reason' | 'moment'>): string {
  const quoted = quoteText(to)
  return to.moment === null || quoted === '' ? quoted : `${to.moment} ${quoted}`
}

/** The prompt, call or reason in quotes; empty if there is none. */
function quoteText({ name, reason }: Pick<TargetView, 'name' | 'reason'>): string {
  const said = printableLine(reason ?? name ?? '')
  const words = quotableReason(said).replace(WHOLE_ID, (id) => id.slice(0, SHORT_ID_LETTERS))
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

/** `the rewind to blmqmxvf (after "Bash: npm test")`, for an undo or redo. */
export async function rewindText(
  request: Request,
  { to }: Pick<PlanDetails, 'to'>,
): Promise<string> {
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
