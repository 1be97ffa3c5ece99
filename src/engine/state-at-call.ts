// What a call hands over to be kept, as it was when the call was made: the caller may change it while files are captured,
// or while an earlier call is under way. Where nothing has to be waited for it is read in the transaction itself.
import { SavestateError, type StateId } from '../model/index.js'
import type { ExchangedItems } from './exchange.js'
import type { SessionContext } from './session-context.js'
import { sessionNow } from './session-context.js'

/** Inside the transaction that adds the checkpoint; `base` is the state of the head. */
export type WriteState = (base: StateId | undefined) => StateId | undefined

export function wholeState(
  context: SessionContext,
  { state, files }: { readonly state?: unknown; readonly files: boolean },
): WriteState {
  if (state === undefined) return (base) => base
  const write = () => context.ledger.states.write(state, context.memory)
  if (!files && context.order.isFree) return write
  const ahead = writtenAhead(context, write)
  return () => ahead.take() ?? write()
}

export function longerList(
  context: SessionContext,
  addition: { readonly key: string; readonly items: readonly unknown[]; readonly files: boolean },
): WriteState {
  const { ledger, memory, order } = context
  const { key, files } = addition
  // What it will be added to is not known yet. Objects that the items have in common with it are not shared then.
  const items = order.isFree ? addition.items : ledger.states.copyOf(addition.items)
  const append = (base: StateId | undefined) => ledger.states.append(base, { key, items }, memory)
  if (!files || !order.isFree) return append
  const now = stateOfHead(context)
  const ahead = writtenAhead(context, () => append(now))
  return (base) => {
    const id = ahead.take()
    return base === now && id !== undefined ? id : append(base)
  }
}

/**
 * The same for what a call tells besides, such as metadata. What cannot be kept is left as it is: it is refused where it
 * is written, in the words for that.
 */
export function asAtCall<Value>(
  { ledger, order }: SessionContext,
  value: Value,
  { waits = !order.isFree }: { readonly waits?: boolean } = {},
): Value {
  if (!waits || typeof value !== 'object' || value === null) return value
  try {
    return ledger.states.copyOf(value)
  } catch (error) {
    if (error instanceof SavestateError && error.code === 'STATE_UNSTORABLE') return value
    throw error
  }
}

/** A list of exported checkpoints is taken as it is at the call; a stream is read as it comes. */
export function itemsAtCall(context: SessionContext, items: ExchangedItems): ExchangedItems {
  // Even if the session is free: the code of the import is loaded first.
  return Array.isArray(items) ? asAtCall(context, [...items], { waits: true }) : items
}

type Ahead = {
  /** Undefined if it is gone: an older version that collects does not know that it is waited for. */
  readonly take: () => StateId | undefined
}

/** A state that no checkpoint has is garbage, so nothing has to be waited for: what holds it is written after it. */
function writtenAhead(
  { ledger, memory, hold, order }: SessionContext,
  write: () => StateId,
): Ahead {
  try {
    const note = ledger.transactionNoSync(() => {
      ledger.sessions.check(hold)
      return ledger.states.noteAhead(write(), { writer: hold, isAlone: order.isIdle })
    })
    return { take: () => ledger.states.takeAhead(note) }
  } catch (error) {
    // The rows are gone, and with them what the memory believes to be stored.
    memory.forget()
    throw error
  }
}

function stateOfHead(context: SessionContext): StateId | undefined {
  const { head } = sessionNow(context)
  const checkpoint = head === null ? undefined : context.ledger.checkpoints.get(head)
  return checkpoint?.session?.state ?? undefined
}
