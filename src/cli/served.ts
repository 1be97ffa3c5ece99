// Which commands the daemon carries out for others: those that ask nothing and need no lease.
import { statSync } from 'node:fs'
import type { Parsed } from './parse.js'
import { from } from './request.js'
import { SERVED_NAMES } from './served-names.js'
import type { CommandName } from './table.js'

const SERVED: ReadonlySet<CommandName> = new Set(SERVED_NAMES)
const ASKING: ReadonlySet<CommandName> = new Set(['rewind', 'undo', 'redo'])
/** These read or change the folder, so it is worth keeping an eye on it. */
const LOOKING: ReadonlySet<CommandName> = new Set(['save', 'diff', 'rewind', 'undo', 'redo'])
const NEVER = ['help', 'session', 'state', 'both', 'no-files', 'max-file-mb', 'patience']

export function isServed(
  { command, options, positionals, fault }: Parsed,
  { isTerminal, folder }: { readonly isTerminal: boolean; readonly folder: string },
): boolean {
  if (fault !== undefined || command === undefined || !SERVED.has(command)) return false
  if (NEVER.some((name) => options.has(name))) return false
  if (ASKING.has(command) && !options.has('yes') && !options.has('dry-run')) return false
  // What is meant is picked on the terminal.
  if (command === 'rewind' && positionals.length === 0) return false
  // A pager needs the terminal itself.
  if (command === 'diff' && isTerminal && !options.has('json')) return false
  const given = options.text('C')
  // Who asked has typed it another way than it would be told here.
  return given === undefined || given.startsWith('/') || isFolder(from(folder, given))
}

export function looksAtFolder(command: CommandName | undefined): boolean {
  return command !== undefined && LOOKING.has(command)
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    // Whatever it is, the command itself says it.
    return false
  }
}
