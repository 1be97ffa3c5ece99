// Texts of others: prompts, file names, tool output. Always text nodes; characters that hide or reorder text are shown by number.
import type { VNode } from 'preact'
import { count, type Sum, visibleText } from './format.js'

export { count, formatBytes, relativeTime, visibleText } from './format.js'

/** On one line. */
export function Line({ text }: { readonly text: string }): VNode {
  return <>{visibleText(text.replaceAll(/\s*\n\s*/g, ' ⏎ '))}</>
}

export function Time({ at }: { readonly at: string }): VNode {
  const date = new Date(at)
  return (
    <time dateTime={at} title={date.toLocaleString()}>
      {date.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })}
    </time>
  )
}

/** +41 −3, for people and for screen readers. */
export function Figures(props: {
  readonly insertions: number | null
  readonly deletions: number | null
  /** There may be fewer. */
  readonly isLimit?: boolean
}): VNode | null {
  const { insertions, deletions, isLimit = false } = props
  if (insertions === null || deletions === null) return null
  const label = `${insertions} lines added, ${deletions} removed`
  return (
    <span class="figures" aria-label={isLimit ? `up to ${label}` : label}>
      <span class="plus">+{insertions}</span> <span class="minus">−{deletions}</span>
    </span>
  )
}

const SUM_TITLE =
  'The sum of all steps: a file or line that several of them changed counts each time. Compare shows what differs in the end.'

/** `up to 3 files, +41 −3`: on a narrow screen there is no space for a second `up to`. */
export function SumText({ sum }: { readonly sum: Sum }): VNode {
  const files = count(sum.files, 'file')
  return (
    <span title={sum.isLimit ? SUM_TITLE : undefined}>
      {sum.isLimit ? `up to ${files}, ` : `${files} `}
      <Figures {...sum} />
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
