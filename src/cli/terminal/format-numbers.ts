// Numbers as text.
import { plural } from '../../base/index.js'

export function formatNumber(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',')
}

/** `1 file`, `2 files`. */
export function formatCount(count: number, noun: string): string {
  return `${formatNumber(count)} ${plural(count, noun, `${noun}s`)}`
}

/** At most `most` lines of a list, and how many more there are. */
export function limitLines(lines: readonly string[], most: number): readonly string[] {
  const more = lines.length - most
  return more > 0 ? [...lines.slice(0, most), `  … and ${formatNumber(more)} more`] : lines
}

export function formatLines(change: {
  readonly insertions: number
  readonly deletions: number
}): string {
  return `+${formatNumber(change.insertions)} −${formatNumber(change.deletions)}`
}

const UNITS = ['bytes', 'KB', 'MB', 'GB', 'TB']

export function formatBytes(count: number): string {
  let amount = count
  let unit = 0
  while (amount >= 999.5 && unit < UNITS.length - 1) {
    amount /= 1000
    unit++
  }
  const digits = unit === 0 || amount >= 99.5 ? 0 : 1
  return `${amount.toFixed(digits)} ${count === 1 ? 'byte' : UNITS[unit]}`
}
