// Defines a method: a schema for its input, whether it changes something, and one call of the SDK.
import type * as z from 'zod/mini'
import type { Project, Store } from '../../internal.js'
import type { ChangingMethod, Input, Method, Output } from '../api.js'
import type { PlanTokens } from './plan-tokens.js'

export type PageContext = {
  readonly store: Store
  readonly version: string
  readonly isReadOnly: boolean
  /** The project that the command was started in; undefined if its folder is none. */
  readonly own: Project | undefined
  /** One of the projects that `start` lists. Throws PROJECT_REFUSED for any other path. */
  readonly project: (path: string) => Promise<Project>
  readonly tokens: PlanTokens
  /** Makes JSON of values that agents have stored. */
  readonly jsonOf: (value: unknown) => unknown
  /** The file of the running program, and its Node: hooks start them. */
  readonly program: { readonly programPath: string; readonly nodePath: string }
  readonly environment: NodeJS.ProcessEnv
}

/** A value that JSON.stringify turns into `Value`: it may have a date instead of a text. */
export type Sent<Value> = Value extends string
  ? string extends Value
    ? Value | Date
    : Value
  : Value extends readonly (infer Item)[]
    ? readonly Sent<Item>[]
    : Value extends object
      ? { readonly [Key in keyof Value]: Sent<Value[Key]> }
      : Value

export type MethodOf<Name extends Method> = {
  readonly input: z.ZodMiniType<Input<Name>>
  readonly changes: Name extends ChangingMethod ? true : false
  readonly run: (input: Input<Name>, context: PageContext) => Promise<Sent<Output<Name>>>
}

export type Methods = { readonly [Name in Method]: MethodOf<Name> }
