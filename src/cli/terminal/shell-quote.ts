// Commands that users paste into a shell.
import { commandLine as plainCommandLine, shellQuote } from '../../base/index.js'
import type { Options } from '../args/parse.js'
import { printable } from './escape.js'

/** One word for a shell, safe to print on a terminal. */
export function quoteForShell(text: string): string {
  return shellQuote(printable(text))
}

/** With the -C of this command, so that a pasted command works on the same project. */
export function programFor(options: Options): string {
  const folder = options.text('C')
  return folder === undefined ? 'savestate' : `savestate -C ${quoteForShell(folder)}`
}

/** A command line, safe to print on a terminal. */
export function commandLine(words: readonly string[]): string {
  return plainCommandLine(words.map(printable))
}
