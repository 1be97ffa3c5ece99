// What an operation is: input checked at the door, everything else from the context.
import type { Effect } from '../../base/index.js'
import { SavestateError } from '../../model/index.js'
import type { ProjectContext, StoreContext } from './context.js'
import { explainFailure } from './explain-failure.js'
import { noteFailure } from './failure-log.js'
import type { Hooks } from './callbacks.js'
import { inputFault, type Issue } from './input-errors.js'
import type { SessionContext } from '../sessions/session-context.js'

/** What is used of a zod schema. Named here so that our published types do not need zod's. */
export type Schema<Input> = {
  safeParse(
    value: unknown,
  ):
    | { readonly success: true; readonly data: Input }
    | { readonly success: false; readonly error: { readonly issues: readonly SchemaIssue[] } }
  /** Of an object: what it takes. */
  readonly shape?: Readonly<Record<string, unknown>>
}
/** `keys`: the names of options that there are not. */
type SchemaIssue = Issue & { readonly keys?: readonly string[] }

export type OperationOf<Context, Input, Result> = {
  readonly name: string
  readonly summary: string
  /** That of the command of the same name, if there is one: base/command-effects.ts. */
  readonly effect: Effect
  /** Made when it is first needed: a program calls few of its operations. */
  readonly input: () => Schema<Input>
  /** The input where none is given. There is nothing to check in it, and making a schema takes milliseconds. */
  readonly withoutInput?: () => NoInfer<Input>
  run(context: Context, input: Input, hooks: Hooks): Promise<Result>
}

export function projectOperation<Input, Result>(
  operation: OperationOf<ProjectContext, Input, Result>,
): OperationOf<ProjectContext, Input, Result> {
  return withOneSchema(operation)
}

export function storeOperation<Input, Result>(
  operation: OperationOf<StoreContext, Input, Result>,
): OperationOf<StoreContext, Input, Result> {
  return withOneSchema(operation)
}

export function sessionOperation<Input, Result>(
  operation: OperationOf<SessionContext, Input, Result>,
): OperationOf<SessionContext, Input, Result> {
  return withOneSchema(operation)
}

function withOneSchema<Context, Input, Result>(
  operation: OperationOf<Context, Input, Result>,
): OperationOf<Context, Input, Result> {
  let schema: Schema<Input> | undefined
  return { ...operation, input: () => (schema ??= operation.input()) }
}

/** An operation whose code is loaded when it is first asked for. */
export type Later<Context, Result> = {
  readonly load: () => Promise<OperationOf<Context, unknown, Result>>
}

export async function perform<Context extends StoreContext, Result>(
  wanted: OperationOf<Context, unknown, Result> | Later<Context, Result>,
  context: Context,
  request: { readonly input: unknown; readonly hooks?: Hooks | undefined },
): Promise<Result> {
  const operation = 'load' in wanted ? await wanted.load() : wanted
  const input = checked(operation, request.input)
  const { signal } = request.hooks ?? {}
  signal?.throwIfAborted()
  try {
    return await operation.run(context, input, request.hooks ?? {})
  } catch (error) {
    if (signal?.aborted === true && error === signal.reason) throw error
    const explained = await explainFailure(error, context)
    noteFailure(context, operation.name, explained)
    throw explained
  }
}

function checked<Input>(
  {
    name,
    input,
    withoutInput,
  }: Pick<OperationOf<never, Input, unknown>, 'name' | 'input' | 'withoutInput'>,
  given: unknown,
): Input {
  if (withoutInput !== undefined && isNothing(given)) return withoutInput()
  const schema = input()
  const parsed = schema.safeParse(given)
  if (parsed.success) return parsed.data
  const { issues } = parsed.error
  const unknown = issues.flatMap(({ path, keys }) => (path.length === 0 ? (keys ?? []) : []))
  if (unknown.length > 0) throw unknownOptions(name, unknown, Object.keys(schema.shape ?? {}))
  const isOther = issues.some(({ path }) => path.length === 0)
  const hint = isOther ? { hint: takes(Object.keys(schema.shape ?? {})) } : {}
  throw new SavestateError('BAD_INPUT', `${name}: ${issues.map(inputFault).join('; ')}`, hint)
}

/**
 * Types keep most callers from a misspelt option. To go on without it would rewind where only a plan was wanted, or keep
 * nothing of a state.
 */
export function unknownOptions(
  call: string,
  unknown: readonly string[],
  known: readonly string[],
): SavestateError {
  const names = unknown.map((name) => JSON.stringify(name)).join(', ')
  return new SavestateError('BAD_INPUT', `${call} has no option ${names}`, {
    hint: takes(known),
  })
}

function takes(known: readonly string[]): string {
  return known.length === 0 ? 'It takes none.' : `It takes ${known.join(', ')}.`
}

function isNothing(given: unknown): boolean {
  return (
    typeof given === 'object' &&
    given !== null &&
    Object.values(given).every((value) => value === undefined)
  )
}
