// Whether the daemon runs a command for its caller. It leaves wrong arguments and everything that needs a lease to the caller.
import { statSync } from 'node:fs'
import type { Parsed } from './parse.js'
import { from } from './request.js'
import { SERVED_NAMES } from './served-names.js'
import type { CommandName } from './table.js'

const SERVED: ReadonlySet<CommandName> = new Set(SERVED_NAMES)
const NEVER = ['help', 'session', 'state', 'no-files', 'max-file-mb', 'patience']

export function isServed(
  { command, options, fault }: Parsed,
  { folder }: { readonly folder: string },
): boolean {
  if (fault !== undefined || command === undefined || !SERVED.has(command)) return false
  if (NEVER.some((name) => options.has(name))) return false
  const given = options.text('C')
  // The caller names a missing relative folder the way the user typed it.
  return given === undefined || given.startsWith('/') || isFolder(from(folder, given))
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    // The caller runs the command and reports why the folder cannot be used.
    return false
  }
}
