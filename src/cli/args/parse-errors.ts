// Messages for wrong arguments. A fault is the text of the message.
import { aliasesOf, COMMAND_EFFECTS, maskSecrets, nearest } from '../../base/index.js'
import type { OptionSpec, PositionalSpec } from './command-spec.js'
import { COMMAND_NAMES, type CommandName, optionsOf, specOf } from './commands-table.js'

const REWIND = 'To go back to a checkpoint: `savestate rewind <ref>`'
const SEARCH = 'To search the checkpoints: `savestate search WORDS`'
const SAVE = 'To make a checkpoint: `savestate save -m "why"`'
const LIST =
  'To see the checkpoints: `savestate list`; only those that changed a path: `savestate log PATH`'

/** Words that users try and that are no alias, with what to type instead. */
const INSTEAD = new Map([
  ['revert', `${REWIND}; to undo the last rewind: \`savestate undo\``],
  ['reset', REWIND],
  ...['grep', 'find'].map((word) => [word, SEARCH] as const),
  ...['commit', 'checkpoint', 'snapshot', 'stash'].map((word) => [word, SAVE] as const),
  ['history', LIST],
  ['init', 'No setup is needed: `savestate save` makes the first checkpoint'],
  ['version', 'For the version: `savestate --version`'],
])

/** Nearly every short word is one letter away from `ls` or `rm`. */
const LONG_ALIASES = Object.keys(COMMAND_EFFECTS)
  .flatMap(aliasesOf)
  .filter((alias) => alias.length > 3)

export function unknownCommand(word: string): string {
  const fault = `There is no command ${quote(word)}`
  const instead = INSTEAD.get(word)
  if (instead !== undefined) return `${fault}. ${instead}`
  const near = nearest(word, [...COMMAND_NAMES, ...LONG_ALIASES])
  return `${fault}${near === undefined ? '' : `; did you mean \`${near}\`?`}`
}

export function unknownOption(
  rawName: string,
  { command, argument }: { command: CommandName | undefined; readonly argument: string },
): string {
  const { positionals = [] } = specOf(command)
  const takesReference = positionals.some(({ completes }) => completes === 'ref')
  if (/^-\d+$/.test(argument) && takesReference)
    return `${argument} is not a checkpoint: numbers start at 1, the newest in \`savestate list\``
  if (/^-\d/.test(argument) && command === 'config')
    return `The value of a setting is 0 or more, not ${argument}`
  const known = optionsOf(command).flatMap(({ name }) => (name.length > 1 ? [name] : []))
  const near = rawName.startsWith('--') ? nearest(rawName.slice(2), known) : undefined
  return `There is no option ${JSON.stringify(rawName)}${near === undefined ? '' : `; did you mean --${near}?`}`
}

export function optionFault(
  { kind, choices, mayBeZero = false }: OptionSpec,
  given: {
    readonly rawName: string
    readonly value?: string | undefined
    readonly inlineValue?: boolean | undefined
    readonly specs: readonly OptionSpec[]
  },
): string | undefined {
  const { rawName, value, specs } = given
  if (kind === 'flag') return value === undefined ? undefined : `${rawName} takes no value`
  const isOption = specs.some(({ name, short }) => value === `--${name}` || value === `-${short}`)
  if (value === undefined || (isOption && given.inlineValue !== true))
    return `${rawName} needs a value`
  const isZero = mayBeZero && value === '0'
  if (kind === 'number' && !isZero && !/^[1-9][0-9]{0,8}$/.test(value))
    return `${rawName} takes a whole number of ${mayBeZero ? 0 : 1} or more, not ${JSON.stringify(value)}`
  if (choices?.includes(value) === false)
    return `${rawName} takes one of ${choices.join(', ')}, not ${JSON.stringify(value)}`
  return undefined
}

export function positionalFault(
  command: CommandName | undefined,
  given: readonly string[],
): string | undefined {
  const { positionals: specs = [], takesPaths, options = [] } = specOf(command)
  const missing = specs[given.length]
  if (missing !== undefined && missing.isOptional !== true)
    return missing.name.includes('|')
      ? `Name one of ${missing.choices?.join(', ')}`
      : `${missing.name} is missing`
  for (const [at, value] of given.entries()) {
    const spec = specs[at]
    if (spec?.choices?.includes(value) === false) return choiceFault(given.slice(at), spec)
  }
  const extra = specs.at(-1)?.isRepeated === true ? [] : given.slice(specs.length)
  if (extra.length === 0) return undefined
  const fault = `Unexpected argument ${quote(extra[0] ?? '')}`
  if (options.some(({ name }) => name === 'message'))
    return `${fault}. To add a message: \`savestate ${command} -m ${JSON.stringify(extra.join(' '))}\``
  return takesPaths === true ? `${fault}; paths go after --` : fault
}

function choiceFault(
  given: readonly string[],
  { choices = [], otherwise }: PositionalSpec,
): string {
  const [value = ''] = given
  const near = choices.find((choice) => value.startsWith(choice)) ?? nearest(value, choices)
  const fault = `${quote(value)} is not one of ${choices.join(', ')}`
  if (near !== undefined) return `${fault}; did you mean ${near}?`
  return otherwise === undefined ? fault : `${fault}. ${otherwise(given)}`
}

export function combinationFault(
  command: CommandName | undefined,
  given: ReadonlyMap<string, unknown>,
): string | undefined {
  const { options = [], exclusive = [] } = specOf(command)
  for (const { name, needs } of options) {
    if (needs !== undefined && given.has(name) && !given.has(needs))
      return `--${name} needs --${needs} too`
  }
  for (const group of exclusive) {
    const [one, other] = group.filter((name) => given.has(name))
    if (other !== undefined) return `--${one} and --${other} cannot be given together`
  }
  return undefined
}

/** The URL of a remote may contain a password. */
function quote(text: string): string {
  return JSON.stringify(maskSecrets(text).text)
}
