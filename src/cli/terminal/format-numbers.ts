// Numbers as text.
import { plural } from '../../base/index.js'

export function grouped(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',')
}

/** `1 file`, `2 files`. */
export function counted(count: number, noun: string): string {
  return `${grouped(count)} ${plural(count, noun, `${noun}s`)}`
}

export function lines(change: { readonly insertions: number; readonly deletions: number }): string {
  return `+${grouped(change.insertions)} −${grouped(change.deletions)}`
}

const UNITS = ['bytes', 'KB', 'MB', 'GB', 'TB']

export function bytes(count: number): string {
  let amount = count
  let unit = 0
  while (amount >= 999.5 && unit < UNITS.length - 1) {
    amount /= 1000
    unit++
  }
  const digits = unit === 0 || amount >= 99.5 ? 0 : 1
  return `${amount.toFixed(digits)} ${count === 1 ? 'byte' : UNITS[unit]}`
}
