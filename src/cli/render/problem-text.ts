// A problem of the store as one line.
import type { Problem } from '../../index.js'
import { printable } from '../terminal/escape.js'
import type { Screen } from '../terminal/screen.js'

export function problemLine(problem: Problem, { paint }: Pick<Screen, 'paint'>): string {
  const { kind, message, checkpoint, path, severity } = problem
  const where = [
    checkpoint === null ? [] : `checkpoint ${checkpoint}`,
    path === undefined ? [] : path,
  ].flat()
  const location = where.length === 0 ? '' : ` (${where.join(', ')})`
  const color = severity === 'damage' ? 'red' : 'yellow'
  return `  ${paint(color, kind)}: ${printable(`${message}${location}`)}`
}
