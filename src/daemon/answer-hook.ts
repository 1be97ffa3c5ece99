// Answers one event of an agent within a time limit, in the hook's own process or in the daemon.
import {
  type Answer,
  answerWithoutStore,
  failHook,
  handleHook,
  type HookRequest,
} from '../agents/index.js'
import { tryParseJson } from '../base/index.js'
import { SavestateError, type Store } from '../internal.js'

/** Agents do not wait much longer. */
export const PATIENCE_SECONDS = 10

/** Node's timers fire immediately for longer delays. */
const LONGEST_MS = 2 ** 31 - 1

export type HookWork = {
  readonly hook: Omit<HookRequest, 'payload'>
  /** Undefined if it is larger than any event. */
  readonly input: () => Promise<string | undefined>
  readonly store: () => Promise<Store>
  readonly patienceSeconds: number
}

/** `isLate`: the work may still be running. */
export async function answerHook(
  work: HookWork,
): Promise<{ readonly answer: Answer; readonly isLate: boolean }> {
  const state: State = { hook: { ...work.hook, payload: undefined }, store: undefined }
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>((resolve) => {
    const patienceMs = Math.min(work.patienceSeconds * 1000, LONGEST_MS)
    timer = setTimeout(() => resolve(undefined), patienceMs)
  })
  const answer = await Promise.race([handle(work, state), late])
  clearTimeout(timer)
  if (answer !== undefined) return { answer, isLate: false }
  return { answer: await lateAnswer(state, work.patienceSeconds), isLate: true }
}

/** Shared with the late answer, which uses what is there so far. */
type State = { hook: HookRequest; store: Store | undefined }

async function handle({ input, store }: HookWork, state: State): Promise<Answer> {
  // Input that is not JSON is undefined, which the mapper reports as malformed.
  state.hook = { ...state.hook, payload: tryParseJson((await input()) ?? '') }
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
