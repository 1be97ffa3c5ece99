// Copies the arguments of a call that must wait for files or for an earlier call, because the caller may change them
// meanwhile. A call that does not wait reads its arguments in the transaction itself, without a copy.
import { SavestateError, type StateId } from '../../model/index.js'
import type { ExchangedItems } from './session-json.js'
import type { SessionContext } from './session-context.js'

/** Runs inside the transaction that adds the checkpoint; `base` is the state of the head. */
export type WriteState = (base: StateId | undefined) => StateId | undefined

export function writeWholeState(
  { ledger, memory, writeQueue }: SessionContext,
  { state, files }: { readonly state?: unknown; readonly files: boolean },
): WriteState {
  if (state === undefined) return (base) => base
  if (files || !writeQueue.isFree) return ledger.states.capture(state, memory)
  return () => ledger.states.write(state, memory)
}

export function writeAppended(
  { ledger, memory, writeQueue }: SessionContext,
  {
    key,
    items,
    files,
  }: { readonly key: string; readonly items: readonly unknown[]; readonly files: boolean },
): WriteState {
  const waits = files || !writeQueue.isFree
  const kept = waits ? ledger.states.captureItems(items, { key, memory }) : items
  return (base) => ledger.states.append(base, { key, items: kept }, memory)
}

/**
 * A copy of other arguments, such as metadata, if the call must wait. A value that cannot be stored is returned as it is:
 * writing it reports the error.
 */
export function copyAtCall<Value>(
  { ledger, writeQueue }: SessionContext,
  value: Value,
  { waits = !writeQueue.isFree }: { readonly waits?: boolean } = {},
): Value {
  if (!waits || typeof value !== 'object' || value === null) return value
  try {
    return ledger.states.copyOf(value)
  } catch (error) {
    if (error instanceof SavestateError && error.code === 'STATE_UNSTORABLE') return value
    throw error
  }
}

/** Copies a list of exported checkpoints. A stream is read as it arrives. */
export function copyItemsAtCall(context: SessionContext, items: ExchangedItems): ExchangedItems {
  // The call always waits: it loads the code of the import first.
  return Array.isArray(items) ? copyAtCall(context, [...items], { waits: true }) : items
}
