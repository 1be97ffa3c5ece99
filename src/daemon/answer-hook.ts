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

/** `isLate`: the work may still be running. */
export async function answerHook(work: {
  readonly hook: Omit<HookRequest, 'payload'>
  /** Undefined if it is larger than any event. */
  readonly input: () => Promise<string | undefined>
  readonly store: () => Promise<Store>
  readonly patienceSeconds: number
}): Promise<{ readonly answer: Answer; readonly isLate: boolean }> {
  const { patienceSeconds } = work
  // The late answer uses what is there so far.
  let hook: HookRequest = { ...work.hook, payload: undefined }
  let store: Store | undefined
  const handle = async (): Promise<Answer> => {
    // Input that is not JSON is undefined, which the mapper reports as malformed.
    hook = { ...hook, payload: tryParseJson(await work.input()) }
    try {
      store = await work.store()
    } catch (error) {
      return answerWithoutStore(hook, error)
    }
    return handleHook(store, hook)
  }
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), Math.min(patienceSeconds * 1000, LONGEST_MS))
  })
  const answer = await Promise.race([handle(), late])
  clearTimeout(timer)
  if (answer !== undefined) return { answer, isLate: false }
  const error = new SavestateError(
    'INTERRUPTED',
    `The checkpoint was not finished after ${patienceSeconds} seconds`,
    {
      hint: 'The next save includes these changes. If this was the first save of a large folder, run `savestate save` there once: later saves are faster.',
    },
  )
  const failed =
    store === undefined ? answerWithoutStore(hook, error) : failHook(store, hook, error)
  return { answer: await failed, isLate: true }
}
