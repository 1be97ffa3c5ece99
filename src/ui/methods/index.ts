// The table of all methods. A method of src/ui/api.ts that is missing here is a type error.
import type * as z from 'zod/mini'
import { describeInputError, SavestateError } from '../../internal.js'
import type { Method } from '../api.js'
import { apply } from './apply.js'
import { changes, checkpoint, folder, name, patch, pin } from './checkpoint.js'
import { items, more, session, transcriptBytes } from './conversation.js'
import type { MethodOf, Methods, PageContext } from './method.js'
import { plan } from './plan.js'
import { history, search } from './search.js'
import { fork, sessions } from './session.js'
import { here, rows, start } from './start.js'
import { prunePreview, store, verify } from './store.js'

export { openPageContext } from './context.js'
export type { PageContext } from './method.js'

const METHODS: Methods = {
  start,
  rows,
  here,
  checkpoint,
  changes,
  patch,
  folder,
  name,
  pin,
  sessions,
  session,
  transcriptBytes,
  items,
  more,
  fork,
  plan,
  apply,
  history,
  search,
  store,
  prunePreview,
  verify,
}

export type CallableMethod = {
  readonly changes: boolean
  /** Throws BAD_INPUT before anything is read from the store. */
  call(input: unknown, context: () => Promise<PageContext>): Promise<unknown>
}

export function findMethod(given: string): CallableMethod | undefined {
  return isMethod(given) ? callable(given, METHODS[given]) : undefined
}

function isMethod(given: string): given is Method {
  return Object.hasOwn(METHODS, given)
}

function callable<Name extends Method>(
  method: string,
  { input: schema, changes: isChanging, run }: MethodOf<Name>,
): CallableMethod {
  return {
    changes: isChanging,
    async call(given, context) {
      const parsed = schema.safeParse(given)
      if (!parsed.success) throw wrongInput(method, parsed.error)
      return run(parsed.data, await context())
    },
  }
}

function wrongInput(method: string, { issues }: z.core.$ZodError): SavestateError {
  return new SavestateError('BAD_INPUT', `${method}: ${issues.map(describeInputError).join('; ')}`)
}
