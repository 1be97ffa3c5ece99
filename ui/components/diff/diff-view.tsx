// Shows the rows of a patch. Rows have one height, or with wrapped lines a multiple of it that is computed (wrap.ts), so that the
// visible ones follow from the scroll position, and a patch of 1 MB costs no more than a screen of lines.
//
//   .diff-scroll            scrolls vertically
//     .diff-body            as high as all rows
//       .diff-panes         sticky, as high as the window onto them
//         .diff-pane        scrolls horizontally; two of them in a split view, which move together
//           .diff-rows      the visible rows, moved to their place with `transform`
import type { VNode } from 'preact'
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { useShortcuts } from '../../app/keys.js'
import { isPrinting, MAX_PRINTED } from '../../app/printing.js'
import { highlight } from '../../highlight/highlighter.js'
import { PrintLimit } from '../print-limit.js'
import { count, visibleText } from '../text.js'
import { wrapsLines } from './layout.js'
import {
  CodeLine,
  EmptyLine,
  HunkLine,
  type HunkTicks,
  NoNewline,
  ROW_REM,
  type SideTokens,
} from './line.js'
import { changeStarts, findRow, type Line, linesOf, type Patch, type Row, rowsOf } from './rows.js'
import { rowAt, rowTops } from './wrap.js'

/** `plain`: a file, not a comparison. */
export type DiffLayout = 'unified' | 'split' | 'plain'
type Side = 'both' | 'old' | 'new'

/** Short patches are in the document as a whole: searching, selecting and printing work on all of it. */
const MAX_WHOLE = 300
/** The first row in the document is a multiple of this, so that scrolling does not render with every row. */
const STEP = 20
/** Browsers limit the height of an element. */
const MAX_ROWS = 400_000
const GUTTER_CHARACTERS = 6
/** For very narrow windows. */
const MIN_COLUMNS = 10
const PROBE = 100

export function DiffView(props: {
  readonly patch: Patch
  readonly path: string
  readonly layout: DiffLayout
  /** Undefined: the whole file is shown. */
  readonly onMore?: (() => void) | undefined
  readonly choice?: HunkTicks | undefined
}): VNode {
  const { patch, path, layout, onMore, choice } = props
  const hasChoice = choice !== undefined
  const all = useMemo(
    () => rowsOf(patch, { isSplit: layout === 'split', hasChoice }),
    [patch, layout, hasChoice],
  )
  const rows = useMemo(() => (all.length > MAX_ROWS ? all.slice(0, MAX_ROWS) : all), [all])
  const tokens = useTokens(path, patch)
  const isWrapped = wrapsLines.value
  const { scroller, range, rowHeight, tops } = useVisibleRows(rows, { isWrapped, layout })
  useChangeKeys(scroller, { rows, tops, rowHeight, isPlain: layout === 'plain' })
  const label = `Contents of ${visibleText(path)}`
  const last = patch.hunks.at(-1)?.lines.at(-1)
  const digits = String(Math.max(last?.oldNumber ?? 0, last?.newNumber ?? 0)).length
  const shown = isPrinting.value ? rows.slice(0, MAX_PRINTED) : rows.slice(range.start, range.end)
  const first = isPrinting.value ? 0 : range.start
  const pane = (side: Side, label: string) => (
    <div class="diff-pane" key={side} tabIndex={0} role="group" aria-label={label}>
      <div class="diff-rows">
        {shown.map((row, index) => {
          const at = first + index
          const lines = (tops[at + 1] ?? 0) - (tops[at] ?? 0)
          return <RowView key={at} {...{ row, side, tokens, onMore, choice, lines }} />
        })}
      </div>
    </div>
  )
  return (
    <>
      {rows === all ? null : (
        <p class="file-note">
          Only the first {count(MAX_ROWS, 'line')} of {all.length} are shown.
        </p>
      )}
      <div class="diff-scroll" ref={scroller} role="region" aria-label={label}>
        <div
          class="diff-body"
          data-layout={layout}
          data-wrap={isWrapped ? '' : undefined}
          style={{
            height: `${((tops[rows.length] ?? 0) + 1) * rowHeight}px`,
            '--digits': digits,
            '--columns': patch.longestLine + GUTTER_CHARACTERS + 2 * digits,
          }}
        >
          <div class="diff-panes">
            {layout === 'split'
              ? [pane('old', 'Before'), pane('new', 'After')]
              : pane(layout === 'plain' ? 'new' : 'both', 'Lines')}
          </div>
        </div>
      </div>
      <PrintLimit rows={rows.length} />
    </>
  )
}

function RowView(props: {
  readonly row: Row
  readonly side: Side
  readonly tokens: SideTokens
  readonly onMore: (() => void) | undefined
  readonly choice: HunkTicks | undefined
  /** How many lines of the screen it takes. */
  readonly lines: number
}): VNode {
  const { row, side, tokens, onMore, choice, lines } = props
  if (row.type === 'hunk') return <HunkLine head={row.head} {...{ side, onMore, choice }} />
  if (row.type === 'no-newline') {
    const isHere = side === 'both' || (side === 'old') === (row.line.kind !== 'added')
    return <NoNewline isHere={isHere || row.line.kind === 'context'} />
  }
  const [left, right] = linesOf(row)
  const line = side === 'new' && row.type === 'pair' ? right : left
  return line === undefined ? (
    <EmptyLine lines={lines} />
  ) : (
    <CodeLine line={line} numbers={side} tokens={tokens} lines={lines} />
  )
}

function useTokens(path: string, patch: Patch): SideTokens {
  const [tokens, setTokens] = useState<SideTokens & { readonly of?: Patch }>(PLAIN)
  useEffect(() => {
    let isCurrent = true
    void Promise.all([highlight(path, patch.oldText), highlight(path, patch.newText)]).then(
      ([old, fresh]) => {
        if (isCurrent) setTokens({ old, fresh, of: patch })
      },
    )
    return () => {
      isCurrent = false
    }
  }, [path, patch])
  return tokens.of === patch ? tokens : PLAIN
}
const PLAIN: SideTokens = { old: undefined, fresh: undefined }

type Visible = { readonly start: number; readonly end: number }

function useVisibleRows(
  rows: readonly Row[],
  { isWrapped, layout }: { readonly isWrapped: boolean; readonly layout: DiffLayout },
) {
  const scroller = useRef<HTMLDivElement>(null)
  const [rowHeight] = useState(
    () => ROW_REM * Number.parseFloat(getComputedStyle(document.documentElement).fontSize),
  )
  // Undefined before the first measurement.
  const [columns, setColumns] = useState<number | undefined>(undefined)
  const wrapColumns = isWrapped ? columns : undefined
  const tops = useMemo(() => rowTops(rows, wrapColumns), [rows, wrapColumns])
  // Enough for the first render; the effect below knows the real height.
  const [range, setRange] = useState<Visible>({ start: 0, end: 4 * STEP })
  const top = useRef<Line | undefined>(undefined)

  const kept = useRef(0)
  const place = () => {
    const element = scroller.current
    // On paper nothing scrolls.
    if (element === null || isPrinting.peek()) return
    const { scrollTop, clientHeight } = element
    kept.current = scrollTop
    const first = rowAt(tops, scrollTop / rowHeight)
    const isWhole = rows.length <= MAX_WHOLE
    const start = isWhole ? 0 : Math.max(0, Math.floor(first / STEP - 1) * STEP)
    const visible = Math.ceil(clientHeight / rowHeight / STEP) * STEP
    const end = isWhole ? rows.length : start + visible + 3 * STEP
    setRange((old) => (old.start === start && old.end === end ? old : { start, end }))
    if (isWrapped) setColumns(columnsIn(element))
    top.current = linesOf(rows[first]).find((line) => line !== undefined)
    element
      .querySelector<HTMLElement>('.diff-panes')
      ?.style.setProperty('height', `${clientHeight}px`)
    movePanes(element, (tops[range.start] ?? 0) * rowHeight - scrollTop)
  }

  useLayoutEffect(() => {
    if (!isPrinting.value) scroller.current?.scrollTo({ top: kept.current })
  }, [isPrinting.value])

  // The rows or their heights changed: keep the line at the top where it is.
  useLayoutEffect(() => {
    const at = top.current === undefined ? -1 : findRow(rows, top.current)
    scroller.current?.scrollTo({ top: (tops[Math.max(0, at)] ?? 0) * rowHeight })
  }, [rows, tops])

  useLayoutEffect(() => {
    const element = scroller.current
    if (element === null) return undefined
    place()
    const onPaneScroll = ({ target }: Event) => {
      if (target instanceof HTMLElement && target.matches('.diff-pane')) followPane(element, target)
    }
    const observer = new ResizeObserver(place)
    observer.observe(element)
    element.addEventListener('scroll', place, { passive: true })
    // Scroll events do not bubble, so this listens on the way down.
    element.addEventListener('scroll', onPaneScroll, { capture: true, passive: true })
    return () => {
      observer.disconnect()
      element.removeEventListener('scroll', place)
      element.removeEventListener('scroll', onPaneScroll, { capture: true })
    }
  }, [rows, tops, range.start, range.end, isWrapped, layout])
  return { scroller, range, rowHeight, tops }
}

/** How many characters fit beside the line numbers; undefined if no line is shown yet. */
function columnsIn(scroller: HTMLElement): number | undefined {
  const widths = [...scroller.querySelectorAll<HTMLElement>('.diff-pane')].map((pane) => {
    const gutter = pane.querySelector<HTMLElement>('.diff-gutter')
    const code = pane.querySelector<HTMLElement>('.diff-code')
    if (gutter === null || code === null) return undefined
    const { paddingRight } = getComputedStyle(code)
    return pane.clientWidth - gutter.offsetWidth - Number.parseFloat(paddingRight)
  })
  const known = widths.filter((width) => width !== undefined)
  const rows = scroller.querySelector<HTMLElement>('.diff-rows')
  if (known.length === 0 || rows === null) return undefined
  return Math.max(MIN_COLUMNS, Math.floor(Math.min(...known) / characterWidth(rows) + 0.001))
}

/** Of the font of the lines, as the browser draws it. */
function characterWidth(rows: HTMLElement): number {
  const probe = document.createElement('span')
  probe.className = 'diff-probe'
  probe.textContent = '0'.repeat(PROBE)
  rows.append(probe)
  const { width } = probe.getBoundingClientRect()
  probe.remove()
  return width / PROBE
}

function movePanes(scroller: HTMLElement, offset: number): void {
  for (const rows of scroller.querySelectorAll<HTMLElement>('.diff-rows'))
    rows.style.transform = `translateY(${offset}px)`
}

/** Moves the other pane along. A selection or a search may scroll a pane vertically, which is the scroller's part. */
function followPane(scroller: HTMLElement, pane: HTMLElement): void {
  if (pane.scrollTop !== 0) {
    scroller.scrollTop += pane.scrollTop
    pane.scrollTop = 0
  }
  for (const other of scroller.querySelectorAll('.diff-pane'))
    if (other.scrollLeft !== pane.scrollLeft) other.scrollLeft = pane.scrollLeft
}

function useChangeKeys(
  scroller: { readonly current: HTMLElement | null },
  of: {
    readonly rows: readonly Row[]
    readonly tops: Float64Array
    readonly rowHeight: number
    readonly isPlain: boolean
  },
): void {
  const { rows, tops, rowHeight, isPlain } = of
  // Leaves some lines of context above the change.
  const above = 3 * rowHeight
  const go = (direction: 1 | -1) => {
    const element = scroller.current
    if (element === null) return
    const starts = changeStarts(rows).map((row) =>
      Math.max(0, (tops[row] ?? 0) * rowHeight - above),
    )
    const { scrollTop } = element
    const next =
      direction === 1
        ? starts.find((top) => top > scrollTop + 1)
        : starts.findLast((top) => top < scrollTop - 1)
    if (next !== undefined) element.scrollTo({ top: next })
  }
  useShortcuts(
    isPlain
      ? []
      : [
          { key: 'n', label: 'Next change in the file', run: () => go(1) },
          { key: 'p', label: 'Previous change in the file', run: () => go(-1) },
        ],
    [rows, tops, rowHeight, isPlain],
  )
}
