// Every command. Parsing, help, completion and docs/reference/cli.md all come from here.
import { commandBehind } from '../../base/index.js'
import { AGENT_COMMANDS } from './agent-commands.js'
import { ATTEMPT_COMMANDS } from './attempt-commands.js'
import { FOLDER_COMMANDS } from './folder-commands.js'
import { type CommandSpec, COMMON_OPTIONS, type OptionSpec } from './command-spec.js'
import { HISTORY_COMMANDS } from './history-commands.js'
import { REMOTE_COMMANDS } from './remote-commands.js'
import { STORE_COMMANDS } from './store-commands.js'

export { aliasesOf } from '../../base/index.js'

export const COMMANDS = {
  ...FOLDER_COMMANDS,
  ...HISTORY_COMMANDS,
  ...ATTEMPT_COMMANDS,
  ...AGENT_COMMANDS,
  ...REMOTE_COMMANDS,
  ...STORE_COMMANDS,
}

export type CommandName = keyof typeof COMMANDS

/** In the order of the help. */
export const COMMAND_NAMES = Object.keys(COMMANDS) as readonly CommandName[]

/** Finds a command by its name or an alias. */
export function findCommand(text: string): CommandName | undefined {
  const name = commandBehind(text)
  return COMMAND_NAMES.find((known) => known === name)
}

const NO_COMMAND: CommandSpec = { summary: '' }

export function specOf(name: CommandName | undefined): CommandSpec {
  return name === undefined ? NO_COMMAND : COMMANDS[name]
}

/** The command's own options, then those that every command takes. */
export function optionsOf(name: CommandName | undefined): readonly OptionSpec[] {
  return [...(specOf(name).options ?? []), ...COMMON_OPTIONS]
}

export function usageOf(name: CommandName | undefined): string {
  if (name === undefined) return 'savestate [-C DIR] <command> [options]'
  const { usage, positionals = [], options = [] } = specOf(name)
  const words = [
    ...positionals.map((one) => `${one.name}${one.isRepeated === true ? '…' : ''}`),
    ...options.map(({ name: long, short, value }) => {
      const form = short === undefined ? `--${long}` : `-${short}`
      return value === undefined ? `[${form}]` : `[${form} ${value}]`
    }),
  ]
  return `savestate ${usage ?? [name, ...words].join(' ')}`
}
