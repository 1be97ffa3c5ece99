// Text that is shown to be pasted into a shell.
import { printable } from './printable.js'

/** One word for a shell. What must not reach a terminal as it is is shown instead. */
export function shellQuoted(text: string): string {
  if (/^[\w@%+=:,./][\w@%+=:,./-]*$/.test(text)) return text
  return `'${printable(text).replaceAll("'", `'\\''`)}'`
}

/** A command line: its options need no quotes. */
export function commandLine(words: readonly string[]): string {
  return words.map((word) => (/^-[\w@%+=:,./-]*$/.test(word) ? word : shellQuoted(word))).join(' ')
}
