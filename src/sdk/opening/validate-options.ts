// Checks options that no operation of the engine checks.
import { types } from 'node:util'
import { SavestateError } from '../../model/index.js'
import { unknownOptions } from '../../engine/index.js'

/** All options of a call, so that the compiler finds a missing one. */
export type Known<Options> = Readonly<Record<keyof Options, true>>

/** Throws BAD_INPUT for unknown options. A misspelt `home` would otherwise mean the default store. */
export function refuseUnknown<Options extends object>(
  call: string,
  given: Options,
  known: Known<Options>,
): void {
  expectObject(call, given)
  const unknown = Object.keys(given).filter((name) => !Object.hasOwn(known, name))
  if (unknown.length > 0) throw unknownOptions(call, unknown, Object.keys(known))
}

/** Refuses lists, maps, and promises that were not awaited: they would be read as no options at all. */
export function expectObject(call: string, given: unknown): void {
  const isObject = typeof given === 'object' && given !== null
  if (isObject && !Array.isArray(given) && !types.isPromise(given) && !types.isMap(given)) return
  throw new SavestateError('BAD_INPUT', `${call} takes its options as an object`)
}

/** Refuses a string where a list is expected: it would be read as a list of its letters. */
export function refuseNoList(call: string, option: string, given: unknown): void {
  if (given === undefined || Array.isArray(given)) return
  throw new SavestateError('BAD_INPUT', `${call} takes ${option} as a list`)
}
