// Describes invalid input. zod/mini reports only "Invalid input", and its locales are more code than a program without
// such errors should load.

/** The fields of a zod issue that we use. */
export type Issue = {
  readonly path: readonly PropertyKey[]
  readonly message: string
  readonly code?: string | undefined
  readonly expected?: string
  readonly values?: readonly unknown[]
  readonly origin?: string
  readonly minimum?: number | bigint
  readonly maximum?: number | bigint
  readonly inclusive?: boolean
}

const KINDS: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
}

/** For example `to must be a string`. */
export function describeInputError(issue: Issue): string {
  return `${issue.path.map(String).join('.') || 'the input'} ${describeRule(issue)}`
}

function describeRule(issue: Issue): string {
  const { code, expected, values, origin, minimum, maximum, inclusive } = issue
  if (code === 'invalid_type' && expected !== undefined)
    return `must be ${KINDS[expected] ?? `a ${expected}`}`
  if (code === 'invalid_value' && values !== undefined)
    return `must be ${values.length === 1 ? '' : 'one of '}${values.map((value) => JSON.stringify(value)).join(', ')}`
  if (code === 'too_small' && minimum !== undefined) {
    if (origin !== 'number') return 'must not be empty'
    return inclusive === true ? `must be ${minimum} or more` : `must be more than ${minimum}`
  }
  if (code === 'too_big' && maximum !== undefined) {
    if (origin === 'number') return `must be ${maximum} or less`
    return `must have at most ${maximum} ${origin === 'string' ? 'characters' : 'items'}`
  }
  return issue.message === 'Invalid input' ? 'cannot be used' : issue.message
}
