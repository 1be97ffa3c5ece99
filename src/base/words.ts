// Words in texts, command lines and paths.
import { isAbsolute, relative } from 'node:path'

/** The noun in the form that goes with the count. */
export function plural(count: number, noun: string, pluralForm = `${noun}s`): string {
  return count === 1 ? noun : pluralForm
}

/** One word for a POSIX shell, always in quotes. */
export function singleQuote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}

/** One word for a POSIX shell, in quotes only if it needs them. */
export function shellQuote(text: string): string {
  return /^[\w@%+=:,./][\w@%+=:,./-]*$/.test(text) ? text : singleQuote(text)
}

/** Whether the path is the folder or lies in it, by its name alone: symlinks are not followed. */
export function isWithin(folder: string, path: string): boolean {
  const inside = relative(folder, path)
  return inside === '' || (!isAbsolute(inside) && inside.split('/')[0] !== '..')
}
