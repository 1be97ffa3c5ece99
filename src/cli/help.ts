// Help for people, from the table.
import type { Screen } from './screen.js'
import { padEnd } from './text-width.js'
import { COMMON_OPTIONS, type OptionSpec, REFERENCE_HELP } from './spec.js'
import { aliasesOf, COMMAND_NAMES, type CommandName, specOf, usageOf } from './table.js'

const MAX_COLUMNS = 80

export function helpText(command: CommandName | undefined, screen: Screen): string {
  return (command === undefined ? generalHelp(screen) : commandHelp(command, screen)).join('\n')
}

function generalHelp({ paint, width }: Screen): string[] {
  const names = COMMAND_NAMES.map((name) => [name, specOf(name).summary] as const)
  return [
    'Savestate saves what a folder holds and what an agent knew, shows what changed,',
    'and goes back.',
    '',
    `${paint('bold', 'Usage:')} ${usageOf(undefined)}`,
    '',
    paint('bold', 'Commands:'),
    ...columns(names, width),
    '',
    paint('bold', 'Every command takes:'),
    ...columns(COMMON_OPTIONS.map(optionRow), width),
    '',
    ...wrap(REFERENCE_HELP, width),
    ...wrap('`savestate help <command>` says more about a command.', width),
  ]
}

function commandHelp(command: CommandName, { paint, width }: Screen): string[] {
  const { summary, details = [], options = [], positionals = [], examples = [] } = specOf(command)
  const texts = positionals.some(({ completes }) => completes === 'ref')
    ? [...details, REFERENCE_HELP]
    : details
  return [
    `${summary}.`,
    '',
    `${paint('bold', 'Usage:')} ${usageOf(command)}`,
    ...aliasLines(command),
    ...texts.flatMap((text) => ['', ...wrap(text, width)]),
    '',
    paint('bold', 'Options:'),
    ...columns([...options, ...COMMON_OPTIONS].map(optionRow), width),
    ...(examples.length === 0 ? [] : ['', paint('bold', 'Examples:'), ...columns(examples, width)]),
  ]
}

function aliasLines(command: CommandName): string[] {
  const aliases = aliasesOf(command)
  return aliases.length === 0 ? [] : [`Also: ${aliases.join(', ')}`]
}

export function optionRow(option: OptionSpec): readonly [string, string] {
  const { name, short, value, summary } = option
  const forms = [
    ...(short === undefined ? [] : [`-${short}`]),
    ...(name.length > 1 ? [`--${name}`] : []),
  ]
  return [`${forms.join(', ')}${value === undefined ? '' : ` ${value}`}`, summary]
}

function columns(rows: readonly (readonly [string, string])[], width: number): string[] {
  const first = Math.max(...rows.map(([left]) => left.length))
  return rows.flatMap(([left, right]) =>
    wrap(right, Math.max(20, width - first - 4)).map(
      (line, index) => `  ${padEnd(index === 0 ? left : '', first)}  ${line}`,
    ),
  )
}

function wrap(text: string, width: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > Math.min(width, MAX_COLUMNS)) {
      lines.push(line)
      line = word
    } else {
      line = line === '' ? word : `${line} ${word}`
    }
  }
  return [...lines, line]
}
