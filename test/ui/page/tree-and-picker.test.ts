// The visible rows of a folder tree, and the checkpoints that a picker offers.
import { expect, test } from 'vitest'
import type { Output, Row } from '../../../src/ui/api.js'
import { languageOf, TOKEN_CLASSES, tokenClass } from '../../../ui/highlight/token-classes.js'
import { foldersAbove, parentPath, visibleNodes } from '../../../ui/views/checkpoint/tree.js'
import { matchRows } from '../../../ui/views/compare/match-rows.js'

type Listing = Output<'folder'>

function listing(
  entries: readonly (readonly [string, 'file' | 'folder'])[],
  skipped: Listing['skipped'] = [],
): Listing {
  return {
    checkpoint: 'c',
    path: '',
    entries: entries.map(([name, type]) => ({ name, type, sizeBytes: null, mode: null })),
    skipped,
  }
}

const LISTINGS = new Map([
  [
    '',
    listing(
      [
        ['src', 'folder'],
        ['a.txt', 'file'],
      ],
      [{ name: '.env', reason: 'secret', sizeBytes: 9 }],
    ),
  ],
  [
    'src',
    listing([
      ['ui', 'folder'],
      ['main.ts', 'file'],
    ]),
  ],
  ['src/ui', listing([['page.ts', 'file']])],
])
const show = (open: readonly string[]) =>
  visibleNodes(LISTINGS, new Set(open)).map(({ path, level, isOpen }) => [path, level, isOpen])

test('closed folders hide what is in them; skipped entries come last', () => {
  expect(show([])).toEqual([
    ['src', 1, false],
    ['a.txt', 1, false],
    ['.env', 1, false],
  ])
  expect(show(['src'])).toEqual([
    ['src', 1, true],
    ['src/ui', 2, false],
    ['src/main.ts', 2, false],
    ['a.txt', 1, false],
    ['.env', 1, false],
  ])
})

test('a folder inside a closed one is not visible; one that is not loaded is empty', () => {
  expect(show(['src/ui']).map(([path]) => path)).toEqual(['src', 'a.txt', '.env'])
  expect(visibleNodes(new Map(), new Set())).toEqual([])
})

test('the folders above a path', () => {
  expect(foldersAbove('a/b/c.txt')).toEqual(['a', 'a/b'])
  expect(foldersAbove('c.txt')).toEqual([])
  expect([parentPath('a/b'), parentPath('a')]).toEqual(['a', ''])
})

const row = (id: string, fields: Partial<Row>): Row =>
  ({ id, reason: null, name: null, hasFiles: true, ...fields }) as Row

test('a picker finds all words in reason, name and id, and offers named checkpoints first', () => {
  const rows = [
    row('bbbb', { reason: 'Edit login.ts' }),
    row('cccc', { reason: 'You: add a Login', name: 'release' }),
    row('dddd', { reason: 'Bash: login', hasFiles: false }),
    row('eeee', { reason: 'Step', session: 'Task-2', sessionAgent: 'codex' }),
  ]
  const find = (words: string) => matchRows(rows, words).map(({ id }) => id)
  expect(find('')).toEqual(['cccc', 'bbbb', 'eeee'])
  expect(find('login')).toEqual(['cccc', 'bbbb'])
  expect(find('login edit')).toEqual(['bbbb'])
  expect(find('RELEASE')).toEqual(['cccc'])
  expect(find('bbb')).toEqual(['bbbb'])
  expect(find('task-2 codex')).toEqual(['eeee'])
  expect(find('none')).toEqual([])
})

test('kinds of tokens have one of a few classes, by their first word', () => {
  const classOf = (name: string) => TOKEN_CLASSES[tokenClass(name)]
  expect(
    ['keyword.control', 'string', 'constructor', 'property', 'property.json_key', 'none'].map(
      classOf,
    ),
  ).toEqual(['keyword', 'string', 'type', 'plain', 'type', 'plain'])
})

test('the language of a file follows from its name', () => {
  expect(
    ['src/a.ts', 'Dockerfile', 'a/Makefile', 'x.tar.gz', 'README', '.bashrc'].map(languageOf),
  ).toEqual(['ts', 'dockerfile', 'makefile', 'gz', '', 'bash'])
})
