// Paths that cannot be read are listed, and the rest is captured.
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { CheckpointDetails } from '../../../src/index.js'
import { scratch } from '../../support/scratch.js'
import {
  capturedFiles,
  inChild,
  openProject,
  saved,
  waitForStableStamps,
  skippedFor,
} from './capture-helpers.js'

test('ignore files and .git that are pipes or folders do not block a save', async () => {
  await using s = await scratch({ files: { 'a/x.tmp': 'x', 'b/.gitignore/x': 'x', 'b/y': 'x' } })
  execFileSync('mkfifo', [join(s.project, 'a/.gitignore'), join(s.project, 'a/.savestateignore')])
  const { project } = await openProject(s)
  const details = await saved(project)
  expect(capturedFiles(s, details.ref)).toEqual(['a/x.tmp', 'b/.gitignore/x', 'b/y'])
  expect(skippedFor(details, 'special')).toEqual(['a/.gitignore', 'a/.savestateignore'])
})

test('unreadable files and folders are listed, and the rest is captured', async () => {
  await using s = await scratch({
    files: { open: 'x', 'sub/open': 'x', closed: 'x', 'locked/inside': 'x', 'listed/inside': 'x' },
  })
  chmodSync(join(s.project, 'closed'), 0)
  chmodSync(join(s.project, 'locked'), 0)
  chmodSync(join(s.project, 'listed'), 0o444)
  const answer = await inChild(
    s,
    `
    const first = await project.show((await project.save()).id)
    await new Promise((resolve) => setTimeout(resolve, 150))
    const again = await project.save()
    fs.chmodSync(path.join(scratch.project, 'closed'), 0o600)
    fs.chmodSync(path.join(scratch.project, 'locked'), 0o700)
    fs.chmodSync(path.join(scratch.project, 'listed'), 0o700)
    const opened = await project.show((await project.save()).id)
    return { first, again: again.created, opened }
    `,
    { asOrdinaryUser: true },
  )
  const { first, again, opened } = answer as {
    first: CheckpointDetails
    again: boolean
    opened: CheckpointDetails
  }
  expect(skippedFor(first, 'unreadable')).toEqual(['closed', 'listed/inside', 'locked'])
  expect(first.skippedByReason).toEqual({ unreadable: 3 })
  expect(capturedFiles(s, first.ref)).toEqual(['open', 'sub/open'])
  expect(again).toBe(false)
  expect(capturedFiles(s, opened.ref)).toEqual([
    'closed',
    'listed/inside',
    'locked/inside',
    'open',
    'sub/open',
  ])
  expect(opened.skippedByReason).toEqual({})
})

test('an unreadable part of .git does not stop a checkpoint', async () => {
  const closed = ['.git', '.git/HEAD', '.git/index', '.git/info', '.git/config', '.git/refs']
  await using s = await scratch()
  const folders = closed.map((_, i) => join(s.folder, `project-${i}`))
  for (const [i, part] of closed.entries()) {
    const nested = join(folders[i] ?? '', 'lib')
    s.write({ 'b.txt': 'x' }, nested)
    s.git(['init', '-q'], { cwd: nested })
    s.git(['add', 'b.txt'], { cwd: nested })
    s.git(['commit', '-q', '-m', 'x'], { cwd: nested })
    chmodSync(join(nested, part), 0)
  }
  const outcomes = await inChild(
    s,
    `
    const outcomes = []
    for (const folder of ${JSON.stringify(folders)}) {
      const other = await store.project(folder)
      outcomes.push(await other.save().then(
        async ({ id }) => (await other.show(id)).fileCount + ' captured',
        (error) => error.message,
      ))
    }
    return outcomes
    `,
    { asOrdinaryUser: true },
  )
  expect(Object.fromEntries(closed.map((part, i) => [part, (outcomes as string[])[i]]))).toEqual(
    Object.fromEntries(closed.map((part) => [part, '1 captured'])),
  )
})

test('an unreadable .git is listed once, as unreadable', async () => {
  await using s = await scratch({ files: { a: 'x', 'lib/b': 'x', 'open/c': 'x' } })
  for (const folder of ['.', 'lib', 'open']) s.git(['init', '-q', folder])
  for (const folder of ['.', 'lib']) chmodSync(join(s.project, folder, '.git'), 0)
  const details = (await inChild(s, 'return project.show((await project.save()).id)', {
    asOrdinaryUser: true,
  })) as CheckpointDetails
  expect(details.skippedPaths).toEqual([
    { path: '.git', reason: 'unreadable', sizeBytes: null },
    { path: 'lib/.git', reason: 'unreadable', sizeBytes: null },
    { path: 'open/.git', reason: 'vcs', sizeBytes: null },
  ])
  expect(details.skippedByReason).toEqual({ unreadable: 2, vcs: 1 })
})

test('an unreadable ignore file has no rules and is listed', async () => {
  await using s = await scratch({ files: { '.gitignore': '*.txt', 'a.txt': 'x' } })
  chmodSync(join(s.project, '.gitignore'), 0)
  const details = (await inChild(s, 'return project.show((await project.save()).id)', {
    asOrdinaryUser: true,
  })) as CheckpointDetails
  expect(capturedFiles(s, details.ref)).toEqual(['a.txt'])
  expect(details.skippedPaths).toEqual([
    { path: '.gitignore', reason: 'unreadable', sizeBytes: null },
  ])
})

test.each([
  ['garbage', (index: string) => writeFileSync(index, 'this is no index')],
  ['cut off', (index: string) => truncateSync(index, 40)],
  ['empty', (index: string) => truncateSync(index, 0)],
  [
    'a folder',
    (index: string) => {
      rmSync(index)
      mkdirSync(index)
    },
  ],
])('an index that is %s is listed in every checkpoint made with it', async (_, damage) => {
  await using s = await scratch({ files: { 'dist/a.js': 'x', 'b.txt': 'x' } })
  s.git(['init', '-q'])
  s.git(['add', '-f', '-A'])
  damage(join(s.project, '.git/index'))
  await waitForStableStamps()
  const { store, project } = await openProject(s)
  const first = await saved(project)
  expect(capturedFiles(s, first.ref)).toEqual(['b.txt'])
  expect(skippedFor(first, 'unreadable')).toEqual(['.git/index'])
  await waitForStableStamps()
  s.write({ 'b.txt': 'changed' })
  expect(skippedFor(await saved(project), 'unreadable')).toEqual(['.git/index'])
  await store.close()
  s.write({ 'b.txt': 'changed again' })
  const again = await openProject(s)
  expect(skippedFor(await saved(again.project), 'unreadable')).toEqual(['.git/index'])
})
