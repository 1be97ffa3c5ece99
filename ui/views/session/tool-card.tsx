// A tool call as one line that opens: what was called, how it ended, how long it took; then its input and its result.
import type { VNode } from 'preact'
import { useEffect } from 'preact/hooks'
import { isPrinting } from '../../app/printing.js'
import { count, Line, visibleText } from '../../components/text.js'
import type { ConversationData, FoundResult, PartOf } from './conversation-data.js'
import { type ItemText, LongText } from './long-text.js'

const MAX_LINES = 12
// Colors and cursor movements of terminals.
const ANSI = /\u001b\[[0-9;?]*[A-Za-z]/g

type CardProps<Kind extends 'call' | 'result'> = {
  readonly data: ConversationData
  readonly index: number
  readonly part: PartOf<Kind>
  readonly at: number
}

export function ToolCard({ data, index, part, at }: CardProps<'call'>): VNode {
  const result = data.resultOf(part.id)
  const isLoading = result === 'loading'
  useEffect(() => {
    const resultIndex = data.indexOfResult(part.id)
    if (isLoading && resultIndex !== undefined) void data.ensure(resultIndex, resultIndex)
  }, [isLoading])
  const found = typeof result === 'object' ? result : undefined
  const key = `call ${part.id}`
  // An error is worth reading; everything else is opened by the reader.
  const isOpen = data.isToggled(key) !== (found?.part.isError === true)
  return (
    <div class="tool" data-kind="tool" data-outcome={outcomeOf(result)}>
      <button type="button" class="fold" aria-expanded={isOpen} onClick={() => data.toggle(key)}>
        <span class="fold-title">
          <Line text={part.tool} />
        </span>
        <span class="fold-summary">
          <Line text={part.summary} />
        </span>
        <Outcome result={result} />
      </button>
      {isOpen ? (
        <div class="tool-body">
          {part.input.text === '' ? null : (
            <Output label="Input" data={data} index={index} at={at} text={part.input} />
          )}
          {found === undefined ? null : (
            <Output
              label="Result"
              data={data}
              index={found.item.index}
              at={found.at}
              text={found.part.text}
            />
          )}
        </div>
      ) : (
        <Preview text={found?.part.text} />
      )}
    </div>
  )
}

/** A result whose call is not loaded, or not part of the conversation. */
export function ResultOnly({ data, index, part, at }: CardProps<'result'>): VNode {
  const key = `result ${part.id}`
  const isOpen = data.isToggled(key) !== part.isError
  return (
    <div class="tool" data-kind="tool" data-outcome={part.isError ? 'failed' : 'done'}>
      <button type="button" class="fold" aria-expanded={isOpen} onClick={() => data.toggle(key)}>
        <span class="fold-title">result</span>
        <span class="fold-summary">of an earlier call</span>
        <OutcomeWords isError={part.isError} durationMs={part.durationMs} />
      </button>
      {isOpen ? (
        <div class="tool-body">
          <Output label="Result" data={data} index={index} at={at} text={part.text} />
        </div>
      ) : (
        <Preview text={part.text} />
      )}
    </div>
  )
}

const MAX_PREVIEW = 300

/** The first line of a folded result. */
function Preview({ text }: { readonly text: ItemText | undefined }): VNode | null {
  const whole = text?.text.slice(0, MAX_PREVIEW).replaceAll(ANSI, '').trimStart() ?? ''
  const [first = ''] = whole.split('\n', 1)
  if (text === undefined || first === '') return null
  const lines = countLines(text.text)
  return (
    <p class="tool-preview">
      <span class="tool-first">
        <Line text={first} />
      </span>
      {lines > 1 ? <span> {count(lines, 'line')}</span> : null}
    </p>
  )
}

type Result = FoundResult | 'loading' | undefined

function outcomeOf(result: Result): string {
  if (result === undefined) return 'none'
  if (result === 'loading') return 'loading'
  return result.part.isError ? 'failed' : 'done'
}

function Outcome({ result }: { readonly result: Result }): VNode {
  if (result === undefined) return <span class="outcome muted">no result</span>
  if (result === 'loading') return <span class="outcome muted">…</span>
  const { isError, durationMs } = result.part
  return <OutcomeWords isError={isError} durationMs={durationMs} />
}

function OutcomeWords(props: {
  readonly isError: boolean
  readonly durationMs: number | null
}): VNode {
  const { isError, durationMs } = props
  return (
    <span class="outcome" data-failed={isError ? '' : undefined}>
      {isError ? '✗ failed' : '✓ done'}
      {durationMs === null ? null : <span class="muted"> {formatDuration(durationMs)}</span>}
    </span>
  )
}

function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`
}

/** The first lines of a text; a button shows the others. */
function Output(props: {
  readonly label: string
  readonly data: ConversationData
  readonly index: number
  readonly at: number
  readonly text: ItemText
}): VNode {
  const { label, data, index, at, text } = props
  const key = `lines ${index} ${at}`
  const lines = countLines(text.text)
  // The list draws its items again for a print. With `value`, a toggle alone would not draw this one again.
  const isFolded = lines > MAX_LINES && !data.isToggled(key) && !isPrinting.peek()
  return (
    <div class="output">
      <span class="output-label">{label}</span>
      {isFolded ? (
        <>
          <Lines label={label} text={firstLines(text.text)} />
          <button type="button" class="text-button" onClick={() => data.toggle(key)}>
            show {count(lines, 'line')}
            {text.restLength > 0 ? ' and more' : ''}
          </button>
        </>
      ) : (
        <LongText data={data} index={index} part={at} text={text}>
          {(whole) => <Lines label={label} text={whole} />}
        </LongText>
      )}
    </div>
  )
}

function Lines({ label, text }: { readonly label: string; readonly text: string }): VNode {
  return (
    <pre tabIndex={0} role="group" aria-label={label}>
      {text === '' ? '(empty)' : visibleText(text.replaceAll(ANSI, ''))}
    </pre>
  )
}

function countLines(text: string): number {
  let lines = 1
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines += 1
  return text.endsWith('\n') ? lines - 1 : lines
}

function firstLines(text: string): string {
  let end = -1
  for (let line = 0; line < MAX_LINES; line += 1) end = text.indexOf('\n', end + 1)
  return text.slice(0, end)
}
