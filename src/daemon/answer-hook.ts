// Answers one event of an agent in time, in the hook's own process or in the daemon.
import {
  type Answer,
  answerWithoutStore,
  failHook,
  handleHook,
  type HookRequest,
} from '../agents/index.js'
import { SavestateError, type Store } from '../internal.js'

/** An agent does not wait longer for us. */
export const PATIENCE_SECONDS = 10

/** Node's timers fire at once if they are given more. */
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

/** How far the work has come. */
type State = { hook: HookRequest; store: Store | undefined }

async function handle({ input, store }: HookWork, state: State): Promise<Answer> {
  state.hook = { ...state.hook, payload: parseJson(await input()) }
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

/** Undefined if it is not JSON: the mapper then reports it as malformed. */
function parseJson(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
