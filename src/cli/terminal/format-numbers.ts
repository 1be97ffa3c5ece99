// Numbers as people read them.
import { plural } from '../../base/index.js'

export function grouped(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',')
}

/** `1 file`, `2 files`; the plural may be given where an `s` does not make it. */
export function counted(count: number, noun: string, pluralForm = `${noun}s`): string {
  return `${grouped(count)} ${plural(count, noun, pluralForm)}`
}

export function lines({ insertions, deletions }: Lines): string {
  return `+${grouped(insertions)} −${grouped(deletions)}`
}

type Lines = { readonly insertions: number; readonly deletions: number }

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
