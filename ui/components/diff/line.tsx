// One row of a diff. Numbers and signs are text for screen readers, and are not part of a selection.
import type { VNode } from 'preact'
import { TOKEN_CLASSES } from '../../highlight/token-classes.js'
import { type Token, type Tokens, tokensOfLine } from '../../highlight/tokens.js'
import { count, visibleText } from '../text.js'
import type { HunkHead, Line, LineKind } from './rows.js'
import { changedWords, MAX_SHOWN, type Segment, segmentsOf } from './segments.js'

/** The height of one line. */
export const ROW_REM = 1.25

const SIGNS: Readonly<Record<LineKind, string>> = { context: ' ', added: '+', removed: '−' }

/** Undefined until the highlighter has answered. */
export type SideTokens = { readonly old: Tokens | undefined; readonly fresh: Tokens | undefined }

export function CodeLine(props: {
  readonly line: Line
  readonly numbers: 'both' | 'old' | 'new'
  readonly tokens: SideTokens
  /** How many lines of the screen it takes. */
  readonly lines: number
}): VNode {
  const { line, numbers, lines } = props
  const { kind, oldNumber, newNumber, text } = line
  const side = kind === 'removed' ? props.tokens.old : props.tokens.fresh
  return (
    <div
      class="diff-line"
      data-line={newNumber ?? oldNumber}
      data-kind={kind}
      style={heightOf(lines)}
    >
      <span class="diff-gutter">
        {numbers === 'new' ? null : <span class="diff-number">{oldNumber}</span>}
        {numbers === 'old' ? null : <span class="diff-number">{newNumber}</span>}
        <span class="diff-sign">{SIGNS[kind]}</span>
      </span>
      <code class="diff-code">
        <Code line={line} tokens={tokensOfLine(side, line.index)} />
        {text.length > MAX_SHOWN ? (
          <span class="diff-cut"> … {count(text.length - MAX_SHOWN, 'more character')}</span>
        ) : null}
      </code>
    </div>
  )
}

function Code({ line, tokens }: { readonly line: Line; readonly tokens: readonly Token[] }): VNode {
  const isAdded = line.kind === 'added'
  const segments = segmentsOf(line.text, {
    tokens,
    words: changedWords(line),
    markTrailing: isAdded,
  })
  return (
    <>
      {segments.map((segment, index) => {
        const text = visibleText(segment.text)
        const look = classOf(segment)
        if (look === '') return text
        const isWord = segment.isWord && line.kind !== 'context'
        return isWord && isAdded ? (
          <ins key={index} class={look}>
            {text}
          </ins>
        ) : isWord ? (
          <del key={index} class={look}>
            {text}
          </del>
        ) : (
          <span key={index} class={look}>
            {text}
          </span>
        )
      })}
    </>
  )
}

function classOf({ class: token, isWord, isTrailing }: Segment): string {
  const names = token === 0 ? [] : [`syntax-${TOKEN_CLASSES[token]}`]
  if (isWord) names.push('diff-word')
  if (isTrailing) names.push('diff-trailing')
  return names.join(' ')
}

/** A side of a split view that has no line here. */
export function EmptyLine({ lines }: { readonly lines: number }): VNode {
  return <div class="diff-line" data-kind="none" style={heightOf(lines)} />
}

/** Undefined for most lines: the stylesheet has the height of one. */
function heightOf(lines: number) {
  return lines === 1 ? undefined : { height: `${lines * ROW_REM}rem` }
}

/** Check boxes in the heads of the hunks. */
export type HunkTicks = {
  readonly isTicked: (hunk: number) => boolean
  readonly onTick: (hunk: number, ticked: boolean) => void
}

export function HunkLine(props: {
  readonly head: HunkHead
  /** In a split view, each side has a part of it. */
  readonly side: 'both' | 'old' | 'new'
  /** Undefined: there is no more. */
  readonly onMore: (() => void) | undefined
  readonly choice: HunkTicks | undefined
}): VNode {
  const { head, side, onMore, choice } = props
  return (
    <div class="diff-line" data-kind="hunk">
      {choice === undefined || side === 'new' ? null : (
        <label class="diff-choice">
          <input
            type="checkbox"
            checked={choice.isTicked(head.index)}
            onChange={(event) => choice.onTick(head.index, event.currentTarget.checked)}
          />
          Change {head.index + 1}
        </label>
      )}
      {onMore === undefined || head.hidden === 0 || side === 'new' ? null : (
        <button class="diff-more" type="button" onClick={onMore}>
          ↕ Show more of {count(head.hidden, 'hidden line')}
        </button>
      )}
      {side === 'old' ? null : <span>{visibleText(head.heading)}</span>}
      <span class="visually-hidden">{head.range}</span>
    </div>
  )
}

export function NoNewline({ isHere }: { readonly isHere: boolean }): VNode {
  return (
    <div class="diff-line" data-kind="note">
      {isHere ? '⦸ No newline at the end of the file' : null}
    </div>
  )
}
