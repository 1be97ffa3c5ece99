// The scrolling list. Only the visible lines, some more above and below, and the line with the focus are in the document.
import type { VNode } from 'preact'
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { Row } from '../../../src/ui/api.js'
import { isPrinting, MAX_PRINTED } from '../../app/printing.js'
import { addressOf, checkpointPath, navigate } from '../../app/router.js'
import { PrintLimit } from '../../components/print-limit.js'
import { type Heights, heightOf, type Layout, type Line, lineAt, nextFold } from './lines.js'
import { TimelineRow } from './row.js'
import { activeKey, kept, setFold } from './state.js'
import { promptText } from './words.js'

const OVERSCAN_PX = 400
/** Smaller movements stay within the overscan and draw nothing. */
const STEP_PX = 160

type Viewport = { readonly top: number; readonly height: number }

export type ListProps = {
  readonly lines: readonly Line[]
  readonly layout: Layout
  readonly heights: Heights
  readonly hereId: string | null
  readonly newIds: ReadonlySet<string>
  readonly titles: ReadonlyMap<string, Row>
  readonly canPlan: boolean
  readonly scroller: { current: HTMLDivElement | null }
}

export function TimelineList(props: ListProps): VNode {
  const { lines, layout, heights, scroller } = props
  const [view, setView] = useState<Viewport>({ top: kept.scrollTop, height: 900 })
  useScroll(props, setView)
  const first = isPrinting.value ? 0 : lineAt(layout, view.top - OVERSCAN_PX)
  const last = isPrinting.value
    ? Math.min(lines.length, MAX_PRINTED) - 1
    : lineAt(layout, view.top + view.height + OVERSCAN_PX)
  const activeRow = activeKey.value
  // Not in every step of the scrolling: there may be 10,000 lines.
  const active = useMemo(() => lines.findIndex(({ key }) => key === activeRow), [lines, activeRow])
  // Without a chosen row, the first one is the tab stop.
  const tabStop = active >= 0 ? active : lines.findIndex(({ type }) => type !== 'day')
  const indexes = Array.from(
    { length: lines.length === 0 ? 0 : last - first + 1 },
    (_, at) => first + at,
  )
  if (tabStop >= 0 && tabStop < first) indexes.unshift(tabStop)
  if (tabStop > last && !isPrinting.value) indexes.push(tabStop)
  return (
    <div class="tl-scroller" ref={scroller}>
      <div
        role="treegrid"
        class="tl-grid"
        aria-label="Checkpoints, newest first"
        aria-rowcount={lines.length}
        aria-multiselectable={false}
        style={{ height: `${layout.height}px` }}
        onClick={(event) => clickRow(event, lines)}
        onFocusIn={({ target }) => {
          const key = rowAround(target)?.dataset['key']
          if (key !== undefined) activeKey.value = key
        }}
      >
        {indexes.map((index) => {
          const line = lines[index]
          return line === undefined ? null : (
            <TimelineRow
              key={line.key}
              line={line}
              index={index}
              top={layout.tops[index] ?? 0}
              height={heightOf(line, heights)}
              isActive={index === tabStop}
              isNew={'row' in line && props.newIds.has(line.row.id)}
              isHere={isHere(line, props.hereId)}
              title={titleOf(line, props.titles)}
              canPlan={props.canPlan}
            />
          )
        })}
      </div>
      <PrintLimit rows={lines.length} />
    </div>
  )
}

function isHere(line: Line, hereId: string | null): boolean {
  if (!('row' in line) || line.row.id !== hereId) return false
  return line.type !== 'card' || !line.turn.isContinued
}

function titleOf(line: Line, titles: ReadonlyMap<string, Row>): string | undefined {
  if (line.type !== 'session') return undefined
  const prompt = titles.get(line.group.session)
  return prompt === undefined ? undefined : promptText(prompt)
}

/** Follows the scroller, and keeps the visible lines where they are when lines above them appear or disappear. */
function useScroll(
  { layout, lines, scroller }: ListProps,
  setView: (next: (view: Viewport) => Viewport) => void,
): void {
  const shown = useRef({ lines, layout })
  useLayoutEffect(() => {
    const element = scroller.current
    if (element === null) return
    const before = shown.current
    shown.current = { lines, layout }
    if (before.layout === layout || kept.scrollTop <= 0) return
    const anchored = anchoredTop(before, { lines, layout }, kept.scrollTop)
    if (anchored !== kept.scrollTop) element.scrollTop = anchored
  }, [lines, layout])
  useLayoutEffect(() => {
    const element = scroller.current
    if (element === null) return undefined
    element.scrollTop = kept.scrollTop
    const update = () => {
      // On paper nothing scrolls.
      if (isPrinting.peek()) return
      kept.scrollTop = element.scrollTop
      const top = Math.round(element.scrollTop / STEP_PX) * STEP_PX
      const height = element.clientHeight
      setView((view) => (view.top === top && view.height === height ? view : { top, height }))
    }
    const resized = new ResizeObserver(update)
    resized.observe(element)
    element.addEventListener('scroll', update, { passive: true })
    update()
    return () => {
      resized.disconnect()
      element.removeEventListener('scroll', update)
    }
  }, [])
  useLayoutEffect(() => {
    const element = scroller.current
    if (element !== null && !isPrinting.value) element.scrollTop = kept.scrollTop
  }, [isPrinting.value])
}

type Shown = Pick<ListProps, 'lines' | 'layout'>

/** The scroll position that shows the first visible line, or the next one that still exists, where it was. */
function anchoredTop(before: Shown, after: Shown, top: number): number {
  const indexOf = new Map(after.lines.map(({ key }, at) => [key, at]))
  for (let at = lineAt(before.layout, top); at < before.lines.length; at += 1) {
    const found = indexOf.get(before.lines[at]?.key ?? '')
    if (found === undefined) continue
    return (after.layout.tops[found] ?? 0) + top - (before.layout.tops[at] ?? 0)
  }
  return top
}

function rowAround(target: EventTarget | null): HTMLElement | null {
  return target instanceof Element ? target.closest<HTMLElement>('[role=row][data-key]') : null
}

/** A click opens the checkpoint, or folds and unfolds; links and buttons in the row do what they say. */
function clickRow(event: MouseEvent, lines: readonly Line[]): void {
  const { target } = event
  if (event.defaultPrevented || !(target instanceof Element)) return
  const line = lines.find(({ key }) => key === rowAround(target)?.dataset['key'])
  if (line === undefined || line.type === 'day') return
  activeKey.value = line.key
  if (target.closest('a, button') !== null) return
  if (target.closest('[data-toggle]') !== null || line.type === 'session' || line.type === 'more')
    toggle(line)
  else if (window.getSelection()?.isCollapsed !== false) openLine(line)
}

export function openLine(line: Line): void {
  if (line.type === 'session' || line.type === 'more') toggle(line)
  else if (line.type !== 'day') navigate(addressOf(checkpointPath(line.row.id)))
}

export function toggle(line: Line): void {
  const isOpen = 'isOpen' in line && line.isOpen
  const fold = nextFold(line, isOpen ? 'closed' : 'open')
  if (fold !== undefined) setFold(fold)
}
