// Defines an operation: it validates its input and takes everything else from the context.
import type { Effect } from '../../base/index.js'
import { SavestateError } from '../../model/index.js'
import type { ProjectContext, StoreContext } from './context.js'
import { explainFailure, noteFailure } from './failures.js'
import type { Callbacks } from './callbacks.js'
import { describeInputError, type Issue } from './input-errors.js'
import type { SessionContext } from '../sessions/session-context.js'

/** The part of a zod schema that we use. Declared here so that our published types do not need zod's. */
export type Schema<Input> = {
  safeParse(
    value: unknown,
  ):
    | { readonly success: true; readonly data: Input }
    | { readonly success: false; readonly error: { readonly issues: readonly SchemaIssue[] } }
  /** The fields of an object schema. */
  readonly shape?: Readonly<Record<string, unknown>>
}
/** `keys`: unknown option names. */
type SchemaIssue = Issue & { readonly keys?: readonly string[] }

export type OperationOf<Context, Input, Result> = {
  readonly name: string
  readonly summary: string
  /** The same as for the command of that name, if there is one: base/command-effects.ts. */
  readonly effect: Effect
  /** Built on first use: a program calls few of its operations. */
  readonly input: () => Schema<Input>
  /** The input when the caller gives none. It needs no validation, and building a schema takes milliseconds. */
  readonly withoutInput?: () => NoInfer<Input>
  run(context: Context, input: Input, callbacks: Callbacks): Promise<Result>
}

type Define<Context> = <Input, Result>(
  operation: OperationOf<Context, Input, Result>,
) => OperationOf<Context, Input, Result>

export const projectOperation: Define<ProjectContext> = defineOperation
export const storeOperation: Define<StoreContext> = defineOperation
export const sessionOperation: Define<SessionContext> = defineOperation

/** Builds the input schema once. */
function defineOperation<Context, Input, Result>(
  operation: OperationOf<Context, Input, Result>,
): OperationOf<Context, Input, Result> {
  let schema: Schema<Input> | undefined
  return { ...operation, input: () => (schema ??= operation.input()) }
}

/** An operation whose code is loaded on first use. */
export type LazyOperation<Context, Result> = {
  readonly load: () => Promise<OperationOf<Context, unknown, Result>>
}

export type AnyOperation<Context, Result> =
  | OperationOf<Context, unknown, Result>
  | LazyOperation<Context, Result>

export async function perform<Context extends StoreContext, Result>(
  requested: AnyOperation<Context, Result>,
  context: Context,
  request: { readonly input: unknown; readonly callbacks?: Callbacks | undefined },
): Promise<Result> {
  const operation = 'load' in requested ? await requested.load() : requested
  const input = parseInput(operation, request.input)
  const { signal } = request.callbacks ?? {}
  signal?.throwIfAborted()
  try {
    return await operation.run(context, input, request.callbacks ?? {})
  } catch (error) {
    if (signal?.aborted === true && error === signal.reason) throw error
    const explained = await explainFailure(error, context)
    noteFailure(context, operation.name, explained)
    throw explained
  }
}

function parseInput<Input>(
  {
    name,
    input,
    withoutInput,
  }: Pick<OperationOf<never, Input, unknown>, 'name' | 'input' | 'withoutInput'>,
  given: unknown,
): Input {
  if (withoutInput !== undefined && isEmpty(given)) return withoutInput()
  const schema = input()
  const parsed = schema.safeParse(given)
  if (parsed.success) return parsed.data
  const { issues } = parsed.error
  const unknown = issues.flatMap(({ path, keys }) => (path.length === 0 ? (keys ?? []) : []))
  if (unknown.length > 0) throw unknownOptions(name, unknown, Object.keys(schema.shape ?? {}))
  const isWrongType = issues.some(({ path }) => path.length === 0)
  const hint = isWrongType ? { hint: listOptions(Object.keys(schema.shape ?? {})) } : {}
  throw new SavestateError(
    'BAD_INPUT',
    `${name}: ${issues.map(describeInputError).join('; ')}`,
    hint,
  )
}

/**
 * Types catch most misspelled options. Ignoring one would be dangerous: without `dryRun`, for example, the operation would
 * rewind instead of planning.
 */
export function unknownOptions(
  call: string,
  unknown: readonly string[],
  known: readonly string[],
): SavestateError {
  const names = unknown.map((name) => JSON.stringify(name)).join(', ')
  return new SavestateError('BAD_INPUT', `${call} has no option ${names}`, {
    hint: listOptions(known),
  })
}

function listOptions(known: readonly string[]): string {
  return known.length === 0 ? 'It takes none.' : `It takes ${known.join(', ')}.`
}

function isEmpty(given: unknown): boolean {
  return (
    typeof given === 'object' &&
    given !== null &&
    Object.values(given).every((value) => value === undefined)
  )
}
