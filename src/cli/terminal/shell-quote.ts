// Text that is shown to be pasted into a shell.
import { shellQuote } from '../../base/index.js'
import type { Options } from '../args/parse.js'
import { printable } from './escape.js'

/** One word for a shell. What must not reach a terminal as it is is shown instead. */
export function shellQuoted(text: string): string {
  return shellQuote(printable(text))
}

/** With -C, so that what is pasted is done in the same project: `savestate undo` here would be that of another one. */
export function programFor(options: Options): string {
  const folder = options.text('C')
  return folder === undefined ? 'savestate' : `savestate -C ${shellQuoted(folder)}`
}

/** A command line: its options need no quotes. */
export function commandLine(words: readonly string[]): string {
  return words.map((word) => (/^-[\w@%+=:,./-]*$/.test(word) ? word : shellQuoted(word))).join(' ')
}
