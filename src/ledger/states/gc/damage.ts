// The errors for stored states that cannot be read. Every message names the state.
import { SavestateError, type StateId } from '../../../model/index.js'

const HINT = 'Go back to another checkpoint.'

/** `what` continues the sentence "The store lacks …". */
export function missingError(what: string, state: StateId): SavestateError {
  return new SavestateError('STORE_DAMAGED', `The store lacks ${what} of the state ${state}`, {
    hint: HINT,
  })
}

/** `what` starts the sentence "… is not what was written". */
export function alteredError(what: string, state: StateId): SavestateError {
  const message = `The state ${state} is damaged: ${what} is not what was written`
  return new SavestateError('STORE_DAMAGED', message, { hint: HINT })
}

/** `what` continues the sentence "The state 7 is malformed: there is …". */
export function malformedError(
  what: string,
  { state, cause }: { readonly state: StateId; readonly cause?: unknown },
): SavestateError {
  const message = `The state ${state} is malformed: there is ${what}`
  return new SavestateError('STATE_UNREADABLE', message, { hint: HINT, cause })
}

export function newerFormError(state: StateId): SavestateError {
  const message = `The state ${state} has a form that this program does not know`
  return new SavestateError('STATE_UNREADABLE', message, {
    hint: 'It was written by a newer version of Savestate. Update this one.',
  })
}
