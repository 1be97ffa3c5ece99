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
}): VNode | null {
  const { insertions, deletions } = props
  if (insertions === null || deletions === null) return null
  return (
    <span class="figures" aria-label={`${insertions} lines added, ${deletions} removed`}>
      <span class="plus">+{insertions}</span> <span class="minus">−{deletions}</span>
    </span>
  )
}

const SUM_TITLE =
  'The sum of all steps: a file or line that several of them changed counts each time. Compare shows what differs in the end.'

/** Up to 3 files, up to +41 −3. */
export function SumText({ sum }: { readonly sum: Sum }): VNode {
  const upTo = sum.isLimit ? 'up to ' : ''
  return (
    <span title={sum.isLimit ? SUM_TITLE : undefined}>
      {upTo}
      {count(sum.files, 'file')}
      {sum.isLimit ? ', ' : ' '}
      {upTo}
      <Figures insertions={sum.insertions} deletions={sum.deletions} />
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
