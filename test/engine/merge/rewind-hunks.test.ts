// A rewind of chosen hunks and lines: the result is exactly what `git apply` makes of them.
import { execFileSync } from 'node:child_process'
import fc from 'fast-check'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { HunkSelection, PatchHunk, Project } from '../../../src/index.js'
import {
  type FileSpec,
  type Scratch,
  scratchWithThreads as scratch,
} from '../../support/scratch.js'
import { tries } from '../../support/test-budget.js'

const word = fc.constantFrom('a', 'b', 'c', 'd', 'é', '')
const text = fc
  .tuple(fc.array(word, { minLength: 1, maxLength: 25 }), fc.boolean())
  .map(([lines, isEnded]) => lines.join('\n') + (isEnded ? '\n' : ''))
/** Some lines of a text are changed, removed or added. */
const versions = text.chain((older) =>
  fc
    .array(fc.tuple(fc.nat(24), fc.nat(2), fc.array(word, { maxLength: 2 })), { maxLength: 5 })
    .map((edits) => {
      const lines = older.split('\n')
      for (const [at, removed, added] of edits) lines.splice(at, removed, ...added)
      return { older, newer: lines.join('\n') }
    }),
)
const picks = fc.array(fc.boolean(), { minLength: 40, maxLength: 40 })

const read = (s: Scratch, path: string) => readFileSync(join(s.project, path), 'latin1')

async function saved(s: Scratch, before: FileSpec, after: FileSpec): Promise<[Project, string]> {
  const project = await (await s.open()).project(s.project)
  s.write({ 'a.txt': before })
  const { id } = await project.save()
  s.write({ 'a.txt': after })
  return [project, id]
}

/** The newer text after git has applied these hunks, each from the newer to the older side. */
function applied(s: Scratch, newer: string, hunks: readonly PatchHunk[]): string {
  const folder = join(s.folder, 'apply')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'a.txt'), newer)
  const changing = hunks.filter(({ lines }) => lines.some((line) => /^[+-]/.test(line)))
  if (changing.length === 0) return newer
  let shift = 0
  const body = changing.map(({ newStart, newLines, lines }) => {
    const reversed = lines.map((line) =>
      line.replace(/^[+-]/, (sign) => (sign === '+' ? '-' : '+')),
    )
    const after = reversed.filter((line) => /^[ +]/.test(line)).length
    const start = newStart + shift + (newLines === 0 ? 1 : 0) - (after === 0 ? 1 : 0)
    shift += after - newLines
    return `@@ -${newStart},${newLines} +${start},${after} @@\n${reversed.join('\n')}\n`
  })
  const input = `--- a/a.txt\n+++ b/a.txt\n${body.join('')}`
  const args = ['apply', '--unidiff-zero', '--whitespace=nowarn', '-']
  execFileSync('git', args, { cwd: folder, input })
  return readFileSync(join(folder, 'a.txt'), 'utf8')
}

/** Without the changes that are not chosen: added lines stay, and removed lines are not mentioned. */
function limited(hunk: PatchHunk, isChosen: (line: number) => boolean): PatchHunk {
  const lines = hunk.lines.flatMap((line, index) => {
    if (line.startsWith(' ') || isChosen(index)) return [line]
    return line.startsWith('+') ? [` ${line.slice(1)}`] : []
  })
  return { ...hunk, lines }
}

test('chosen hunks: the result is the one of git apply, and an undo brings the rest back', async () => {
  await using s = await scratch()
  await fc.assert(
    fc.asyncProperty(versions, picks, fc.nat(3), async ({ older, newer }, pick, context) => {
      const [project, id] = await saved(s, older, newer)
      const { hunks, mark, kind } = await project.patch(id, { path: 'a.txt', context })
      if (kind === 'unchanged') return
      const chosen = hunks.filter((_, index) => pick[index])
      const numbers = hunks.flatMap((_, index) => (pick[index] ? [index] : []))
      const wanted = applied(s, newer, chosen)
      const choice = { path: 'a.txt', mark, context, hunks: numbers }
      const { applied: isApplied } = await project.rewind(id, { hunks: [choice] })
      expect(Buffer.from(read(s, 'a.txt'), 'latin1').toString('utf8')).toBe(wanted)
      expect(numbers.length < hunks.length || wanted === older).toBe(true)
      if (!isApplied) return
      await project.undo()
      expect(Buffer.from(read(s, 'a.txt'), 'latin1').toString('utf8')).toBe(newer)
    }),
    { numRuns: tries(120, 20), seed: 24 },
  )
})

test('chosen lines: the result is the one of git apply', async () => {
  await using s = await scratch()
  const ended = versions.map(({ older, newer }) => ({ older: `${older}\n`, newer: `${newer}\n` }))
  await fc.assert(
    fc.asyncProperty(ended, picks, async ({ older, newer }, pick) => {
      const [project, id] = await saved(s, older, newer)
      const { hunks, mark, kind } = await project.patch(id, { path: 'a.txt' })
      if (kind === 'unchanged') return
      const isChosen = (line: number) => pick[line] === true
      const selections: HunkSelection[] = hunks.map(({ lines }, hunk) => ({
        hunk,
        lines: lines.flatMap((line, index) =>
          isChosen(index) && !line.startsWith(' ') ? [index] : [],
        ),
      }))
      const wanted = applied(
        s,
        newer,
        hunks.map((hunk) => limited(hunk, isChosen)),
      )
      await project.rewind(id, { hunks: [{ path: 'a.txt', mark, hunks: selections }] })
      expect(Buffer.from(read(s, 'a.txt'), 'latin1').toString('utf8')).toBe(wanted)
    }),
    { numRuns: tries(120, 20), seed: 24 },
  )
})

test('bytes that are not UTF-8 stay, and so do the permissions', async () => {
  await using s = await scratch()
  const bytes = (text: string) => Buffer.from(text, 'latin1')
  const rest = '\xff\n'.repeat(9)
  const [project, id] = await saved(
    s,
    { content: bytes(`one\n${rest}two\n`), mode: 0o644 },
    { content: bytes(`ONE\n${rest}TWO\n`), mode: 0o600 },
  )
  const patch = async () => (await project.patch(id, { path: 'a.txt' })).mark
  await project.rewind(id, { hunks: [{ path: 'a.txt', mark: await patch(), hunks: [0] }] })
  expect(read(s, 'a.txt')).toBe(`one\n${rest}TWO\n`)
  expect(s.snapshotOf().get('a.txt')?.mode).toBe(0o600)
  await project.rewind(id, { hunks: [{ path: 'a.txt', mark: await patch(), hunks: 'all' }] })
  expect(read(s, 'a.txt')).toBe(`one\n${rest}two\n`)
  expect(s.snapshotOf().get('a.txt')?.mode).toBe(0o644)
})

test('added and removed files, links and binary files', async () => {
  await using s = await scratch({
    files: {
      'gone.txt': { content: '1\n2\n3\n', mode: 0o640 },
      part: '1\n2\n3\n',
      link: { link: 'here' },
      bin: Buffer.from([0]),
    },
  })
  const project = await (await s.open()).project(s.project)
  const { id } = await project.save()
  s.write({ 'gone.txt': null, part: null, link: null, bin: Buffer.from([0, 1]) })
  s.write({ 'new.txt': '1\n', 'more.txt': '1\n2\n', link: { link: 'there' }, untouched: 'later' })
  const choose = async (path: string, hunks: 'all' | readonly HunkSelection[]) => {
    const { mark } = await project.patch(id, { path })
    return { path, mark, hunks }
  }
  await project.rewind(id, {
    hunks: [
      await choose('gone.txt', [0]),
      await choose('part', [{ hunk: 0, lines: [0, 2] }]),
      await choose('new.txt', [0]),
      await choose('more.txt', [{ hunk: 0, lines: [1] }]),
      await choose('link', 'all'),
      await choose('bin', 'all'),
    ],
  })
  expect(read(s, 'gone.txt')).toBe('1\n2\n3\n')
  expect(s.snapshotOf().get('gone.txt')?.mode).toBe(0o640)
  expect(read(s, 'part')).toBe('1\n3\n')
  expect(read(s, 'more.txt')).toBe('1\n')
  expect(s.snapshotOf().get('link')?.content).toBe('here')
  expect([...s.snapshotOf().keys()].sort()).toEqual(
    ['', 'bin', 'gone.txt', 'link', 'more.txt', 'part', 'untouched'].sort(),
  )
})

test('choices that make no sense, and files that have changed since', async () => {
  await using s = await scratch()
  const [project, id] = await saved(s, '1\n2\n', '1\n3\n')
  s.write({ folder: { folder: 0o755 } })
  const { mark } = await project.patch(id, { path: 'a.txt' })
  const one = { path: 'a.txt', mark, hunks: [0] }
  const code = async (...hunks: object[]) =>
    project.rewind(id, { hunks: hunks as never }).then(
      () => 'done',
      (error: { code: string }) => error.code,
    )
  const before = s.snapshotOf()
  expect(await code({ ...one, hunks: [1] })).toBe('BAD_INPUT')
  expect(await code({ ...one, hunks: [{ hunk: 0, lines: [0] }] })).toBe('BAD_INPUT')
  expect(await code({ ...one, hunks: 'some' })).toBe('BAD_INPUT')
  expect(await code(one, one)).toBe('BAD_INPUT')
  expect(await code({ ...one, path: '../a.txt' })).toBe('BAD_INPUT')
  expect(await code({ ...one, path: 'missing' })).toBe('BAD_INPUT')
  expect(await code({ ...one, context: 0 })).toBe('PLAN_STALE')
  await expect(project.rewind(id, { hunks: [one], paths: ['a.txt'] })).rejects.toMatchObject({
    code: 'BAD_INPUT',
  })
  expect(s.snapshotOf()).toEqual(before)
  s.write({ 'a.txt': '1\n4\n' })
  expect(await code(one)).toBe('PLAN_STALE')
  expect(read(s, 'a.txt')).toBe('1\n4\n')
})
