// Options that go to no operation, which checks its own.
import { types } from 'node:util'
import { SavestateError } from '../../model/index.js'
import { type Hooks, unknownOptions } from '../../engine/index.js'

/** Every option of a call, so that the compiler misses none. */
export type Known<Options> = Readonly<Record<keyof Options, true>>

/** Throws BAD_INPUT for one that the call does not have, such as a misspelt `home`: it would work on another store. */
export function refuseUnknown<Options extends object>(
  call: string,
  given: Options,
  known: Known<Options>,
): void {
  expectObject(call, given)
  const unknown = Object.keys(given).filter((name) => !Object.hasOwn(known, name))
  if (unknown.length > 0) throw unknownOptions(call, unknown, Object.keys(known))
}

/** Nor is a list one, or a promise that nobody has waited for: no option would be found in it. */
export function expectObject(call: string, given: unknown): void {
  const isObject = typeof given === 'object' && given !== null
  if (isObject && !Array.isArray(given) && !types.isPromise(given) && !types.isMap(given)) return
  throw new SavestateError('BAD_INPUT', `${call} takes its options as an object`)
}

/** Where a list is meant, a text would be taken for a list of its letters. */
export function refuseNoList(call: string, option: string, given: unknown): void {
  if (given === undefined || Array.isArray(given)) return
  throw new SavestateError('BAD_INPUT', `${call} takes ${option} as a list`)
}

/** A hook that cannot be called would fail in the middle of the work, where it is needed. */
export function expectHooks(hooks: Hooks): void {
  const isHooks = typeof hooks === 'object' && hooks !== null
  const isCallable = (hook: unknown) => hook === undefined || typeof hook === 'function'
  if (isHooks && Object.values(hooks).every(isCallable)) return
  throw new SavestateError('BAD_INPUT', 'The hooks of a call must be an object of functions')
}
