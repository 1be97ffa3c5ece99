// From the arguments to what a command was asked. A fault is data: who asked decides what becomes of it.
import { parseArgs } from 'node:util'
import { nearest } from './nearest.js'
import type { OptionSpec } from './spec.js'
import { COMMAND_NAMES, type CommandName, commandNamed, optionsOf, specOf } from './table.js'

export type Options = {
  has(name: string): boolean
  text(name: string): string | undefined
  number(name: string): number | undefined
  /** To the byte: see raw-arguments.ts. */
  texts(name: string): readonly string[]
}

export type Parsed = {
  readonly command: CommandName | undefined
  readonly options: Options
  /** A path is to the byte. */
  readonly positionals: readonly string[]
  /** What stood after `--`, for a command that takes paths; to the byte. */
  readonly paths: readonly string[]
  /** The same for a command that runs another. */
  readonly words: readonly string[]
  /** What is wrong with it, if something is. */
  readonly fault: string | undefined
}

export function parse(argv: readonly string[]): Parsed {
  const at = commandIndex(argv)
  const word = argv[at]
  const command = word === undefined ? undefined : commandNamed(word)
  const specs = optionsOf(command)
  const spec = command === undefined ? undefined : specOf(command)
  const places = spec?.positionals ?? []
  const [takesPaths, takesCommand] = [spec?.takesPaths === true, spec?.takesCommand === true]
  const { tokens } = parseArgs({
    args: argv.filter((_, index) => index !== at),
    options: Object.fromEntries(specs.map((spec) => [spec.name, parserOption(spec)])),
    strict: false,
    tokens: true,
  })
  const values = new Map<string, string[]>()
  const positionals: string[] = []
  const afterDashes: string[] = []
  const faults: string[] = []
  let isAfterDashes = false
  for (const token of tokens) {
    if (token.kind === 'option-terminator') {
      isAfterDashes = takesPaths || takesCommand
    } else if (token.kind === 'positional') {
      if (isAfterDashes) afterDashes.push(token.value)
      else {
        const isPath = places[positionals.length]?.completes === 'files'
        positionals.push(isPath ? token.value : wellFormed(token.value))
      }
    } else {
      const option = specs.find(
        ({ name }) => name === token.name && (name.length > 1 || token.rawName === `-${name}`),
      )
      const fault =
        option === undefined
          ? unknownOption(token.rawName, specs)
          : optionFault(option, { ...token, specs })
      if (fault !== undefined) faults.push(fault)
      values.set(token.name, [...(values.get(token.name) ?? []), token.value ?? ''])
    }
  }
  const [paths, words] = takesCommand ? [[], afterDashes] : [afterDashes, []]
  if (takesCommand && words.length === 0) faults.push('The command to run is missing after --')
  const fault =
    word !== undefined && command === undefined
      ? unknownCommand(word)
      : (faults[0] ?? positionalFault(command, positionals) ?? combinationFault(command, values))
  return { command, options: optionsFrom(values), positionals, paths, words, fault }
}

/** Where the command stands: options, and the value of -C, may come before it. */
export function commandIndex(argv: readonly string[]): number {
  let index = 0
  for (let word = argv[0]; word?.startsWith('-') && word !== '--'; word = argv[index]) {
    index += word === '-C' ? 2 : 1
  }
  return index
}

function parserOption({ kind, short }: OptionSpec) {
  return {
    type: kind === 'flag' ? ('boolean' as const) : ('string' as const),
    ...(short === undefined ? {} : { short }),
  }
}

function optionFault(
  { kind, choices }: OptionSpec,
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
  if (kind === 'number' && !/^[1-9][0-9]{0,8}$/.test(value))
    return `${rawName} takes a whole number from 1 on, not ${JSON.stringify(value)}`
  if (choices?.includes(value) === false)
    return `${rawName} takes one of ${choices.join(', ')}, not ${JSON.stringify(value)}`
  return undefined
}

function positionalFault(
  command: CommandName | undefined,
  given: readonly string[],
): string | undefined {
  if (command === undefined) return undefined
  const specs = specOf(command).positionals ?? []
  const missing = specs[given.length]
  if (missing !== undefined && missing.isOptional !== true) return `${missing.name} is missing`
  for (const [at, value] of given.entries()) {
    const choices = specs[at]?.choices
    if (choices?.includes(value) === false)
      return `${JSON.stringify(value)} is not one of ${choices.join(', ')}`
  }
  const extra = given[specs.length]
  if (extra === undefined) return undefined
  const hint = specOf(command).takesPaths === true ? '; paths go after --' : ''
  return `${JSON.stringify(extra)} is one argument too many${hint}`
}

function combinationFault(
  command: CommandName | undefined,
  given: ReadonlyMap<string, unknown>,
): string | undefined {
  if (command === undefined) return undefined
  const { options = [], exclusive = [] } = specOf(command)
  for (const { name, value, isRequired, needs } of options) {
    if (isRequired === true && !given.has(name)) return `--${name} ${value} is missing`
    if (needs !== undefined && given.has(name) && !given.has(needs))
      return `--${name} needs --${needs} too`
  }
  for (const group of exclusive) {
    const [one, other] = group.filter((name) => given.has(name))
    if (other !== undefined) return `--${one} and --${other} cannot be given together`
  }
  return undefined
}

function unknownOption(rawName: string, specs: readonly OptionSpec[]): string {
  const known = specs.flatMap(({ name }) => (name.length > 1 ? [name] : []))
  const near = rawName.startsWith('--') ? nearest(rawName.slice(2), known) : undefined
  return `There is no option ${JSON.stringify(rawName)}${near === undefined ? '' : `; did you mean --${near}?`}`
}

export function unknownCommand(word: string): string {
  const near = nearest(word, COMMAND_NAMES)
  return `There is no command ${JSON.stringify(word)}${near === undefined ? '' : `; did you mean \`${near}\`?`}`
}

function optionsFrom(values: ReadonlyMap<string, readonly string[]>): Options {
  return {
    has: (name) => values.has(name),
    text: (name) => {
      const text = values.get(name)?.at(-1)
      return text === undefined ? undefined : wellFormed(text)
    },
    number: (name) => {
      const text = values.get(name)?.at(-1)
      return text === undefined ? undefined : Number(text)
    },
    texts: (name) => values.get(name) ?? [],
  }
}

/** Bytes that are no text cannot be part of a reason or a name. */
function wellFormed(text: string): string {
  return text.replace(/\p{Cs}/gu, '\ufffd')
}
