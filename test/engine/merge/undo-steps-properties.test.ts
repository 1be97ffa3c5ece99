// Undoing one of many random steps gives the folder in which that step never happened.
import fc from 'fast-check'
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type FileSpec, type Scratch, scratch } from '../../support/scratch.js'
import { tries } from '../../support/test-budget.js'

/** Changes of steps are in different regions of a file, so they are independent. */
const REGIONS = 6
const REGION_LINES = 8
const FILES = ['a.txt', 'deep/b.txt', '"c\\377.txt"'] as const

type Step =
  | { readonly type: 'lines'; readonly file: number; readonly at: number; readonly lines: number }
  | { readonly type: 'mode'; readonly file: number }
  | { readonly type: 'add' | 'link' | 'folder' | 'remove' }

const steps = fc
  .uniqueArray(
    fc.oneof(
      {
        weight: 4,
        arbitrary: fc.record({
          type: fc.constant('lines' as const),
          file: fc.nat(FILES.length - 1),
          at: fc.nat(REGIONS - 1),
          lines: fc.integer({ min: 0, max: 3 }),
        }),
      },
      {
        weight: 1,
        arbitrary: fc.record({ type: fc.constant('mode' as const), file: fc.nat(2) }),
      },
      {
        weight: 2,
        arbitrary: fc.record({
          type: fc.constantFrom(
            'add' as const,
            'link' as const,
            'folder' as const,
            'remove' as const,
          ),
        }),
      },
    ),
    {
      minLength: 2,
      maxLength: 8,
      // Two steps of one place depend on each other.
      selector: (step) => {
        if (step.type === 'lines') return `lines ${step.file} ${step.at}`
        return step.type === 'mode' ? `mode ${step.file}` : step.type
      },
    },
  )
  .chain((all) => fc.record({ all: fc.constant(all), undone: fc.nat(all.length - 1) }))

/** The folder after these steps; `undefined` for a step that does not happen. */
function folderAfter(all: readonly (Step | undefined)[]): Record<string, FileSpec> {
  const files: Record<string, FileSpec> = {}
  for (const [file, path] of FILES.entries()) {
    const regions = Array.from({ length: REGIONS }, (_, at) => {
      const step = all.find((it) => it?.type === 'lines' && it.file === file && it.at === at)
      const lines = Array.from({ length: REGION_LINES }, (_unused, line) => `${at}.${line}`)
      if (step?.type === 'lines')
        lines.splice(
          3,
          2,
          ...Array.from({ length: step.lines }, (_unused, line) => `new ${at} ${line}`),
        )
      return lines.join('\n')
    })
    const isChanged = all.some((it) => it?.type === 'mode' && it.file === file)
    files[path] = { content: `${regions.join('\n')}\n`, mode: isChanged ? 0o755 : 0o644 }
  }
  const has = (type: Step['type']) => all.some((it) => it?.type === type)
  if (has('add')) files['added/by/step.txt'] = 'added\n'
  if (has('link')) files['link'] = { link: 'nowhere' }
  if (has('folder')) files['empty/folder'] = { folder: 0o710 }
  if (!has('remove')) files['removed.bin'] = Buffer.from([0, 1, 2])
  return files
}

/** Writes the folder after these steps over the folder before them. */
function show(s: Scratch, before: Record<string, FileSpec>, after: Record<string, FileSpec>): void {
  const gone = Object.keys(before).filter((path) => !(path in after))
  s.write(Object.fromEntries(gone.map((path) => [path, null])))
  s.write(after)
}

test('undoing step k of n independent steps equals replaying the others', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async ({ all, undone }) => {
      await using s = await scratch({ files: folderAfter([]) })
      const project = await (await s.open()).project(s.project)
      await project.save()
      const ids: string[] = []
      for (const index of all.keys()) {
        show(s, folderAfter(all.slice(0, index)), folderAfter(all.slice(0, index + 1)))
        ids.push((await project.save()).id)
      }
      const before = s.snapshotOf()
      const { safety } = await project.undoSteps([ids[undone] ?? ''])
      const world = s.snapshotOf()
      await using other = await scratch({
        files: folderAfter(all.map((step, index) => (index === undone ? undefined : step))),
      })
      expect(world).toEqual(other.snapshotOf())
      await project.undo()
      expect(s.snapshotOf()).toEqual(before)
      await project.rewind(safety ?? '')
      expect(s.snapshotOf()).toEqual(before)
    }),
    { numRuns: tries(60, 8), seed: 24 },
  )
})

const lines = fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'e'), { maxLength: 8 })

test('dependent edits of a file: the result is the one of git merge-file, and nothing is lost', async () => {
  await using s = await scratch()
  const project = await (await s.open()).project(s.project)
  const versions = fc
    .tuple(lines, lines, lines)
    .filter(([a, b, c]) => a.join() !== b.join() && b.join() !== c.join())
  await fc.assert(
    fc.asyncProperty(versions, async ([theirs, base, ours]) => {
      const contents = { theirs, base, ours }
      let step = ''
      const folder = join(s.folder, 'versions')
      mkdirSync(folder, { recursive: true })
      for (const name of ['theirs', 'base', 'ours'] as const) {
        const text = contents[name].map((line) => `${line}\n`).join('')
        writeFileSync(join(folder, name), text)
        s.write({ 'a.txt': text })
        const { id } = await project.save()
        if (name === 'base') step = id
      }
      const before = s.snapshotOf()
      const merged = mergeFile(folder, step)
      const { plan } = await project.undoSteps([step], { dryRun: true })
      expect(plan.conflict.length).toBe(merged.conflicts > 0 ? 1 : 0)
      const { safety, applied } = await project.undoSteps([step], { conflict: 'markers' })
      expect(readFileSync(join(s.project, 'a.txt'), 'utf8')).toBe(merged.text)
      if (!applied) return
      await project.rewind(safety ?? '')
      expect(s.snapshotOf()).toEqual(before)
    }),
    { numRuns: tries(200, 25), seed: 24 },
  )
})

function mergeFile(folder: string, step: string): { text: string; conflicts: number } {
  const id = step.slice(0, 8)
  const labels = ['-L', 'now', '-L', `after ${id}`, '-L', `before ${id}`]
  try {
    const args = ['merge-file', '-p', ...labels, 'ours', 'base', 'theirs']
    return { text: execFileSync('git', args, { cwd: folder, encoding: 'utf8' }), conflicts: 0 }
  } catch (error) {
    const { status, stdout } = error as { status: number; stdout: string }
    return { text: stdout, conflicts: status }
  }
}
