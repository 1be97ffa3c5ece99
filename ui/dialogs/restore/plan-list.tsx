// The lines of a plan with their check boxes. All rows have one height, so a plan of 100,000 files costs a screen of rows. One row
// at a time can be reached with Tab; the arrow keys move between rows.
import type { VNode } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { Plan, PlanLine } from '../../../src/ui/api.js'
import { isPrinting, MAX_PRINTED } from '../../app/printing.js'
import { PrintLimit } from '../../components/print-limit.js'
import { Author, Line, visibleText } from '../../components/text.js'
import { canBeSelected, isSelected, type Selection } from './selection.js'
import { actionWords } from './words.js'

/** Shorter lists are in the document as a whole. */
const MAX_WHOLE = 100
const MARGIN_ROWS = 10

type Props = {
  readonly lines: readonly PlanLine[]
  readonly selection: Selection
  readonly canSelect: boolean
  readonly kind: Plan['kind']
  /** The path whose difference is shown. */
  readonly open: string | undefined
  readonly onTick: (line: PlanLine, ticked: boolean) => void
  readonly onOpen: (line: PlanLine) => void
}

export function PlanList(props: Props): VNode {
  const { lines } = props
  const list = useRef<HTMLDivElement>(null)
  const { range, rowHeight, readRange } = useVisibleRows(list, lines.length)
  const [current, setCurrent] = useState(0)
  const active = Math.min(current, lines.length - 1)
  // The focused row stays in the document when it is scrolled out of sight, or the focus would be lost.
  const shown = [...new Set([...range, active])].sort((a, b) => a - b)
  const move = (to: number) => {
    const index = Math.max(0, Math.min(lines.length - 1, to))
    setCurrent(index)
    focusRow(list.current, { index, rowHeight })
  }
  return (
    <>
      <div
        ref={list}
        class="plan-list"
        onScroll={readRange}
        onKeyDown={(event) => {
          const to = { ArrowDown: active + 1, ArrowUp: active - 1, Home: 0, End: lines.length - 1 }[
            event.key
          ]
          if (to !== undefined) {
            event.preventDefault()
            move(to)
            return
          }
          const line = lines[active]
          // In a check box, Enter would do nothing.
          if (event.key !== 'Enter' || line === undefined) return
          if (!(event.target instanceof HTMLInputElement)) return
          event.preventDefault()
          props.onOpen(line)
        }}
      >
        <ul aria-label="Files of the plan" style={{ height: `${lines.length * rowHeight}px` }}>
          {shown.map((index) => {
            const line = lines[index]
            return line === undefined ? null : (
              <PlanRow
                key={line.path}
                {...props}
                line={line}
                index={index}
                top={index * rowHeight}
                isActive={index === active}
                onActive={() => setCurrent(index)}
              />
            )
          })}
        </ul>
      </div>
      <PrintLimit rows={lines.length} />
    </>
  )
}

function PlanRow(
  props: Props & {
    readonly line: PlanLine
    readonly index: number
    readonly top: number
    readonly isActive: boolean
    readonly onActive: () => void
  },
): VNode {
  const { line, index, top, selection, canSelect, isActive } = props
  const { action, path, reason, author } = line
  const { mark, word } = actionWords(action, props.kind)
  const hasBox = canSelect && canBeSelected(line)
  const ticked = !canSelect || isSelected(line, selection)
  const tabIndex = isActive ? 0 : -1
  return (
    <li
      class="plan-row"
      data-index={index}
      data-action={action}
      data-path={path}
      data-ticked={ticked}
      aria-setsize={props.lines.length}
      aria-posinset={index + 1}
      style={{ transform: `translateY(${top}px)` }}
      onFocusCapture={props.onActive}
    >
      <span class="plan-box">
        {hasBox ? (
          <input
            type="checkbox"
            checked={ticked}
            tabIndex={tabIndex}
            aria-label={`${word}: ${visibleText(path)}`}
            onChange={(event) => props.onTick(line, event.currentTarget.checked)}
          />
        ) : null}
      </span>
      <span class="plan-action">
        <span class="plan-mark" aria-hidden="true">
          {mark}
        </span>
        {word}
      </span>
      <button
        type="button"
        class="plan-path"
        tabIndex={tabIndex}
        aria-pressed={props.open === path}
        title={`Show what changed in ${visibleText(path)}`}
        onClick={() => props.onOpen(line)}
      >
        <Line text={path} />
      </button>
      <Author name={author} />
      <span class="plan-reason muted">
        <Line text={reason ?? ''} />
      </span>
    </li>
  )
}

function focusRow(
  list: HTMLDivElement | null,
  { index, rowHeight }: { readonly index: number; readonly rowHeight: number },
): void {
  if (list === null) return
  const top = index * rowHeight
  if (top < list.scrollTop) list.scrollTop = top
  const bottom = top + rowHeight - list.clientHeight
  if (bottom > list.scrollTop) list.scrollTop = bottom
  // The row is in the document after the next render.
  requestAnimationFrame(() => {
    const row = list.querySelector(`[data-index="${index}"]`)
    const target = row?.querySelector('input, button')
    if (target instanceof HTMLElement) target.focus({ preventScroll: true })
  })
}

/** The indexes of the rows to render. */
function useVisibleRows(list: { readonly current: HTMLDivElement | null }, total: number) {
  const [rowHeight, setRowHeight] = useState(30)
  const [first, setFirst] = useState(0)
  const [height, setHeight] = useState(600)
  const readRange = () => {
    const shown = list.current
    if (shown === null || isPrinting.peek()) return
    setHeight(shown.clientHeight)
    // In steps, so that scrolling does not render with every pixel.
    setFirst(Math.floor(shown.scrollTop / rowHeight / MARGIN_ROWS) * MARGIN_ROWS)
    const row = shown.querySelector<HTMLElement>('.plan-row')
    if (row !== null && row.offsetHeight > 0) setRowHeight(row.offsetHeight)
  }
  useLayoutEffect(() => {
    readRange()
    window.addEventListener('resize', readRange)
    return () => window.removeEventListener('resize', readRange)
  }, [total, rowHeight])
  const isWhole = total <= MAX_WHOLE || isPrinting.value
  const start = isWhole ? 0 : Math.max(0, first - MARGIN_ROWS)
  const rows = Math.ceil(height / rowHeight) + 3 * MARGIN_ROWS
  const end = isWhole ? Math.min(total, MAX_PRINTED) : Math.min(total, start + rows)
  const range = Array.from({ length: Math.max(0, end - start) }, (_, index) => start + index)
  return { range, rowHeight, readRange }
}
