// The list of a conversation's items, of which only the visible ones are in the document. An item that is not loaded yet has the
// height that it had last, or an estimate.
import { defaultRangeExtractor } from '@tanstack/virtual-core'
import type { VNode } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { isFieldFocused, useShortcuts } from '../../app/keys.js'
import { navigate, addressOf, checkpointPath } from '../../app/router.js'
import { openRestore } from '../../app/dialogs.js'
import { start } from '../../app/model.js'
import { isPrinting } from '../../app/printing.js'
import { ErrorMessage } from '../../components/states.js'
import { count } from '../../components/text.js'
import { useVirtualizer } from '../../components/virtual-list.js'
import { CheckpointLines } from './checkpoint-lines.js'
import type { ConversationData } from './conversation-data.js'
import { ItemContent } from './item.js'
import { nearestCheckpoint, type PageCheckpoint, type Prompt } from './session-page.js'

const ESTIMATE = 96
const OVERSCAN = 5
/** Loaded before they are visible, in both directions. */
const AHEAD = 40
const AT_END = 48

export type FeedProps = {
  readonly data: ConversationData
  readonly agent: string
  readonly positions: ReadonlyMap<number, readonly PageCheckpoint[]>
  readonly prompts: readonly Prompt[]
  /** The items that are visible first; the end if undefined. */
  readonly startAt: number | undefined
  readonly onTop: (index: number) => void
  /** Gives the function that shows an item. */
  readonly onReady: (jump: (index: number) => Promise<void>) => void
}

export function Feed(props: FeedProps): VNode {
  const { data, positions, prompts, startAt, onTop } = props
  const version = data.version.value
  const { total } = data
  const scroller = useRef<HTMLDivElement>(null)
  const [cursor, setCursor] = useState<number>()
  const [seen, setSeen] = useState(total)
  // On paper positions and heights are others, so the list does not follow them meanwhile.
  const isOnPaper = isPrinting.value
  const virtualizer = useVirtualizer({
    enabled: !isOnPaper,
    // The last row is the end of the conversation.
    count: total + 1,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => (data.isHidden(index) ? 0 : ESTIMATE),
    overscan: OVERSCAN,
    anchorTo: 'end',
    followOnAppend: true,
    scrollEndThreshold: AT_END,
    rangeExtractor: (range) => {
      const indexes = defaultRangeExtractor(range).filter((index) => !data.isHidden(index))
      // The focused item stays in the document.
      if (cursor === undefined || cursor > total || indexes.includes(cursor)) return indexes
      return [...indexes, cursor].sort((one, other) => one - other)
    },
  })
  const rows = isOnPaper ? printedRows(data) : virtualizer.getVirtualItems()
  const { startIndex = 0, endIndex = 0 } = virtualizer.range ?? {}
  const top = virtualizer.getVirtualItemForOffset((virtualizer.scrollOffset ?? 0) + 24)?.index ?? 0
  const isAtEnd = virtualizer.scrollElement === null || virtualizer.isAtEnd(AT_END)

  useEffect(() => {
    if (!isOnPaper) void data.ensure(startIndex - AHEAD, endIndex + AHEAD)
  }, [startIndex, endIndex, total, data.reveal])
  useEffect(() => {
    if (!isOnPaper) onTop(top)
  }, [top])
  useEffect(() => {
    if (isAtEnd && !isOnPaper) setSeen(total)
  }, [isAtEnd, total])
  // From the end to the start: the position of an item depends on those before it.
  useLayoutEffect(() => {
    for (let index = total - 1; index >= 0; index -= 1) {
      const size = virtualizer.measurementsCache[index]?.size
      const isHidden = data.isHidden(index)
      if (isHidden && size !== 0) virtualizer.resizeItem(index, 0)
      else if (!isHidden && size === 0) virtualizer.resizeItem(index, ESTIMATE)
    }
  }, [version])

  // Where the last key or click led. The list loads and scrolls later, and the next key may come before that.
  const target = useRef<number | undefined>(undefined)
  const jump = async (index: number): Promise<void> => {
    target.current = index
    await data.ensure(index - AHEAD / 4, index + AHEAD)
    if (target.current !== index) return
    let shown = index
    while (shown < total && data.isHidden(shown)) shown += 1
    target.current = shown
    setCursor(shown)
    virtualizer.scrollToIndex(shown, { align: 'start' })
  }
  useLayoutEffect(() => {
    if (startAt === undefined) virtualizer.scrollToEnd()
    else void jump(startAt)
    props.onReady(jump)
  }, [data])
  useLayoutEffect(() => {
    if (cursor !== undefined) focusItem(scroller.current, cursor)
  }, [cursor])

  const onScreen = useRef({ top, isAtEnd })
  const wasOnPaper = useRef(false)
  useLayoutEffect(() => {
    const before = onScreen.current
    if (wasOnPaper.current && !isOnPaper)
      if (before.isAtEnd) virtualizer.scrollToEnd()
      else virtualizer.scrollToIndex(before.top, { align: 'start' })
    wasOnPaper.current = isOnPaper
  }, [isOnPaper])
  // After the effect above, which needs the place from before the print.
  useLayoutEffect(() => {
    if (!isOnPaper) onScreen.current = { top, isAtEnd }
  })

  const isCursorVisible = cursor !== undefined && cursor >= startIndex && cursor <= endIndex
  useLayoutEffect(() => {
    if (isCursorVisible && cursor === target.current) target.current = undefined
  })
  /** Where the user is: the focused item if it is visible. */
  const from = (): number => target.current ?? (isCursorVisible ? cursor : top)
  const move = (step: 1 | -1): void => {
    let next = from() + step
    while (next >= 0 && next < total && data.isHidden(next)) next += step
    if (next < 0 || next > total) return
    target.current = next
    setCursor(next)
    const { start: at = 0, end = 0 } = virtualizer.measurementsCache[next] ?? {}
    const offset = virtualizer.scrollOffset ?? 0
    const height = virtualizer.scrollRect?.height ?? 0
    if (at < offset || end > offset + height) virtualizer.scrollToIndex(next, { align: 'start' })
  }
  const movePrompt = (step: 1 | -1): void => {
    const here = from()
    const next =
      step === 1 ? prompts.find(({ at }) => at > here) : prompts.findLast(({ at }) => at < here)
    if (next !== undefined) void jump(next.at)
  }
  const withNearest = (act: (checkpoint: PageCheckpoint) => void): void => {
    const found = nearestCheckpoint(positions, from())
    if (found !== undefined) act(found)
  }
  // A read-only page shows the plan; an exported one has none.
  const hasPlans = start.value?.isExport === false
  const isReadOnly = start.value?.isReadOnly === true
  useShortcuts(
    [
      { key: 'j', label: 'Next item', run: () => move(1) },
      { key: 'k', label: 'Previous item', run: () => move(-1) },
      { key: 'J', label: 'Next prompt', run: () => movePrompt(1) },
      { key: 'K', label: 'Previous prompt', run: () => movePrompt(-1) },
      {
        key: 'o',
        label: 'Open the nearest checkpoint',
        run: () => withNearest(({ id }) => navigate(addressOf(checkpointPath(id)))),
      },
      ...(hasPlans
        ? [
            {
              key: 'r',
              label: isReadOnly
                ? 'Show plan for the nearest checkpoint'
                : 'Restore the nearest checkpoint …',
              run: () => withNearest(({ id }) => openRestore({ kind: 'rewind', ref: id })),
            },
          ]
        : []),
    ],
    [cursor, top, total, positions, startIndex, endIndex, hasPlans, isReadOnly],
  )

  /** The checkpoints before an item, and those before hidden items between it and the one above. */
  const checkpointsBefore = (index: number): readonly PageCheckpoint[] => {
    let at = index
    const found = [...(positions.get(at) ?? [])]
    while (at > 0 && data.isHidden(at - 1)) {
      at -= 1
      found.unshift(...(positions.get(at) ?? []))
    }
    return found
  }

  return (
    <div class="feed-frame">
      {data.error.value === undefined ? null : <ErrorMessage error={data.error.value} />}
      <div
        ref={scroller}
        class="feed"
        role="feed"
        aria-label="Conversation"
        aria-busy={rows.some(({ index }) => index < total && data.item(index) === undefined)}
        tabIndex={0}
        onKeyDown={(event) => {
          if (event.key !== 'PageDown' && event.key !== 'PageUp') return
          event.preventDefault()
          move(event.key === 'PageDown' ? 1 : -1)
        }}
      >
        <div class="feed-content" style={{ height: `${virtualizer.getTotalSize()}px` }}>
          {rows.map(({ index, start: offset, size }) => {
            const item = data.item(index)
            const isEnd = index === total
            const isLoaded = isEnd || item !== undefined
            return (
              <article
                key={index}
                // Its height counts only when it is loaded: a placeholder has the height of the list's estimate.
                ref={isLoaded && !isOnPaper ? virtualizer.measureElement : null}
                class="feed-item"
                data-index={index}
                data-item={isEnd ? undefined : index}
                data-end={isEnd ? '' : undefined}
                data-current={index === cursor ? '' : undefined}
                data-nested={item === undefined || item.subagent === null ? undefined : ''}
                tabIndex={-1}
                aria-posinset={index + 1}
                aria-setsize={total + 1}
                aria-label={isEnd ? 'End of the conversation' : `Item ${index + 1}`}
                style={{
                  transform: `translateY(${offset}px)`,
                  ...(isLoaded ? {} : { height: `${size}px` }),
                }}
                onFocus={() => {
                  if (index !== cursor) target.current = undefined
                  setCursor(index)
                }}
              >
                <CheckpointLines checkpoints={checkpointsBefore(index)} data={data} />
                {item === undefined ? null : (
                  <ItemContent data={data} item={item} agent={props.agent} />
                )}
                {isLoaded ? null : <p class="placeholder">…</p>}
                {isEnd ? <p class="feed-end">End of the conversation</p> : null}
              </article>
            )
          })}
        </div>
      </div>
      {isOnPaper ? <PrintNote data={data} /> : null}
      {seen < total && !isAtEnd ? (
        <button
          type="button"
          class="button new-messages"
          data-kind="primary"
          onClick={() => virtualizer.scrollToEnd()}
        >
          ↓ new messages
        </button>
      ) : null}
    </div>
  )
}

/** On paper the list has all items that are loaded. Their positions do not matter there. */
function printedRows(
  data: ConversationData,
): readonly { readonly index: number; readonly start: number; readonly size: number }[] {
  const rows = Array.from({ length: data.total + 1 }, (_, index) => ({ index, start: 0, size: 0 }))
  return rows.filter(
    ({ index }) =>
      index === data.total || (data.item(index) !== undefined && !data.isHidden(index)),
  )
}

function PrintNote({ data }: { readonly data: ConversationData }): VNode | null {
  let missing = 0
  for (let index = 0; index < data.total; index += 1)
    if (data.item(index) === undefined) missing += 1
  if (missing === 0) return null
  return (
    <p class="print-note">
      {count(missing, 'item')} of {data.total.toLocaleString('en')} are not printed: the page loads
      items when they are scrolled to.
    </p>
  )
}

/** Not if the focus is in the item already, or in a field outside of the list. */
function focusItem(scroller: HTMLElement | null, index: number): void {
  const item = scroller?.querySelector<HTMLElement>(`[data-index="${index}"]`)
  const { activeElement } = document
  if (item === null || item === undefined || item.contains(activeElement)) return
  if (isFieldFocused()) return
  item.focus({ preventScroll: true })
}
