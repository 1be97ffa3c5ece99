// How the changes of a file are shown and split for `rewind --patch`.
import { expect, test } from 'vitest'
import { choiceOf, itemsOf, split } from '../../../src/cli/rewind/hunk-items.js'
import type { FilePatch } from '../../../src/index.js'

const PATCH: FilePatch = {
  path: 'a.txt',
  kind: 'text',
  mark: 'm',
  sizeBefore: 1,
  sizeAfter: 1,
  modeBefore: '0644',
  modeAfter: '0644',
  insertions: 3,
  deletions: 2,
  hunks: [
    {
      oldStart: 1,
      oldLines: 4,
      newStart: 1,
      newLines: 5,
      heading: '',
      lines: [' same', '-one', '-two', '+ONE', '+TWO', '+THREE', ' same', '+last', '\\ No newline'],
    },
  ],
}

const HEAD = '@@ -1,5 +1,4 @@'

test('a change is shown as it would be done, removed lines first', () => {
  expect(itemsOf(PATCH)).toEqual([
    {
      hunk: 0,
      shown: [
        HEAD,
        ' same',
        '-ONE',
        '-TWO',
        '-THREE',
        '+one',
        '+two',
        ' same',
        '-last',
        '\\ No newline',
      ],
    },
  ])
})

test('a part of a hunk shows the other changes as they stay', () => {
  const [item] = itemsOf(PATCH)
  const parts = item === undefined ? undefined : split(item, PATCH)
  expect(parts).toEqual([
    {
      hunk: 0,
      lines: [1, 2, 3, 4, 5],
      shown: [
        HEAD,
        ' same',
        '-ONE',
        '-TWO',
        '-THREE',
        '+one',
        '+two',
        ' same',
        ' last',
        '\\ No newline',
      ],
    },
    {
      hunk: 0,
      lines: [7],
      shown: [HEAD, ' same', ' ONE', ' TWO', ' THREE', ' same', '-last', '\\ No newline'],
    },
  ])
  const [first] = parts ?? []
  expect(first && split(first, PATCH)).toBeUndefined()
  expect(choiceOf([{ ...first, hunk: 0, shown: [], isTaken: true }], PATCH)).toEqual({
    path: 'a.txt',
    mark: 'm',
    hunks: [{ hunk: 0, lines: [1, 2, 3, 4, 5] }],
  })
})
