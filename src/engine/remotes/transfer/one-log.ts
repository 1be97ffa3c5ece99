// Errors that concern one session only: the others can still be sent or received.
import { type ErrorCode, SavestateError } from '../../../model/index.js'

const OF_ONE_LOG: readonly ErrorCode[] = [
  'BAD_INPUT',
  'CHECKPOINT_DAMAGED',
  'REMOTE_WENT_BACK',
  'SESSION_BUSY',
  'SESSION_DELETED',
  'SESSION_FENCED',
  'STATE_UNREADABLE',
  'STORE_DAMAGED',
]

export async function reportErrorsOfOne<Value>(
  work: () => Promise<Value>,
): Promise<{ readonly value: Value | undefined; readonly error?: SavestateError }> {
  try {
    return { value: await work() }
  } catch (error) {
    if (!(error instanceof SavestateError) || !OF_ONE_LOG.includes(error.code)) throw error
    return { value: undefined, error }
  }
}
