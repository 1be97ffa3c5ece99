// One line of what `show` says: a title and what stands after it.
import type { Screen } from './screen.js'
import { padEnd } from './text-width.js'

export function factOn({ paint }: Screen) {
  return (title: string, text: string): string =>
    `${paint('bold', padEnd(`${title}:`, 11))} ${text}`
}
