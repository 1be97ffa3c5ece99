// The arguments of tools: one table for the schema that a client sees and for the check of what it sends.
import { SavestateError } from '../index.js'
import { type Fields, fieldsOf } from './message.js'

export type ArgumentSpec = {
  readonly type: 'text' | 'count' | 'texts' | 'choice' | 'flag'
  readonly description: string
  readonly isRequired?: true
  /** The largest count, or the longest text. */
  readonly max?: number
  readonly choices?: readonly string[]
}
export type ArgumentSpecs = Readonly<Record<string, ArgumentSpec>>

/** Arguments that have been checked against their table. */
export type Arguments = {
  text(name: string): string | undefined
  /** One that the table requires. */
  needed(name: string): string
  count(name: string): number | undefined
  texts(name: string): readonly string[]
  /** False if it is left out. */
  flag(name: string): boolean
}

const MAX_TEXT = 10_000
const MAX_TEXTS = 1000

export function schemaOf(specs: ArgumentSpecs): Fields {
  return {
    type: 'object',
    properties: Object.fromEntries(
      Object.entries(specs).map(([name, spec]) => [name, propertyOf(spec)]),
    ),
    required: Object.entries(specs).flatMap(([name, spec]) => (spec.isRequired ? name : [])),
    additionalProperties: false,
  }
}

/** Throws BAD_INPUT with everything that is wrong, so that a model can put it right at once. */
export function checkedArguments(
  given: unknown,
  { tool, specs }: { readonly tool: string; readonly specs: ArgumentSpecs },
): Arguments {
  const fields = fieldsOf(given ?? {})
  const faults =
    fields === undefined ? ['the arguments are not an object'] : faultsIn(fields, specs)
  if (fields === undefined || faults.length > 0) {
    const names = Object.keys(specs)
    throw new SavestateError('BAD_INPUT', `${tool}: ${faults.join('; ')}`, {
      hint: `It takes ${names.join(', ')}.`,
    })
  }
  const text = (name: string) => {
    const value = fields[name]
    return typeof value === 'string' ? value : undefined
  }
  return {
    text,
    needed: (name) => text(name) ?? '',
    count: (name) => {
      const value = fields[name]
      return typeof value === 'number' ? value : undefined
    },
    texts: (name) => {
      const value = fields[name]
      return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
    },
    flag: (name) => fields[name] === true,
  }
}

function propertyOf({ type, description, max, choices }: ArgumentSpec): Fields {
  switch (type) {
    case 'text':
      return { type: 'string', minLength: 1, maxLength: max ?? MAX_TEXT, description }
    case 'choice':
      return { type: 'string', enum: choices, description }
    case 'count':
      return { type: 'integer', minimum: 1, maximum: max, description }
    case 'flag':
      return { type: 'boolean', description }
    case 'texts':
      return { type: 'array', items: { type: 'string' }, maxItems: MAX_TEXTS, description }
  }
}

function faultsIn(fields: Fields, specs: ArgumentSpecs): string[] {
  const unknown = Object.keys(fields).filter((name) => !Object.hasOwn(specs, name))
  return [
    ...unknown.map((name) => `${JSON.stringify(name.slice(0, 100))} is not one of its arguments`),
    ...Object.entries(specs).flatMap(([name, spec]) => {
      const fault = faultOf(fields[name], spec)
      return fault === undefined ? [] : `${name} ${fault}`
    }),
  ]
}

function faultOf(value: unknown, spec: ArgumentSpec): string | undefined {
  const { type, max = MAX_TEXT, choices = [] } = spec
  if (value === undefined) return spec.isRequired ? 'is missing' : undefined
  switch (type) {
    case 'text': {
      const isText = typeof value === 'string' && value !== '' && value.length <= max
      return isText ? undefined : `must be a string of 1 to ${max} characters`
    }
    case 'choice': {
      const isOne = typeof value === 'string' && choices.includes(value)
      return isOne ? undefined : `must be one of ${choices.join(', ')}`
    }
    case 'count': {
      const isCount =
        typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= max
      return isCount ? undefined : `must be a whole number from 1 to ${max}`
    }
    case 'flag':
      return typeof value === 'boolean' ? undefined : 'must be true or false'
    case 'texts': {
      const areTexts =
        Array.isArray(value) &&
        value.length <= MAX_TEXTS &&
        value.every((one) => typeof one === 'string' && one !== '')
      return areTexts ? undefined : `must be a list of at most ${MAX_TEXTS} strings`
    }
  }
}
