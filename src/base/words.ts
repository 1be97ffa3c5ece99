// Words in texts, command lines and paths.
import { isAbsolute, relative } from 'node:path'

/** The noun in the form that matches the count. */
export function plural(count: number, noun: string, pluralForm = `${noun}s`): string {
  return count === 1 ? noun : pluralForm
}

/** Quotes one word for a POSIX shell, always. */
export function singleQuote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}

/** Quotes one word for a POSIX shell if it needs quotes. */
export function shellQuote(text: string): string {
  return /^[\w@%+=:,./][\w@%+=:,./-]*$/.test(text) ? text : singleQuote(text)
}

/** A command line for a POSIX shell; options need no quotes. */
export function commandLine(words: readonly string[]): string {
  return words.map((word) => (/^-[\w@%+=:,./-]*$/.test(word) ? word : shellQuote(word))).join(' ')
}

/** Whether the path is the folder or inside it, compared as text: symlinks are not followed. */
export function isWithin(folder: string, path: string): boolean {
  const inside = relative(folder, path)
  return inside === '' || (!isAbsolute(inside) && inside.split('/')[0] !== '..')
}
