// Compares the diffstat with git's, and covers names that git cuts wrongly.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { statText, UNCUT_WIDTH } from '../../../src/cli/render/diff-text.js'
import { widthOf } from '../../../src/cli/terminal/text-width.js'

const paint = (_color: unknown, text: string) => text

test('names of plain letters are laid out as git does it', () => {
  const folder = mkdtempSync(join(tmpdir(), 'savestate-stat-'))
  try {
    const files: Record<string, [before: string, after: string]> = {
      'a.txt': ['one\n', 'two\n'],
      'src/long/folder/name.ts': ['x\n'.repeat(3), 'y\n'.repeat(300)],
      'gone.txt': ['1\n'.repeat(40), ''],
      empty: ['x', ''],
      binary: ['\0one', '\0three'],
      'with | bar': ['1\n', '1\n2\n'],
    }
    for (const [name, texts] of Object.entries(files))
      for (const [at, side] of ['old', 'new'].entries()) {
        mkdirSync(dirname(join(folder, side, name)), { recursive: true })
        writeFileSync(join(folder, side, name), texts[at] ?? '')
      }
    const git = (...args: string[]) => execFileSync('git', args, { cwd: folder, encoding: 'utf8' })
    git('init', '-q', '.')
    const tree = (side: string) => {
      git(`--work-tree=${side}`, 'add', '-A')
      return git('write-tree').trim()
    }
    const trees = [tree('old'), tree('new')]
    const stat = (width: number) => git('diff', `--stat=${width}`, ...trees)
    for (const width of [50, 60, 80, 120, 500])
      expect(statText(stat(UNCUT_WIDTH), { width, paint })).toBe(stat(width).replace(/ +$/gm, ''))
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('names are cut between characters, and the bars are aligned', () => {
  const stat = [
    ` ${'日本語'.repeat(12)}.txt | 2 +-`,
    ' <U+202E>rtl | 300 ++++++++++++++++++++++++++++++++++++++++++++++++++++++++++++',
    ' a.bin | Bin 0 -> 5 bytes',
    ' 3 files changed, 301 insertions(+), 1 deletion(-)',
  ].join('\n')
  for (const width of [30, 40, 61, 80]) {
    const rows = statText(stat, { width, paint }).split('\n').slice(0, 3)
    expect(new Set(rows.map((row) => widthOf(row.slice(0, row.lastIndexOf(' | '))))).size).toBe(1)
    expect(rows.slice(0, 2).filter((row) => widthOf(row) > width)).toEqual([])
    expect(rows[0]).toMatch(/^ …?[日本語]+\.txt +\| +2 \+-$/)
  }
})
