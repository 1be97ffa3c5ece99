// The part of a plan that concerns the conversation: of a coding agent (a copy up to the checkpoint), or the state of an SDK session.
import { type AgentConversationPlan, conversations, describePoint } from '../../agents/index.js'
import { type CheckpointDetails, SavestateError, type Store } from '../../internal.js'
import type { PlanInput } from '../api.js'
import type { PageContext } from './method.js'

export type RewindInput = Extract<PlanInput, { readonly kind: 'rewind' }>

/** How the conversation goes back, if it can. */
export type ConversationWay =
  | { readonly type: 'none'; readonly problem: string }
  | { readonly type: 'agent'; readonly plan: AgentConversationPlan }
  | { readonly type: 'state'; readonly session: string }

/** Reads the conversation, which may be large. Writes nothing. */
export async function findWay(
  { store }: Pick<PageContext, 'store'>,
  details: CheckpointDetails,
  input: RewindInput,
): Promise<ConversationWay> {
  const { before = false, project: folder } = input
  const { session } = details
  if (session === null) return none('The checkpoint belongs to no session.')
  try {
    const { planAtCheckpoint } = await conversations()
    const plan = await planAtCheckpoint(store, details, { before, folder })
    if (plan?.outline.way === 'none') return none(`${plan.outline.problem}.`)
    if (plan !== undefined) return { type: 'agent', plan }
    await rewindState(store, { ...input, session, dryRun: true })
    return { type: 'state', session }
  } catch (error) {
    return none(explainUnavailable(error))
  }
}

/** The same without reading the conversation, for a plan that leaves it as it is. Null if nothing speaks against it. */
export async function findProblem(details: CheckpointDetails): Promise<string | null> {
  if (details.session === null) return 'The checkpoint belongs to no session.'
  try {
    const { agentCheckpoint, findConversationProblem } = await conversations()
    const checkpoint = agentCheckpoint(details)
    if (checkpoint === undefined)
      return details.hasState ? null : 'The checkpoint has no conversation and no state.'
    const problem = findConversationProblem(checkpoint)
    return problem === undefined ? null : sentence(problem)
  } catch (error) {
    return explainUnavailable(error)
  }
}

/** For the plan. The page shows the prompt as text, so it needs no escapes here. */
export function describeWay(way: ConversationWay): string | null {
  if (way.type === 'none') return null
  if (way.type === 'state') return `The state of the session ${way.session} goes back.`
  const point = describePoint(way.plan.outline, (text) => text)
  return way.plan.outline.way === 'new'
    ? 'A new conversation begins: nothing was said before that.'
    : `A copy of the conversation goes back: ${point}. The original stays as it is.`
}

/** Only the state of an SDK session; no file changes. A dry run needs no lease, so it works while an agent writes. */
export async function rewindState(
  store: Store,
  {
    session: id,
    ref,
    before = false,
    dryRun,
  }: Pick<RewindInput, 'ref' | 'before'> & { readonly session: string; readonly dryRun: boolean },
): Promise<void> {
  const session = await store.session<unknown>(id, { create: false, lease: !dryRun })
  try {
    await session.rewind(ref, { restore: 'state', before, dryRun })
  } finally {
    await session.close()
  }
}

/** Errors that say why a way back is not possible, as a sentence for the plan. Rethrows all others. */
export function explainUnavailable(error: unknown): string {
  if (!(error instanceof SavestateError) || !UNAVAILABLE.includes(error.code)) throw error
  return sentence(error.message)
}

/** CHECKPOINT_UNKNOWN: the checkpoint itself was found, but nothing was saved before it. */
const UNAVAILABLE: readonly string[] = [
  'CHECKPOINT_DAMAGED',
  'CHECKPOINT_PARTIAL',
  'CHECKPOINT_UNKNOWN',
  'KEY_MISSING',
  'KEY_WRONG',
  'PROJECT_MISSING',
  'STATE_UNREADABLE',
  'STORE_DAMAGED',
]

function none(problem: string): ConversationWay {
  return { type: 'none', problem: sentence(problem) }
}

function sentence(text: string): string {
  const whole = text.slice(0, 1).toUpperCase() + text.slice(1)
  return /[.?!]$/.test(whole) ? whole : `${whole}.`
}
