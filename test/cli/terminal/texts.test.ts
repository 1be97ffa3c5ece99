// The parts of the command line that need no process.
import { expect, test } from 'vitest'
import { parse as parseYaml } from 'yaml'
import { askYesNo } from '../../../src/cli/runtime/confirm.js'
import { paintPatch } from '../../../src/cli/render/diff-text.js'
import { formatBytes, formatCount, formatNumber } from '../../../src/cli/terminal/format-numbers.js'
import { nearest } from '../../../src/base/index.js'
import { pagerFrom } from '../../../src/cli/terminal/pager.js'
import { paintFor, wantsColor } from '../../../src/cli/terminal/colors.js'
import { parse } from '../../../src/cli/args/parse.js'
import { planCounts, planText } from '../../../src/cli/render/plan-text.js'
import {
  displayJson,
  displayPath,
  printable,
  printableLines,
} from '../../../src/cli/terminal/escape.js'
import { progressBar, progressText } from '../../../src/cli/terminal/progress-bar.js'
import { projectPath } from '../../../src/cli/runtime/path-arguments.js'
import { bytesOfArgument, decodeArgument } from '../../../src/cli/args/argv-bytes.js'
import { relativeTime } from '../../../src/cli/terminal/relative-time.js'
import { openScreen } from '../../../src/cli/terminal/screen.js'
import { paintId } from '../../../src/cli/terminal/short-id.js'
import { COMMAND_NAMES } from '../../../src/cli/args/commands-table.js'
import { cutEnd, cutStart, padEnd, widthOf } from '../../../src/cli/terminal/text-width.js'
import { wrapMessage } from '../../../src/cli/terminal/wrap.js'
import { formatYaml } from '../../../src/yaml/index.js'
import { quoteText } from '../../../src/mcp/text.js'

const plain = (_: string, text: string) => text

test('times are relative, or dates', () => {
  const now = new Date(2026, 4, 10, 12, 0, 0)
  const ago = (ms: number) => relativeTime(new Date(now.getTime() - ms).toISOString(), now)
  const [minute, hour, day] = [60_000, 3_600_000, 86_400_000]
  expect([0, 4999, 5000, 59_999, minute, 59 * minute, hour, 23 * hour].map(ago)).toEqual([
    'just now',
    'just now',
    '5 s ago',
    '59 s ago',
    '1 min ago',
    '59 min ago',
    '1 h ago',
    '23 h ago',
  ])
  expect([day, 35 * hour, 2 * day, 6 * day, 7 * day].map(ago)).toEqual([
    'yesterday',
    'yesterday',
    '2 days ago',
    '6 days ago',
    '2026-05-03',
  ])
  expect(ago(-30_000)).toBe('just now')
  expect(ago(-2 * hour)).toBe('2026-05-10 14:00:00')
})

test('numbers are grouped and counted', () => {
  expect([0, 999, 1000, 1234567].map(formatNumber)).toEqual(['0', '999', '1,000', '1,234,567'])
  expect([formatCount(1, 'file'), formatCount(2, 'file')]).toEqual(['1 file', '2 files'])
  expect([0, 1, 999, 1000, 1500, 99_960, 999_600, 3e9].map(formatBytes)).toEqual([
    '0 bytes',
    '1 byte',
    '999 bytes',
    '1.0 KB',
    '1.5 KB',
    '100 KB',
    '1.0 MB',
    '3.0 GB',
  ])
})

test('wide characters take two columns, marks none', () => {
  expect(['abc', '文件', 'e\u0301', '🚀', 'ー', 'ﾊ'].map(widthOf)).toEqual([3, 4, 1, 2, 2, 1])
  expect(cutEnd('文件很长', 5)).toBe('文件…')
  expect(cutEnd('文件很长', 8)).toBe('文件很长')
  expect(cutEnd('a long text', 7)).toBe('a long…')
  expect(cutStart('/a/long/path', 6)).toBe('…/path')
  expect(padEnd('文', 4)).toBe('文  ')
})

test('with colors an id has 8 letters, the prefix to type highlighted; without them the prefix alone', () => {
  const row = { id: 'bcdfghjklmnpqrstvw', shortId: 'bcdf' }
  expect(paintId(row, paintFor(true))).toBe('\u001b[33mbcdf\u001b[0m\u001b[2mghjk\u001b[0m')
  expect(paintId(row, paintFor(false))).toBe('bcdf')
  expect(paintId({ ...row, shortId: row.id }, paintFor(true))).toBe(`\u001b[33m${row.id}\u001b[0m`)
})

test('a typo gets the nearest command, another word gets none', () => {
  const near = (word: string) => nearest(word, COMMAND_NAMES)
  expect(['lsit', 'rewnd', 'stauts', 'SAVE', 'frobnicate'].map(near)).toEqual([
    'list',
    'rewind',
    'status',
    'save',
    undefined,
  ])
})

test('a terminal message breaks between words, and never inside a command', () => {
  const text = [
    'Hooks were added. They take effect the next time you start the agent.',
    'See it with: savestate show abcdefgh --session fix',
    'Run `savestate verify --quick` and so on',
    '  an indented line that is longer than the terminal is wide',
    'Usage: savestate save [-m TEXT] [--name NAME]',
    'short',
  ].join('\n')
  expect(wrapMessage(text, 30).split('\n')).toEqual([
    'Hooks were added. They take',
    'effect the next time you start',
    'the agent.',
    'See it with:',
    'savestate show abcdefgh --session fix',
    'Run `savestate verify --quick`',
    'and so on',
    '  an indented line that is longer than the terminal is wide',
    'Usage: savestate save',
    '       [-m TEXT] [--name NAME]',
    'short',
  ])
  expect(wrapMessage('Store:   /tmp/store, 1.0 MB on disk\nDaemon:  no', 23)).toBe(
    'Store:   /tmp/store,\n         1.0 MB on disk\nDaemon:  no',
  )
  expect(wrapMessage(text, Infinity)).toBe(text)
  expect(wrapMessage('\u001b[2mabc def\u001b[22m', 7)).toBe('\u001b[2mabc def\u001b[22m')
  const written: string[] = []
  const stderr = { isTTY: true, columns: 20, write: (part: string) => written.push(part) }
  openScreen({ stdout: stderr, stderr, env: {} }).note('words that go beyond the edge')
  expect(written).toEqual(['words that go beyond\nthe edge\n'])
})

test('text that acts on a terminal is escaped', () => {
  const hostile = 'a\u001b]0;x\u0007\u009b31m\u202eb\r\n\t\ud800\u2028'
  // biome-ignore format: one expression
  const acting = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u202e\ud800]/
  expect(printable(hostile)).toBe('a\\x1b]0;x\\x07\\x9b31m\\u{202e}b\\r\\n\\t\\u{d800}\\u{2028}')
  expect(printableLines(hostile)).toBe('a^[]0;x^G<U+009B>31m<U+202E>b^M\n\t<U+D800><U+2028>')
  expect(printable('a\u200bb\u2060')).toBe('a\\u{200b}b\\u{2060}')
  expect(displayJson({ hostile })).not.toMatch(acting)
  expect(JSON.parse(displayJson({ hostile }))).toEqual({ hostile })
  expect(displayPath('a\u001b[31m\n')).toBe('"a\\033[31m\\n"')
  expect([displayPath(''), displayPath('"\\377"'), displayPath('ä b')]).toEqual([
    '.',
    '"\\377"',
    'ä b',
  ])
})

test('invisible characters are shown by their numbers, on a terminal and to a model', async () => {
  const tags = '\u{e0074}\u{e0061}\u{e0067}'
  const hidden = `a${tags}\u00adb\u034f\u115f\u180e\u3164\uffa0\u{e0100}`
  const shown =
    'a\\u{e0074}\\u{e0061}\\u{e0067}\\xadb\\u{034f}\\u{115f}\\u{180e}\\u{3164}\\u{ffa0}\\u{e0100}'
  expect(printable(hidden)).toBe(shown)
  expect(quoteText(hidden)).toMatch(/^[\x20-\x7e]+$/)
  expect(JSON.parse(quoteText(hidden))).toBe(hidden)
  expect(JSON.parse(displayJson({ hidden }))).toEqual({ hidden })
  const yaml = formatYaml({ hidden })
  expect(yaml).toMatch(/^[\x20-\x7e\n]+$/)
  expect(parseYaml(yaml)).toEqual({ hidden })
  // Ordinary text stays as it is.
  for (const text of ['❤️‍🔥 👩‍💻', 'می‌خواهم', 'ä文🚀'])
    expect([printable(text), quoteText(text)]).toEqual([text, `"${text}"`])
})

test('an argument keeps every byte', () => {
  const every = Array.from({ length: 255 }, (_, at) => String.fromCharCode(at + 1)).join('')
  const utf8 = Buffer.from('ä文🚀\ufffd', 'utf8').toString('latin1')
  for (const text of [every, utf8, '\xed\xa0\x80', '\xc0\xaf', '\xf5\x80', 'a\xe4\xb8']) {
    expect(bytesOfArgument(decodeArgument(text))).toBe(text)
  }
  expect(decodeArgument(utf8)).toBe('ä文🚀\ufffd')
})

test('a path becomes one of the project, or is refused', () => {
  const place = { root: '/no/project', folder: '/no/project/src' }
  const path = (text: string) => projectPath(text, place)
  expect(['a.txt', '../b', './x/../y/', '/no/project/c', '..', 'ä'].map(path)).toEqual([
    'src/a.txt',
    'b',
    'src/y',
    'c',
    '.',
    'src/ä',
  ])
  expect([path('"a\\nb"'), path('./"a"'), path('"a'), path('\udcff')]).toEqual([
    'src/a\nb',
    'src/"a"',
    'src/"a',
    '"src/\\377"',
  ])
  for (const text of ['../..', '/etc/passwd', '../../project2/x', '/no/projectile', '', '""']) {
    expect(() => path(text)).toThrow(expect.objectContaining({ code: 'BAD_INPUT' }))
  }
})

test('arguments are parsed in any order, and faults are reported', () => {
  const seen = parse(['-C', 'dir', 'diff', '--stat', '1', '2', '--', '-x', '--json'])
  expect([seen.command, seen.options.text('C'), seen.positionals, seen.paths, seen.fault]).toEqual([
    'diff',
    'dir',
    ['1', '2'],
    ['-x', '--json'],
    undefined,
  ])
  expect(parse(['save', '-m', '- a dash', '-C', 'x']).options.text('message')).toBe('- a dash')
  expect(parse(['rewind', '1', '--path', 'a', '--path=b']).options.texts('path')).toEqual([
    'a',
    'b',
  ])
  const faultOf = (...words: string[]) => parse(words).fault
  expect([
    faultOf('lsit'),
    faultOf('list', '--limt', '3'),
    faultOf('list', '--limit', '0'),
    faultOf('list', '--limit'),
    faultOf('save', '-m', '--json'),
    faultOf('list', '--all=yes'),
    faultOf('show'),
    faultOf('show', '1', '2'),
    faultOf('diff', '1', '2', 'src'),
    faultOf('list', '--C', 'x'),
  ]).toEqual([
    'There is no command "lsit"; did you mean `list`?',
    'There is no option "--limt"; did you mean --limit?',
    '--limit takes a whole number of 1 or more, not "0"',
    '--limit needs a value',
    '-m needs a value',
    '--all takes no value',
    '<ref> is missing',
    'Unexpected argument "2"',
    'Unexpected argument "src"; paths go after --',
    'There is no option "--C"',
  ])
})

test('a plan is shown in groups of at most 20 paths', () => {
  const write = Array.from({ length: 22 }, (_, at) => ({
    path: `f${String(at).padStart(2, '0')}`,
    reason: 'file is missing',
    type: 'file' as const,
    change: 'added' as const,
  }))
  const plan = {
    write,
    remove: [],
    keep: [{ path: 'k\u001b', reason: 'not captured' }],
    conflict: [],
  }
  const lines = planText(plan, plain).split('\n')
  expect([lines[0], lines[1], lines[21], ...lines.slice(22)]).toEqual([
    'Will be written (22 files):',
    '  + f00  (file is missing)',
    '  … and 2 more',
    'Stays as it is (1):',
    '  "k\\033"  (not captured)',
  ])
  expect(planCounts(plan)).toBe('22 files written, 1 kept')
})

test('plan and result have the same counts, path order, and marks for created, changed and removed paths', () => {
  const item = (
    path: string,
    change: 'added' | 'modified' | 'removed',
    type: 'file' | 'folder',
  ) => ({
    path,
    change,
    type,
  })
  const plan = {
    write: [
      item('z', 'modified', 'file'),
      item('new', 'added', 'folder'),
      item('new/a', 'added', 'file'),
    ],
    remove: [
      item('old/b', 'removed', 'file'),
      item('old/a', 'removed', 'file'),
      item('empty', 'removed', 'folder'),
    ],
    keep: [],
    conflict: [],
  }
  expect(planText(plan, plain)).toBe(
    [
      'Will be written (2 files):',
      '  + new/a',
      '  ~ z',
      'Will be removed (2 files and 1 folder):',
      '  - empty',
      '  - old/a',
      '  - old/b',
    ].join('\n'),
  )
  expect(planCounts(plan)).toBe('2 files written, 2 files and 1 folder removed')
})

test('a folder is counted with its files, not beside them', () => {
  const remove = ['src', 'src/a', 'src/b', 'src-2', '"x\\377"', '"x\\377/y"']
  const plan = { write: [], remove: remove.map((path) => ({ path })), keep: [], conflict: [] }
  expect(planCounts(plan)).toBe('4 files removed')
})

test('only yes counts as yes, and the plan comes before the question', async () => {
  const answerTo = async (answer: string | undefined) => {
    const seen: string[] = []
    const agreed = await askYesNo('the plan', {
      question: 'Go back?',
      prompter: {
        isTerminal: true,
        show: (text) => void seen.push(text),
        view: async (text) => void seen.push(text),
        ask: async (question) => {
          seen.push(question)
          return answer
        },
      },
    })
    expect(seen).toEqual(['the plan', 'Go back? [y/N] '])
    return agreed
  }
  const answers = ['y', 'Y', ' yes ', 'YES', '', 'n', 'no', 'yeah', undefined]
  const agreed = []
  for (const answer of answers) agreed.push(await answerTo(answer))
  expect(agreed).toEqual([true, true, true, true, false, false, false, false, false])
})

test('without a terminal a question is an error', async () => {
  const prompter = {
    isTerminal: false,
    show: () => undefined,
    view: async () => undefined,
    ask: async () => 'y',
  }
  await expect(askYesNo('', { question: 'Go back?', prompter })).rejects.toMatchObject({
    code: 'CONFIRMATION_NEEDED',
  })
})

test('colors are used only on terminals that support them', () => {
  const wants = (isTTY: boolean, environment: NodeJS.ProcessEnv) =>
    wantsColor({ isTTY }, environment)
  expect([
    wants(true, {}),
    wants(false, {}),
    wants(true, { NO_COLOR: '1' }),
    wants(true, { NO_COLOR: '' }),
    wants(true, { TERM: 'dumb' }),
    wants(false, { FORCE_COLOR: '1' }),
    wants(true, { FORCE_COLOR: '0' }),
  ]).toEqual([true, false, false, true, false, true, false])
})

test('the pager is the first one chosen', () => {
  expect([
    pagerFrom({ SAVESTATE_PAGER: 'a', GIT_PAGER: 'b', PAGER: 'c' }),
    pagerFrom({ GIT_PAGER: ' b -x ', PAGER: 'c' }),
    pagerFrom({ PAGER: '' }),
    pagerFrom({}),
  ]).toEqual(['a', 'b -x', '', undefined])
})

test('lines of a patch get their color by their first character only within a hunk', () => {
  const patch = 'diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@ f\n--- sql\n+++ c\n same'
  expect(paintPatch(patch, (color, text) => `${color}:${text}`).split('\n')).toEqual([
    'bold:diff --git a/x b/x',
    'bold:--- a/x',
    'bold:+++ b/x',
    'cyan:@@ -1 +1 @@ f',
    'red:--- sql',
    'green:+++ c',
    ' same',
  ])
})

test('progress shows files and bytes, only on a terminal, and only after the first second', () => {
  expect(progressText({ phase: 'scan', files: 1200, bytes: 0, of: 1200 })).toBe(
    'Scanning the folder: 1,200 files',
  )
  expect(progressText({ phase: 'store', files: 50, bytes: 2e6, of: 100 })).toBe(
    `${'█'.repeat(12)}${'░'.repeat(12)} 50 of 100 files, 2.0 MB`,
  )
  expect(progressText({ phase: 'import', files: 3, bytes: 0, of: 4 })).toBe(
    `${'█'.repeat(18)}${'░'.repeat(6)} 3 of 4 checkpoints`,
  )
  for (const isTTY of [true, false]) {
    const written: string[] = []
    const bar = progressBar({ stderr: { isTTY, write: (text) => written.push(text) }, env: {} })
    bar.update({ phase: 'scan', files: 1, bytes: 0, of: 1 })
    bar.erase()
    expect(written).toEqual([])
  }
})
