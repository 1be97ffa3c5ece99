// `project.diff` with `previous`, and `project.patch`: one file of a comparison, as hunks.
import { expect, test } from 'vitest'
import { DatabaseSync } from '../../support/own-sqlite.js'
import { join } from 'node:path'
import { rmSync } from 'node:fs'
import { type Scratch, scratch } from '../../support/scratch.js'
import type { FilePatch } from '../../../src/index.js'

const LINES = Array.from({ length: 20 }, (_, index) => `line ${index + 1}`)

async function saveBoth(s: Scratch, before: Parameters<Scratch['write']>[0], after: typeof before) {
  s.write(before)
  const project = await (await s.open()).project(s.project)
  const first = await project.save()
  s.write(after)
  const second = await project.save()
  return { project, first: first.id, second: second.id }
}

const textOf = ({ hunks }: FilePatch) =>
  hunks.map(({ lines, ...head }) => [
    `-${head.oldStart},${head.oldLines} +${head.newStart},${head.newLines} ${head.heading}`.trim(),
    ...lines,
  ])

test('diff with previous compares with the checkpoint before, and with nothing for the first', async () => {
  await using s = await scratch()
  const { project, first, second } = await saveBoth(
    s,
    { 'a.txt': 'one\n', 'b.txt': 'b\n' },
    { 'a.txt': 'two\n', 'b.txt': null },
  )
  s.write({ 'a.txt': 'three\n' })
  const changed = await project.diff(second, { previous: true })
  expect(changed).toMatchObject({ from: first, to: second, files: 2, insertions: 1, deletions: 2 })
  expect(changed.changes.map(({ path, change, author }) => [path, change, author])).toEqual([
    ['a.txt', 'modified', 'you'],
    ['b.txt', 'removed', 'you'],
  ])
  expect(changed.patch).toContain('-one\n+two\n')
  expect(changed.patch).not.toContain('three')

  const whole = await project.diff(first, { previous: true })
  expect(whole).toMatchObject({ from: null, to: first, files: 2, insertions: 2, deletions: 0 })
  expect(whole.changes.map(({ path, change, author }) => [path, change, author])).toEqual([
    ['a.txt', 'added', 'you'],
    ['b.txt', 'added', 'you'],
  ])
  expect(whole.patch).toContain('+one\n')
  const { changes } = await project.show(second)
  expect(changed.changes).toEqual(changes.map((change) => ({ ...change, author: 'you' })))
})

test('diff and patch refuse `to` together with `previous`', async () => {
  await using s = await scratch()
  const { project, first, second } = await saveBoth(s, { a: '1' }, { a: '2' })
  const both = { to: first, previous: true }
  const refused = { code: 'BAD_INPUT', message: expect.stringContaining('not both') }
  await expect(project.diff(second, both)).rejects.toMatchObject(refused)
  await expect(project.patch(second, { ...both, path: 'a' })).rejects.toMatchObject(refused)
})

test('a patch has the hunks of git, with the requested context', async () => {
  await using s = await scratch()
  const changed = LINES.map((line) => (line === 'line 5' || line === 'line 15' ? 'other' : line))
  const { project, first, second } = await saveBoth(
    s,
    { 'a.txt': `${LINES.join('\n')}\n` },
    { 'a.txt': { content: changed.join('\n'), mode: 0o755 } },
  )
  const patch = await project.patch(second, { path: 'a.txt', previous: true, context: 1 })
  expect({ ...patch, hunks: [] }).toEqual({
    path: 'a.txt',
    kind: 'text',
    mark: expect.stringMatching(/^[0-9a-f]{64}$/),
    sizeBefore: LINES.join('\n').length + 1,
    sizeAfter: changed.join('\n').length,
    modeBefore: '0644',
    modeAfter: '0755',
    insertions: 3,
    deletions: 3,
    hunks: [],
  })
  expect(textOf(patch)).toEqual([
    ['-4,3 +4,3 line 3', ' line 4', '-line 5', '+other', ' line 6'],
    ['-14,3 +14,3 line 13', ' line 14', '-line 15', '+other', ' line 16'],
    ['-19,2 +19,2 line 18', ' line 19', '-line 20', '+line 20', '\\ No newline at end of file'],
  ])
  const whole = await project.patch(first, { path: 'a.txt', to: second, context: 100_000 })
  expect(whole.hunks.map(({ oldLines, newLines }) => [oldLines, newLines])).toEqual([[20, 20]])
  const none = await project.patch(first, { path: 'a.txt', to: second, context: 0 })
  expect(none.hunks.map(({ oldLines }) => oldLines)).toEqual([1, 1, 1])
  for (const context of [-1, 100_001, 0.5])
    await expect(project.patch(first, { path: 'a.txt', context })).rejects.toMatchObject({
      code: 'BAD_INPUT',
    })
})

test('the hunks are those of the patch that git prints, whatever the lines look like', async () => {
  await using s = await scratch()
  const { project, second } = await saveBoth(
    s,
    { 'a.txt': '-- a\n@@ -1 +1 @@\n\n\r\n++ b\nBinary files a and b differ\n\n' },
    { 'a.txt': '-- b\n@@ -1 +1 @@\n\n++ c\nBinary files a and b differ\n\n' },
  )
  const { hunks } = await project.patch(second, { path: 'a.txt', previous: true })
  const { patch } = await project.diff(second, { previous: true })
  const lines = patch?.split('\n') ?? []
  const start = lines.findIndex((line) => line.startsWith('@@ '))
  expect(hunks.flatMap((hunk) => hunk.lines)).toEqual(lines.slice(start + 1, -1))
})

test('an added and a removed file are one hunk each, and an empty one has none', async () => {
  await using s = await scratch()
  const { project, second } = await saveBoth(
    s,
    { 'old.txt': 'a\nb' },
    { 'old.txt': null, 'new.txt': 'c\n', 'empty.txt': '' },
  )
  const patchOf = (path: string) => project.patch(second, { path, previous: true })
  expect(await patchOf('new.txt')).toEqual({
    path: 'new.txt',
    kind: 'text',
    mark: expect.stringMatching(/^[0-9a-f]{64}$/),
    sizeBefore: null,
    sizeAfter: 2,
    modeBefore: null,
    modeAfter: '0644',
    insertions: 1,
    deletions: 0,
    hunks: [{ oldStart: 0, oldLines: 0, newStart: 1, newLines: 1, heading: '', lines: ['+c'] }],
  })
  expect(textOf(await patchOf('old.txt'))).toEqual([
    ['-1,2 +0,0', '-a', '-b', '\\ No newline at end of file'],
  ])
  expect(await patchOf('empty.txt')).toMatchObject({ kind: 'text', sizeAfter: 0, hunks: [] })
})

test('links, folders, binary and equal files have kinds of their own', async () => {
  await using s = await scratch()
  const { project, first, second } = await saveBoth(
    s,
    {
      link: { link: 'a' },
      'dir/x': '1',
      'bin.dat': Buffer.from([1, 0, 2]),
      'same.txt': 'x',
      'was-file': 'text\n',
    },
    {
      link: { link: 'b' },
      'bin.dat': Buffer.from([1, 0, 3]),
      'new.bin': Buffer.from([0]),
      'same.txt': { content: 'x', mode: 0o600 },
      'was-file': null,
      'was-file/inner': '2',
    },
  )
  const patchOf = (path: string) => project.patch(first, { path, to: second })
  expect(await patchOf('link')).toMatchObject({
    kind: 'link',
    modeBefore: null,
    insertions: 1,
    deletions: 1,
    hunks: [{ lines: expect.arrayContaining(['-a', '+b']) }],
  })
  const nothing = { insertions: null, deletions: null, hunks: [] }
  expect(await patchOf('dir')).toMatchObject({ kind: 'folder', sizeBefore: null, ...nothing })
  expect(await patchOf('bin.dat')).toMatchObject({ kind: 'binary', sizeBefore: 3, ...nothing })
  expect(await patchOf('new.bin')).toMatchObject({ kind: 'binary', sizeAfter: 1, ...nothing })
  expect(await patchOf('same.txt')).toMatchObject({
    kind: 'unchanged',
    modeBefore: '0644',
    modeAfter: '0600',
    hunks: [],
  })
  expect(await patchOf('was-file')).toMatchObject({
    kind: 'text',
    mark: expect.stringMatching(/^[0-9a-f]{64}$/),
    sizeAfter: null,
    hunks: [{ lines: ['-text'] }],
  })
})

test('a patch of more than 10 MB is not returned', async () => {
  await using s = await scratch()
  const wide = (sign: string) => `${sign.repeat(99)}\n`.repeat(60_000)
  const { project, second } = await saveBoth(
    s,
    { 'both.txt': wide('a'), '.savestate.json': '{"maxFileMb": 50}' },
    { 'both.txt': wide('b'), 'new.txt': wide('c') + wide('d') },
  )
  const expected = { kind: 'large', insertions: null, deletions: null, hunks: [] }
  for (const path of ['both.txt', 'new.txt'])
    expect(await project.patch(second, { path, previous: true })).toMatchObject(expected)
})

test('without an other end the folder is scanned; with one it may be gone', async () => {
  await using s = await scratch()
  const { project, first, second } = await saveBoth(s, { a: '1\n' }, { a: '2\n' })
  s.write({ a: '3\n' })
  expect(textOf(await project.patch(first, { path: 'a' }))).toEqual([['-1,1 +1,1', '-1', '+3']])
  rmSync(s.project, { recursive: true })
  expect(textOf(await project.patch(second, { path: 'a', previous: true }))).toEqual([
    ['-1,1 +1,1', '-1', '+2'],
  ])
  s.write({ a: '2\n' })
})

test('a path that no side has, or that is outside of the project, is refused', async () => {
  await using s = await scratch()
  const { project, second } = await saveBoth(s, { a: '1' }, { a: '2' })
  for (const path of ['missing', 'a/b', '../a', ''])
    await expect(project.patch(second, { path, previous: true })).rejects.toMatchObject({
      code: 'BAD_INPUT',
    })
})

test('a path that is no UTF-8 is compared exactly', async () => {
  await using s = await scratch()
  const { project, second } = await saveBoth(
    s,
    { '"\\377"': '1\n', '"\\376"': 'x\n' },
    { '"\\377"': '2\n', '"\\376"': 'y\n' },
  )
  const patch = await project.patch(second, { path: '"\\377"', previous: true })
  expect([patch.path, textOf(patch)]).toEqual(['"\\377"', [['-1,1 +1,1', '-1', '+2']]])
})

test('a lost file is reported, and other files of the checkpoint can still be compared', async () => {
  await using s = await scratch()
  const { project, second } = await saveBoth(s, { a: '1', b: '1' }, { a: '2', b: '2' })
  const ledger = new DatabaseSync(join(s.home, 'ledger.db'))
  const lost = { paths: ['a'], fileCount: 1, isUnknown: false, state: null, isStateLost: false }
  ledger.prepare('UPDATE checkpoints SET damage = ? WHERE id = ?').run(JSON.stringify(lost), second)
  ledger.close()
  await expect(project.patch(second, { path: 'a', previous: true })).rejects.toMatchObject({
    code: 'CHECKPOINT_DAMAGED',
  })
  expect(await project.patch(second, { path: 'b', previous: true })).toMatchObject({ kind: 'text' })
})

test.each(['\r', '\u2028', '\u2029'])(
  'a heading may contain the line separator %j',
  async (separator) => {
    await using s = await scratch()
    const textWith = (end: string) =>
      [`head${separator}ing()`, ...LINES.map((line) => ` ${line}`), end, ''].join('\n')
    const { project, second } = await saveBoth(s, { a: textWith('old') }, { a: textWith('new') })
    const patch = await project.patch(second, { path: 'a', previous: true, context: 0 })
    expect(patch).toMatchObject({ kind: 'text', insertions: 1, deletions: 1 })
    expect(patch.hunks.map(({ heading, lines }) => [heading, lines])).toEqual([
      [`head${separator}ing()`, ['-old', '+new']],
    ])
  },
)
