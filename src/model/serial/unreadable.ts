// The errors for stored text that cannot be read.
import { SavestateError } from '../errors.js'

/** `what` ends the sentence "The stored state is malformed: there is …". */
export function malformed(what: string, cause?: unknown): SavestateError {
  return new SavestateError('STATE_UNREADABLE', `The stored state is malformed: there is ${what}`, {
    hint: 'The text was changed or damaged. Go back to another checkpoint.',
    cause,
  })
}

export function unknownKind(tag: string): SavestateError {
  return new SavestateError(
    'STATE_UNREADABLE',
    `The stored state contains a value of the unknown kind ${JSON.stringify(tag)}`,
    { hint: 'It was written by a newer version of Savestate. Update this one.' },
  )
}

export function unknownClass(name: string): SavestateError {
  return new SavestateError(
    'STATE_UNREADABLE',
    `The stored state contains an instance of ${name}, which is not registered`,
    { hint: 'Register the class under this name before the state is read.' },
  )
}

export function failedClass(name: string, cause: unknown): SavestateError {
  return new SavestateError(
    'STATE_UNREADABLE',
    `The stored state contains an instance of ${name}, whose fromValue failed`,
    { hint: 'See the cause. Let fromValue read what earlier versions of toValue returned.', cause },
  )
}
