// The reasons why a value cannot be stored, each with advice. Nothing is dropped silently.
import { types } from 'node:util'
import { hasCode, SavestateError } from '../errors.js'
import { shownPath, type ValuePath } from './path.js'

/** `reason` ends the sentence "Cannot store messages[3]: it …". */
export type Refusal = { readonly reason: string; readonly hint: string; readonly cause?: unknown }

const LEAVE_OUT = 'Leave it out of the state, or store what is needed to recreate it.'
const REGISTER = 'Register the class, or put a plain object into the state instead.'

/** Matched by toStringTag, the only test that finds them all. It affects only the message. */
const NEVER_STORABLE =
  /^(?:WeakMap|WeakSet|WeakRef|FinalizationRegistry|Promise|SharedArrayBuffer)$/
const ITERATOR = /Iterator$/
const GENERATOR = /Generator$/

export function unstorable(path: ValuePath, { reason, hint, cause }: Refusal): SavestateError {
  return new SavestateError('STATE_UNSTORABLE', `Cannot store ${shownPath(path)}: it ${reason}`, {
    hint,
    cause,
  })
}

export function refuseScalar(value: unknown): Refusal {
  return {
    reason: typeof value === 'function' ? 'is a function' : 'is a symbol',
    hint: LEAVE_OUT,
  }
}

export function refuseObject(object: object): Refusal {
  const tag = Object.prototype.toString.call(object).slice('[object '.length, -1)
  if (types.isBoxedPrimitive(object))
    return { reason: `is ${withArticle(tag)} object`, hint: 'Store what valueOf() returns.' }
  if (NEVER_STORABLE.test(tag)) return { reason: `is ${withArticle(tag)}`, hint: LEAVE_OUT }
  if (ITERATOR.test(tag)) return { reason: 'is an iterator', hint: LEAVE_OUT }
  if (GENERATOR.test(tag)) return { reason: 'is a generator', hint: LEAVE_OUT }
  const prototype: unknown = Object.getPrototypeOf(object)
  if (prototype === null || prototype === Object.prototype)
    return { reason: `is ${withArticle(tag)} object`, hint: LEAVE_OUT }
  const name = classNameOf(object)
  if (name === undefined)
    return { reason: 'has a prototype that is not a class', hint: 'Copy it to a plain object.' }
  return { reason: `is an instance of ${name}, which is not registered`, hint: REGISTER }
}

export function refuseExtra(what: string, key: string | symbol): Refusal {
  const shown = typeof key === 'string' ? JSON.stringify(key) : String(key)
  return {
    reason: `is ${withArticle(what)} with the extra property ${shown}`,
    hint: 'Store both as properties of a plain object.',
  }
}

export function refuseSymbolKey(key: symbol): Refusal {
  return { reason: `has the symbol ${String(key)} as a key`, hint: 'Use a string as the key.' }
}

export const LEADS_OUT: Refusal = {
  reason: 'refers back to the state, or to a list or object of the state, that contains it',
  hint: 'Leave the reference out of the state, and set it after the state is read.',
}

export const TOO_DEEP: Refusal = {
  reason: 'is nested too deeply',
  hint: 'Keep long chains in an array.',
}

export const TOO_LONG: Refusal = {
  reason: 'is too large to be written as one text',
  hint: 'Store it in a file, or split it: each item of a list in the state is written separately.',
}

/** JavaScript strings are limited to about half a gigabyte. */
export function isTooLong(error: unknown): boolean {
  return (
    hasCode(error, 'ERR_STRING_TOO_LONG') ||
    (error instanceof RangeError && error.message === 'Invalid string length')
  )
}

/** `how` completes "is memory that …". */
export function refuseMemory(how: string): Refusal {
  return { reason: `is memory that ${how}`, hint: 'Store a copy of the bytes.' }
}

function withArticle(name: string): string {
  return `${/^[AEIO]/i.test(name) ? 'an' : 'a'} ${name}`
}

function classNameOf(object: object): string | undefined {
  const maker: unknown = Object.getPrototypeOf(object)?.constructor
  if (typeof maker !== 'function' || maker === Object) return undefined
  return maker.name === '' ? 'a class without a name' : maker.name
}
