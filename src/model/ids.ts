// Ids. Each kind has its own type, so that a tree id cannot be passed as a checkpoint id.
import { SavestateError } from './errors.js'

declare const kind: unique symbol
type Id<Kind extends string> = string & { readonly [kind]: Kind }

export type CheckpointId = Id<'checkpoint'>
export type ProjectId = Id<'project'>
export type OperationId = Id<'operation'>
/** The row of a state in the ledger. */
export type StateId = number & { readonly [kind]: 'state' }
/** The 40 hex digits of a git object. */
export type ObjectId = Id<'object'>

// Consonants only: an id cannot look like a number or spell a word.
const LETTERS = 'bcdfghjklmnpqrstvwxz'
const ID_LETTERS = 18
const ID_FORM = /^[bcdfghjklmnpqrstvwxz]{18}$/

/** 128 bits for 77.8 bits of letters: the remainder of the division favors no letter by more than 2^-50. */
const RANDOM_BYTES = 16

/** A new id, random from the first letter, so that a short prefix identifies it. The time is stored separately. */
export function makeId(random: (bytes: number) => Uint8Array): string {
  let rest = random(RANDOM_BYTES).reduce((number, byte) => number * 256n + BigInt(byte), 0n)
  let text = ''
  while (text.length < ID_LETTERS) {
    text += LETTERS.charAt(Number(rest % BigInt(LETTERS.length)))
    rest /= BigInt(LETTERS.length)
  }
  return text
}

export function parseCheckpointId(text: string): CheckpointId {
  return parse(text, ID_FORM, 'a checkpoint id') as CheckpointId
}

export function parseOperationId(text: string): OperationId {
  return parse(text, ID_FORM, 'an operation id') as OperationId
}

/** Whether this may be the id of a checkpoint, an operation or a project. */
export function isIdForm(text: string): boolean {
  return ID_FORM.test(text)
}

export function parseProjectId(text: string): ProjectId {
  return parse(text, ID_FORM, 'a project id') as ProjectId
}

export function parseStateId(row: number): StateId {
  if (Number.isSafeInteger(row) && row > 0) return row as StateId
  throw new SavestateError('BAD_INPUT', `${row} is not the row of a state`)
}

export function parseObjectId(text: string): ObjectId {
  return parse(text, /^[0-9a-f]{40}$/, 'an object id') as ObjectId
}

/** The shortest prefix of at least `letters` letters that none of the other ids has. */
export function uniquePrefix(id: string, others: readonly string[], letters: number): string {
  const shared = others.map((other) => {
    let count = 0
    while (count < id.length && id[count] === other[count]) count += 1
    return count
  })
  return id.slice(0, Math.max(letters, ...shared.map((count) => count + 1)))
}

function parse(text: string, form: RegExp, what: string): string {
  if (form.test(text)) return text
  throw new SavestateError('BAD_INPUT', `${JSON.stringify(text.slice(0, 80))} is not ${what}`)
}
