// `savestate compare`: two attempts, and what differs between them.
import type { AttemptView, CompareResult } from '../../index.js'
import { COLOR_OF, formatChange, listedChanges } from './change-lines.js'
import { testMark } from './test-mark.js'
import { displayPath, printableLine } from '../terminal/escape.js'
import { formatCount, formatLines, formatNumber, limitLines } from '../terminal/format-numbers.js'
import type { Screen } from '../terminal/screen.js'
import { textTable } from '../terminal/table.js'
import { padEnd } from '../terminal/text-width.js'

const MAX_CHANGES = 50

/** `names`: as the user typed them. */
export function comparisonText(
  { a, b, changes, ...totals }: CompareResult,
  { names, screen }: { readonly names: readonly [string, string]; readonly screen: Screen },
): string {
  const rows = [
    { name: names[0], attempt: a },
    { name: names[1], attempt: b },
  ]
  const table = textTable(rows, {
    screen,
    columns: [
      { cell: ({ name }) => printableLine(name), color: 'yellow' },
      { cell: ({ attempt }) => formatCount(attempt.files, 'file'), isNumber: true },
      { cell: ({ attempt }) => formatLines(attempt), isNumber: true },
      { cell: ({ attempt }) => testsText(attempt) },
      { cell: ({ attempt }) => tokensText(attempt) },
    ],
    last: ({ attempt }) =>
      screen.paint('dim', attempt.path === null ? '' : displayPath(attempt.path)),
  })
  if (changes.length === 0) return `${table}\nThe files are the same.`
  const lines = listedChanges(changes).map(
    (view) =>
      `  ${screen.paint(COLOR_OF[view.change], padEnd(view.change, 8))} ${formatChange(view)}`,
  )
  const difference = `From the first to the second: ${formatCount(totals.files, 'file')} ${formatLines(totals)}`
  return [table, difference, ...limitLines(lines, MAX_CHANGES)].join('\n')
}

function testsText({ tests }: AttemptView): string {
  return tests === null ? 'no tests seen' : `${testMark(tests)} tests ${tests}`
}

function tokensText({ tokens }: AttemptView): string {
  return tokens === null ? '' : `${formatNumber(tokens)} tokens`
}
