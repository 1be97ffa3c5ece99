// Parses the arguments. A fault is part of the result: the caller decides what to do about it.
import { parseArgs } from 'node:util'
import {
  combinationFault,
  optionFault,
  positionalFault,
  unknownCommand,
  unknownOption,
} from './parse-errors.js'
import type { OptionSpec } from './command-spec.js'
import { type CommandName, findCommand, optionsOf, specOf } from './commands-table.js'

export type Options = {
  has(name: string): boolean
  text(name: string): string | undefined
  number(name: string): number | undefined
  /** To the byte: see argv-bytes.ts. */
  texts(name: string): readonly string[]
}

export type Parsed = {
  readonly command: CommandName | undefined
  readonly options: Options
  /** Paths are kept to the byte. */
  readonly positionals: readonly string[]
  /** The arguments after `--`, byte for byte, if the command takes paths and has no option --path. */
  readonly paths: readonly string[]
  /** The same for a command that runs another. */
  readonly words: readonly string[]
  /** The message for wrong arguments. */
  readonly fault: string | undefined
}

export function parse(argv: readonly string[]): Parsed {
  const at = commandIndex(argv)
  const word = argv[at]
  const command = word === undefined ? undefined : findCommand(word)
  const specs = optionsOf(command)
  const { positionals: expected = [], takesPaths = false, takesCommand = false } = specOf(command)
  const args = fillOptionalValues(
    argv.filter((_, index) => index !== at),
    specs,
  )
  const { tokens } = parseArgs({
    args,
    options: Object.fromEntries(specs.flatMap(parserOptions)),
    strict: false,
    tokens: true,
  })
  const values = new Map<string, string[]>()
  const add = (name: string, ...more: string[]) =>
    values.set(name, [...(values.get(name) ?? []), ...more])
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
        const { completes, isRaw } = expected[positionals.length] ?? {}
        const isKept = completes === 'files' || isRaw === true
        positionals.push(isKept ? token.value : replaceSurrogates(token.value))
      }
    } else {
      const option = specs.find((one) => isNamed(one, token))
      const fault =
        option === undefined
          ? unknownOption(token.rawName, { command, argument: args[token.index] ?? token.rawName })
          : optionFault(option, { ...token, specs })
      if (fault !== undefined) faults.push(fault)
      add(option?.name ?? token.name, token.value ?? '')
    }
  }
  // `rewind 3 -- src` is `rewind 3 --path src`.
  const isPathOption = takesPaths && specs.some(({ name }) => name === 'path')
  if (isPathOption && afterDashes.length > 0) add('path', ...afterDashes)
  // `rewind 3 -- $FILES` must not rewind the whole folder if the variable is empty.
  if (isPathOption && isAfterDashes && afterDashes.length === 0)
    faults.push('A path is missing after --')
  if (takesCommand && afterDashes.length === 0)
    faults.push('The command to run is missing; it goes after --')
  return {
    command,
    options: toOptions(values),
    positionals,
    paths: takesCommand || isPathOption ? [] : afterDashes,
    words: takesCommand ? afterDashes : [],
    fault:
      word !== undefined && command === undefined
        ? unknownCommand(word)
        : (faults[0] ?? positionalFault(command, positionals) ?? combinationFault(command, values)),
  }
}

/** Makes `--remote` before another option, or at the end, `--remote=`: otherwise the parser takes the next word for its value. */
function fillOptionalValues(
  args: readonly string[],
  specs: readonly OptionSpec[],
): readonly string[] {
  const names = specs.flatMap((spec) => (spec.isValueOptional === true ? [`--${spec.name}`] : []))
  return args.map((word, index) => {
    const next = args[index + 1]
    const isBare = names.includes(word) && (next === undefined || next.startsWith('-'))
    return isBare ? `${word}=` : word
  })
}

/** The index of the command: options, and the value of -C, may come before it. */
export function commandIndex(argv: readonly string[]): number {
  let index = 0
  for (let word = argv[0]; word?.startsWith('-') && word !== '--'; word = argv[index]) {
    index += word === '-C' ? 2 : 1
  }
  return index
}

function parserOptions({ name, kind, short, aliases = [] }: OptionSpec) {
  const type = kind === 'flag' ? ('boolean' as const) : ('string' as const)
  return [
    [name, { type, ...(short === undefined ? {} : { short }) }] as const,
    ...aliases.map((alias) => [alias, { type }] as const),
  ]
}

function isNamed(
  { name, aliases }: OptionSpec,
  token: { readonly name: string; readonly rawName: string },
): boolean {
  if (aliases?.includes(token.name) === true) return true
  return name === token.name && (name.length > 1 || token.rawName === `-${name}`)
}

function toOptions(values: ReadonlyMap<string, readonly string[]>): Options {
  const text = (name: string) => {
    const last = values.get(name)?.at(-1)
    return last === undefined ? undefined : replaceSurrogates(last)
  }
  return {
    has: (name) => values.has(name),
    text,
    number: (name) => (values.has(name) ? Number(text(name)) : undefined),
    texts: (name) => values.get(name) ?? [],
  }
}

/** A message or a name cannot contain bytes that are not text. */
function replaceSurrogates(text: string): string {
  return text.replace(/\p{Cs}/gu, '\ufffd')
}
