// The errors about keys. A message contains the id of a key, never the key.
import { SavestateError } from '../../model/index.js'

const HOW = 'Set SAVESTATE_KEY or SAVESTATE_KEY_FILE, or give openStore({ encryption: { key } }).'

/** `given` are the ids of the keys that the caller passed. */
export function missingKeyError(
  id: string,
  { given, purpose }: { readonly given: readonly string[]; readonly purpose: 'read' | 'write' },
): SavestateError {
  const what =
    purpose === 'read'
      ? `The value is encrypted with the key ${id}`
      : `The store is encrypted with the key ${id}`
  if (given.length === 0)
    return new SavestateError('KEY_MISSING', `${what}, and no key was given`, { hint: HOW })
  const other = given.length === 1 ? 'the key given is' : 'the keys given are'
  return new SavestateError('KEY_WRONG', `${what}, and ${other} ${given.join(' and ')}`, {
    hint: `Give the key ${id}. ${HOW} While keys are changed, both must be given.`,
  })
}

/** The store has a key of this id, but it is not this key. */
export function mismatchedKeyError(id: string): SavestateError {
  return new SavestateError(
    'KEY_WRONG',
    `The key ${id} does not match the record of it in the store`,
    {
      hint: 'It is another key, or the list of keys in the store is damaged.',
    },
  )
}

export function retiredKeyError(id: string): SavestateError {
  return new SavestateError('KEY_WRONG', `The key ${id} was retired from this store`, {
    hint: 'Give the key that the store has now, or none if it is no longer encrypted.',
  })
}
