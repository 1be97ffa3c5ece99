// Numbers, times and texts of others as plain strings. Pure, so that tests need no browser.

// C0 and C1 controls except tab and newline, bidirectional controls, zero-width and other invisible characters.
const HIDDEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g

export function visibleText(text: string): string {
  return text.replace(HIDDEN, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

const UNITS = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' })

export function relativeTime(at: string, now = Date.now()): string {
  const seconds = Math.round((Date.parse(at) - now) / 1000)
  const [unit, length] = UNITS.find(([, size]) => Math.abs(seconds) >= size) ?? ['second', 1]
  return relative.format(Math.trunc(seconds / length), unit)
}

export function count(number: number, noun: string): string {
  return `${number.toLocaleString('en')} ${noun}${number === 1 ? '' : 's'}`
}

type Counted = {
  readonly files: number
  readonly insertions: number
  readonly deletions: number
}
export type Sum = Counted & {
  /** Several steps have changed files, and may have changed the same files and lines. */
  readonly isLimit: boolean
}

export function sumSteps(steps: readonly Counted[]): Sum {
  const sum = { files: 0, insertions: 0, deletions: 0 }
  for (const { files, insertions, deletions } of steps) {
    sum.files += files
    sum.insertions += insertions
    sum.deletions += deletions
  }
  return { ...sum, isLimit: steps.filter(({ files }) => files > 0).length > 1 }
}

export function formatBytes(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB']
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(bytes, 1)) / 3))
  const value = bytes / 1000 ** power
  return `${value >= 100 || power === 0 ? Math.round(value) : value.toFixed(1)} ${units[power]}`
}
