// Files that git tracks are captured in spite of ignore rules.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { scratch } from '../../support/scratch.js'
import {
  capturedFiles,
  openProject,
  saved,
  waitForStableStamps,
  skippedFor,
} from './capture-helpers.js'

test('tracked files are captured in spite of ignore rules and excludes', async () => {
  const tracked = {
    'dist/bundle.js': 'x',
    'out/deep/er/page.html': 'x',
    'server.log': 'x',
    '.env': 'SECRET=1',
    'ignored.txt': 'x',
    'a.txt': 'x',
  }
  await using s = await scratch({ files: { ...tracked, '.gitignore': 'ignored.txt\n' } })
  s.git(['init', '-q'])
  s.git(['add', '-f', '-A'])
  s.write({ 'dist/new.js': 'x', 'out/deep/other': 'x', 'client.log': 'x', 'dist/sub/y': 'x' })
  const { project } = await openProject(s)
  const details = await saved(project)
  expect(capturedFiles(s, details.ref)).toEqual(['.gitignore', ...Object.keys(tracked)].sort())
  expect(skippedFor(details, 'ignored')).toEqual([
    'client.log',
    'dist/new.js',
    'dist/sub',
    'out/deep/other',
  ])
})

test('the index of a nested repository decides its tracked files', async () => {
  await using s = await scratch({
    files: {
      'lib/dist/index.js': 'x',
      'lib/dist/other.js': 'x',
      'lib/debug.log': 'x',
      'a.log': 'x',
    },
  })
  s.git(['init', '-q'])
  s.git(['init', '-q', 'lib'])
  s.git(['-C', 'lib', 'add', '-f', 'dist/index.js', 'debug.log'])
  const { project } = await openProject(s)
  const { ref } = await saved(project)
  expect(capturedFiles(s, ref)).toEqual(['lib/debug.log', 'lib/dist/index.js'])
})

test('a project inside a repository captures the files that this repository tracks', async () => {
  await using s = await scratch({ files: { 'dist/a.js': 'x', 'dist/b.js': 'x', 'x.skip': 'x' } })
  writeFileSync(join(s.folder, '.gitignore'), '*.skip\n')
  const git = (...args: string[]) => s.git(args, { cwd: s.folder })
  git('init', '-q')
  git('add', '-f', 'project/dist/a.js')
  const { project } = await openProject(s)
  const details = await saved(project)
  expect(capturedFiles(s, details.ref)).toEqual(['dist/a.js'])
  expect(skippedFor(details, 'ignored')).toEqual(['dist/b.js', 'x.skip'])
})

test('a change of the index alone changes what is captured', async () => {
  await using s = await scratch({ files: { 'dist/a.js': 'x', 'sub/b.log': 'x', 'c.txt': 'x' } })
  s.git(['init', '-q'])
  s.git(['add', 'c.txt'])
  const { store, project } = await openProject(s)
  const files = async () => capturedFiles(s, (await saved(project)).ref)
  expect(await files()).toEqual(['c.txt'])
  await waitForStableStamps()
  s.git(['add', '-f', 'dist/a.js'])
  expect(await files()).toEqual(['c.txt', 'dist/a.js'])
  s.git(['add', '-f', 'sub/b.log'])
  expect(await files()).toEqual(['c.txt', 'dist/a.js', 'sub/b.log'])
  await waitForStableStamps()
  s.git(['rm', '-q', '--cached', 'dist/a.js'])
  expect(await files()).toEqual(['c.txt', 'sub/b.log'])
  s.git(['rm', '-q', '--cached', 'sub/b.log', 'c.txt'])
  expect(await files()).toEqual(['c.txt'])
  // The same with the stat cache of another process.
  await store.close()
  s.git(['add', '-f', 'sub/b.log'])
  const again = await openProject(s)
  expect(capturedFiles(s, (await saved(again.project)).ref)).toEqual(['c.txt', 'sub/b.log'])
})

test('after git rm --cached, a rewind does not delete or overwrite the file', async () => {
  await using s = await scratch({ files: { 'dist/a.js': 'one', 'b.txt': 'x' } })
  s.git(['init', '-q'])
  const { project } = await openProject(s)
  const without = await project.save()
  s.git(['add', '-f', 'dist/a.js'])
  const withIt = await saved(project)
  expect(capturedFiles(s, withIt.ref)).toEqual(['b.txt', 'dist/a.js'])
  const before = s.snapshotOf(s.project, { except: ['.git'] })
  await project.rewind(without.id)
  expect(s.snapshotOf(s.project, { except: ['.git'] })).toEqual(before)
})
