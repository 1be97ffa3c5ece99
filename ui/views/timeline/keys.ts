// The keyboard of the timeline: moving, folding, and what can be done with the chosen row.
import { openDialog, openRestore } from '../../app/dialogs.js'
import { isFieldFocused, type Shortcut, useShortcuts } from '../../app/keys.js'
import {
  canUndoStep,
  project,
  replaceRow,
  restoreWord,
  rowOf,
  start,
  undoStepWord,
} from '../../app/model.js'
import { addressOf, checkpointPath, navigate } from '../../app/router.js'
import { call } from '../../app/transport.js'
import type { Row } from '../../../src/ui/api.js'
import { openLine, toggle, type ListProps } from './list.js'
import { type Line, lineAt, nextFold } from './lines.js'
import { activeKey, setFold } from './state.js'

type Shown = Pick<ListProps, 'lines' | 'layout' | 'scroller'>

export function useTimelineKeys(shown: Shown): void {
  const { lines } = shown
  const chosen = (): Line | undefined => lines.find(({ key }) => key === activeKey.peek())
  const withRow = (run: (row: Row) => void) => () => {
    const line = chosen()
    const row = line !== undefined && 'row' in line ? rowOf.peek().get(line.row.id) : undefined
    if (row !== undefined) run(row)
  }
  const on = (keys: readonly string[], label: string, run: () => void): readonly Shortcut[] =>
    keys.map((key) => ({ key, label, run }))
  const page = () => Math.max(1, (shown.scroller.current?.clientHeight ?? 0) - 60)
  const { isReadOnly = true, isExport = true } = start.value ?? {}
  const changing = [
    ...on(
      ['n'],
      'Name',
      withRow((row) => (openDialog.value = { dialog: 'name', ref: row.id })),
    ),
    ...on(
      ['p'],
      'Pin or unpin',
      withRow((row) => void togglePin(row)),
    ),
    ...on(
      ['f'],
      'Fork the session',
      withRow((row) => {
        if (row.session !== null) openDialog.value = { dialog: 'fork', ref: row.id }
      }),
    ),
  ]
  useShortcuts(
    [
      ...on(['j', 'ArrowDown'], 'Next row', () => move(shown, 1)),
      ...on(['k', 'ArrowUp'], 'Previous row', () => move(shown, -1)),
      ...on(['PageDown'], 'One screen down', () => moveBy(shown, page())),
      ...on(['PageUp'], 'One screen up', () => moveBy(shown, -page())),
      ...on(['Home'], 'First row', () => moveBy(shown, Number.NEGATIVE_INFINITY)),
      ...on(['End'], 'Last row', () => moveBy(shown, Number.POSITIVE_INFINITY)),
      ...on(['Enter'], 'Open the checkpoint', () => {
        const line = chosen()
        if (line !== undefined) openLine(line)
      }),
      ...on([' '], 'Fold or unfold', () => {
        const line = chosen()
        if (line !== undefined) toggle(line)
      }),
      ...on(['ArrowRight'], 'Unfold', () => {
        const line = chosen()
        const fold = line === undefined ? undefined : nextFold(line, 'open')
        if (fold !== undefined) setFold(fold)
      }),
      ...on(['ArrowLeft'], 'Fold, or to the prompt', () => {
        const line = chosen()
        const fold = line === undefined ? undefined : nextFold(line, 'closed')
        if (fold !== undefined) setFold(fold)
        else if (line !== undefined) moveToParent(shown, line)
      }),
      ...on(
        ['d'],
        'Compare with the folder now',
        withRow((row) => {
          navigate(addressOf(checkpointPath(row.id), { tab: 'since' }))
        }),
      ),
      // A read-only page shows the plan; an exported one has none.
      ...(isExport
        ? []
        : on(
            ['r'],
            restoreWord.peek(),
            withRow((row) => openRestore({ kind: 'rewind', ref: row.id })),
          )),
      ...(isExport
        ? []
        : on(
            ['U'],
            undoStepWord.peek(),
            withRow((row) => {
              if (canUndoStep(row)) openRestore({ kind: 'undoStep', ref: row.id })
            }),
          )),
      ...(isReadOnly ? [] : changing),
    ],
    [lines, shown.layout, isReadOnly, isExport],
  )
}

async function togglePin({ id, pinned }: Row): Promise<void> {
  replaceRow(await call('pin', { project: project.peek(), ref: id, pinned: !pinned }))
}

/** The next row in this direction; days are skipped. The first visible one if none was chosen. */
function move(shown: Shown, step: 1 | -1): void {
  const { lines, layout, scroller } = shown
  const chosen = lines.findIndex(({ key }) => key === activeKey.peek())
  const start = chosen >= 0 ? chosen + step : lineAt(layout, scroller.current?.scrollTop ?? 0)
  for (let at = start; at >= 0 && at < lines.length; at += step)
    if (lines[at]?.type !== 'day') return choose(shown, at)
}

function moveBy(shown: Shown, distance: number): void {
  const { lines, layout } = shown
  const chosen = Math.max(
    0,
    lines.findIndex(({ key }) => key === activeKey.peek()),
  )
  const wanted = lineAt(layout, (layout.tops[chosen] ?? 0) + distance)
  const isDay = lines[wanted]?.type === 'day'
  choose(shown, isDay ? Math.min(wanted + 1, lines.length - 1) : wanted)
}

function moveToParent(shown: Shown, line: Line): void {
  if (line.type === 'day') return
  const at = shown.lines.indexOf(line)
  const parent = shown.lines
    .slice(0, at)
    .findLastIndex((other) => other.type !== 'day' && other.level < line.level)
  if (parent >= 0) choose(shown, parent)
}

function choose({ lines, layout, scroller }: Shown, at: number): void {
  const line = lines[at]
  if (line === undefined) return
  activeKey.value = line.key
  reveal(scroller.current, { top: layout.tops[at] ?? 0, bottom: layout.tops[at + 1] ?? 0 })
  focusChosen()
}

const MARGIN_PX = 28

function reveal(
  scroller: HTMLElement | null,
  { top, bottom }: { readonly top: number; readonly bottom: number },
): void {
  if (scroller === null) return
  const { scrollTop, clientHeight } = scroller
  if (top - MARGIN_PX < scrollTop) scroller.scrollTop = top - MARGIN_PX
  else if (bottom + MARGIN_PX > scrollTop + clientHeight)
    scroller.scrollTop = bottom + MARGIN_PX - clientHeight
}

/** Not while the user types. The row may not be in the document before the next drawing. */
export function focusChosen(): void {
  window.requestAnimationFrame(() => {
    const key = activeKey.peek()
    if (key === undefined || isFieldFocused()) return
    const row = document.querySelector<HTMLElement>(`[role=row][data-key="${CSS.escape(key)}"]`)
    row?.focus({ preventScroll: true })
  })
}
