// Texts of others: prompts, file names, tool output. Always text nodes; characters that hide or reorder text are shown by number.
import type { VNode } from 'preact'

// C0 and C1 controls except tab and newline, bidirectional controls, zero-width and other invisible characters.
const HIDDEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g

export function visibleText(text: string): string {
  return text.replace(HIDDEN, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** On one line. */
export function Line({ text }: { readonly text: string }): VNode {
  return <>{visibleText(text.replaceAll(/\s*\n\s*/g, ' ⏎ '))}</>
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

export function Time({ at }: { readonly at: string }): VNode {
  const date = new Date(at)
  return (
    <time dateTime={at} title={date.toLocaleString()}>
      {date.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' })}
    </time>
  )
}

export function count(number: number, noun: string): string {
  return `${number.toLocaleString('en')} ${noun}${number === 1 ? '' : 's'}`
}

export function formatBytes(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB']
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(bytes, 1)) / 3))
  const value = bytes / 1000 ** power
  return `${value >= 100 || power === 0 ? Math.round(value) : value.toFixed(1)} ${units[power]}`
}

/** +41 −3, for people and for screen readers. */
export function Figures(props: {
  readonly insertions: number | null
  readonly deletions: number | null
}): VNode | null {
  const { insertions, deletions } = props
  if (insertions === null || deletions === null) return null
  return (
    <span class="figures" aria-label={`${insertions} lines added, ${deletions} removed`}>
      <span class="plus">+{insertions}</span> <span class="minus">−{deletions}</span>
    </span>
  )
}

/** The author as a word and a color: `you`, an agent, several. */
export function Author({ name }: { readonly name: string | null }): VNode | null {
  if (name === null) return null
  const kind = name === 'you' ? 'you' : name.includes('+') ? 'several' : 'agent'
  return (
    <span class="author" data-author={kind}>
      <Line text={name} />
    </span>
  )
}
