// One event of an agent, in a process of its own or in the daemon: answered in time, whatever becomes of the work.
import { AGENT_NAMES, tryParseJson } from '../base/index.js'
import {
  type Answer,
  answerWithoutStore,
  failHook,
  handleHook,
  type HookRequest,
} from '../adapters/index.js'
import { SavestateError, type Store } from '../index.js'
import type { Parsed } from './parse.js'

/** An agent that waits longer than this is slowed by us. */
export const PATIENCE_SECONDS = 10

/** Of a timer of Node: one that is longer ends at once. */
const LONGEST_MS = 2 ** 31 - 1

export type HookWork = {
  readonly hook: Omit<HookRequest, 'payload'>
  /** Undefined for more than any event has. */
  readonly input: () => Promise<string | undefined>
  readonly store: () => Promise<Store>
  readonly patienceSeconds: number
}

/** `late`: the work may still be under way. Never throws what an agent would have to hear of. */
export async function hookAnswer(
  work: HookWork,
): Promise<{ readonly answer: Answer; readonly isLate: boolean }> {
  const state: State = { hook: { ...work.hook, payload: undefined }, store: undefined }
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>((resolve) => {
    const patienceMs = Math.min(work.patienceSeconds * 1000, LONGEST_MS)
    timer = setTimeout(() => resolve(undefined), patienceMs)
  })
  const answer = await Promise.race([workedOut(work, state), late])
  clearTimeout(timer)
  if (answer !== undefined) return { answer, isLate: false }
  return { answer: await lateAnswer(state, work.patienceSeconds), isLate: true }
}

/** What the arguments of `hook` ask for, which the table has checked. */
export function hookAsked({ positionals, options }: Pick<Parsed, 'positionals' | 'options'>): {
  readonly hook: Pick<HookRequest, 'agent' | 'eventName' | 'strict'>
  readonly patienceSeconds: number
} {
  const [name, eventName] = positionals
  const agent = AGENT_NAMES.find((one) => one === name)
  if (agent === undefined || eventName === undefined)
    throw new Error('The table lets an unknown agent through')
  return {
    hook: { agent, eventName, strict: options.has('strict') },
    patienceSeconds: options.number('patience') ?? PATIENCE_SECONDS,
  }
}

/** How far it has come. */
type State = { hook: HookRequest; store: Store | undefined }

async function workedOut({ input, store }: HookWork, state: State): Promise<Answer> {
  state.hook = { ...state.hook, payload: tryParseJson(await input()) }
  try {
    state.store = await store()
  } catch (error) {
    return answerWithoutStore(state.hook, error)
  }
  return handleHook(state.store, state.hook)
}

async function lateAnswer({ hook, store }: State, seconds: number): Promise<Answer> {
  const error = new SavestateError(
    'INTERRUPTED',
    `The checkpoint was not finished after ${seconds} seconds`,
    {
      hint: 'The next save includes these changes. If this was the first save of a large folder, run `savestate save` there once: later saves are faster.',
    },
  )
  return store === undefined ? answerWithoutStore(hook, error) : failHook(store, hook, error)
}
