// What an operation is: input checked at the door, everything else from the context.
import type * as z from 'zod/mini'
import { explainSystemError, SavestateError } from '../model/index.js'
import type { ProjectContext, StoreContext } from './context.js'
import type { Hooks } from './hooks.js'

/** From this the faces derive prompts, hints and verbs. */
export type Effect = 'reads' | 'adds' | 'changes-files'

export type OperationOf<Context, Schema extends z.ZodMiniType, Result> = {
  readonly name: string
  readonly summary: string
  readonly effect: Effect
  readonly input: Schema
  run(context: Context, input: z.output<Schema>, hooks: Hooks): Promise<Result>
}

export function projectOperation<Schema extends z.ZodMiniType, Result>(
  operation: OperationOf<ProjectContext, Schema, Result>,
): OperationOf<ProjectContext, Schema, Result> {
  return operation
}

export function storeOperation<Schema extends z.ZodMiniType, Result>(
  operation: OperationOf<StoreContext, Schema, Result>,
): OperationOf<StoreContext, Schema, Result> {
  return operation
}

export async function perform<Context, Schema extends z.ZodMiniType, Result>(
  operation: OperationOf<Context, Schema, Result>,
  context: Context,
  request: { readonly input: z.input<Schema>; readonly hooks?: Hooks },
): Promise<Result> {
  const parsed = operation.input.safeParse(request.input)
  if (!parsed.success) {
    const faults = parsed.error.issues.map(
      ({ path, message }) => `${path.join('.') || 'input'}: ${message}`,
    )
    throw new SavestateError('BAD_INPUT', `${operation.name}: ${faults.join('; ')}`)
  }
  try {
    return await operation.run(context, parsed.data, request.hooks ?? {})
  } catch (error) {
    throw explainSystemError(error)
  }
}
