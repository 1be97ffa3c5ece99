// The help texts, made from the command table.
import { fileURLToPath } from 'node:url'
import type { Screen } from '../terminal/screen.js'
import { padEnd } from '../terminal/text-width.js'
import { wrapUsage, wrapWords } from '../terminal/wrap.js'
import { COMMON_OPTIONS, type OptionSpec, REFERENCE_HELP } from './command-spec.js'
import {
  aliasesOf,
  COMMAND_NAMES,
  type CommandName,
  optionsOf,
  specOf,
  usageOf,
} from './commands-table.js'

const MAX_COLUMNS = 80
const LEAST_SECOND = 24

export function helpText(command: CommandName | undefined, screen: Screen): string {
  return (command === undefined ? generalHelp(screen) : commandHelp(command, screen)).join('\n')
}

function generalHelp(screen: Screen): string[] {
  const { paint, width } = screen
  const names = COMMAND_NAMES.map((name) => [name, specOf(name).summary] as const)
  return [
    'Savestate saves checkpoints of a folder and of an agent, shows what changed,',
    'and goes back to any checkpoint.',
    '',
    ...usageLines(undefined, screen),
    '',
    paint('bold', 'Commands:'),
    ...columns(names, width),
    '',
    paint('bold', 'Every command takes:'),
    ...columns(COMMON_OPTIONS.map(optionRow), width),
    '',
    ...wrap(REFERENCE_HELP, width),
    ...wrap('`savestate help <command>` explains a command.', width),
  ]
}

function commandHelp(command: CommandName, screen: Screen): string[] {
  const { paint, width } = screen
  const { summary, details = [], positionals = [], examples = [], page } = specOf(command)
  const takesReference = positionals.some(({ completes }) => completes === 'ref')
  const texts = takesReference ? [...details, REFERENCE_HELP] : details
  const aliases = aliasesOf(command)
  return [
    `${summary}.`,
    '',
    ...usageLines(command, screen),
    ...(aliases.length === 0 ? [] : [`Aliases: ${aliases.join(', ')}`]),
    ...texts.flatMap((text) => ['', ...wrap(text, width)]),
    '',
    paint('bold', 'Options:'),
    ...columns(optionsOf(command).map(optionRow), width),
    ...(examples.length === 0 ? [] : ['', paint('bold', 'Examples:'), ...columns(examples, width)]),
    // The path on this machine: the package contains its documentation.
    ...(page === undefined
      ? []
      : ['', `More: ${fileURLToPath(new URL(`../../${page}`, import.meta.url))}`]),
  ]
}

export function optionRow(option: OptionSpec): readonly [string, string] {
  const { name, short, value, summary } = option
  const forms = [short === undefined ? [] : `-${short}`, name.length > 1 ? `--${name}` : []].flat()
  return [`${forms.join(', ')}${value === undefined ? '' : ` ${value}`}`, summary]
}

/** Two columns. If the first leaves too little space for the second, the second gets its own lines. */
function columns(rows: readonly (readonly [string, string])[], width: number): string[] {
  const total = Math.min(width, MAX_COLUMNS)
  const first = Math.max(...rows.map(([left]) => left.length))
  const rest = total - first - 4
  if (rest < LEAST_SECOND)
    return rows.flatMap(([left, right]) => [
      `  ${left}`,
      ...wrapWords(right, total - 6).map((line) => `      ${line}`),
    ])
  return rows.flatMap(([left, right]) =>
    wrapWords(right, rest).map(
      (line, index) => `  ${padEnd(index === 0 ? left : '', first)}  ${line}`,
    ),
  )
}

function usageLines(command: CommandName | undefined, { paint, width }: Screen): string[] {
  const lines = wrapUsage(usageOf(command), Math.min(width, MAX_COLUMNS))
  return lines.map((line) => line.replace(/^Usage:/, (label) => paint('bold', label)))
}

function wrap(text: string, width: number): string[] {
  return wrapWords(text, Math.min(width, MAX_COLUMNS))
}
