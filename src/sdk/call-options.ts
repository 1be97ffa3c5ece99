// Options that the calls share: cancelling, progress, warnings and questions. Calls take them beside their own options; the
// engine gets them apart from its checked input.
import type { Callbacks, PlanDetails, PlanView, Progress, SessionContext } from '../engine/index.js'
import { unknownOptions } from '../engine/index.js'
import { SavestateError } from '../model/index.js'
import { expectObject } from './opening/validate-options.js'

/** Options that every long call takes. */
export type CallOptions = {
  /**
   * Cancels the call: it rejects with the reason of the signal and leaves the store intact. A rewind can be cancelled until
   * it starts to change files; after that it runs to its end.
   */
  readonly signal?: AbortSignal | undefined
  /** Reports how far the scan of the folder is. */
  readonly onProgress?: ((progress: Progress) => void) | undefined
  /** Reports what the user should know and what is not an error, such as an interrupted rewind that was finished. */
  readonly onWarning?: ((text: string) => void) | undefined
}

/** Options of calls that change files: rewind, undo and redo. */
export type RestoreOptions = CallOptions & {
  /** Returns the plan and changes nothing. */
  readonly dryRun?: boolean
  /**
   * Called with each plan, also that of a dry run, just before it is carried out. If it throws, nothing changes. For a caller
   * that has shown a plan and carries out no other one.
   * @internal
   */
  readonly onPlan?: ((plan: PlanView, details: PlanDetails) => void) | undefined
  /**
   * Called with the plan before anything changes; without it the plan is carried out. Other processes may work on the
   * project meanwhile. If the plan is another one after a yes, it is called again with the new plan.
   */
  readonly confirm?:
    | ((plan: PlanView, details: PlanDetails) => Promise<boolean> | boolean)
    | undefined
}

type Confirm = (...plan: readonly never[]) => Promise<boolean> | boolean

/** The callback of the engine that `confirm` is passed as; undefined for a call that asks nothing. */
type Asks = 'confirm' | 'confirmImport' | 'confirmPrune'

export type SplitOptions = { readonly input: object; readonly callbacks: Callbacks }

const CALLBACKS = ['onProgress', 'onWarning', 'onPlan', 'confirm'] as const

/** Separates the shared options from the call's own, to which `identity` is added. Throws BAD_INPUT. */
export function splitOptions(
  call: string,
  given: object,
  { identity = {}, asks }: { readonly identity?: object; readonly asks?: Asks | undefined } = {},
): SplitOptions {
  expectObject(call, given)
  const { signal, onProgress, onWarning, onPlan, confirm, ...own } = given as CallOptions &
    Pick<RestoreOptions, 'onPlan'> & { readonly confirm?: Confirm }
  expectCallbacks(call, { signal, onProgress, onWarning, onPlan, confirm })
  if (confirm !== undefined && asks === undefined) throw unknownOptions(call, ['confirm'], [])
  if (onPlan !== undefined && asks !== 'confirm') throw unknownOptions(call, ['onPlan'], [])
  const doubled = Object.keys(identity).filter((key) => key in own)
  if (doubled.length > 0) throw unknownOptions(call, doubled, [])
  const question = confirm === undefined ? {} : { [asks ?? 'confirm']: confirm }
  return {
    input: { ...own, ...identity },
    callbacks: { signal, onProgress, onWarning, onPlan, ...question },
  }
}

/** The queue is free while the caller is asked: other writes of the session must not wait for the answer. */
export function askOutside(
  { input, callbacks }: SplitOptions,
  queue: SessionContext['writeQueue'],
): SplitOptions {
  const { confirm } = callbacks
  const asking =
    confirm && ((...plan: Parameters<typeof confirm>) => queue.aside(() => confirm(...plan)))
  return { input, callbacks: { ...callbacks, confirm: asking } }
}

/** Refuses a callback that cannot be called: it would fail in the middle of the work. */
function expectCallbacks(
  call: string,
  given: Readonly<Record<'signal' | (typeof CALLBACKS)[number], unknown>>,
): void {
  const { signal } = given
  const wrong = CALLBACKS.find((name) => !['function', 'undefined'].includes(typeof given[name]))
  if (wrong !== undefined)
    throw new SavestateError('BAD_INPUT', `${call}: ${wrong} must be a function`)
  // Not by its class: a signal may come from another realm.
  if (signal !== undefined && typeof Object(signal).throwIfAborted !== 'function')
    throw new SavestateError('BAD_INPUT', `${call}: signal must be an AbortSignal`)
}
