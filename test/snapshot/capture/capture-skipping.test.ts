// Paths that are skipped for their size or type, and how a checkpoint lists them.
import { execFileSync } from 'node:child_process'
import { existsSync, truncateSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
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

test('a file over the limit is listed with its size, and its neighbors are captured', async () => {
  await using s = await scratch({ files: { small: 'x', 'sub/exact': 'y'.repeat(1000) } })
  writeFileSync(join(s.project, 'sub/large'), 'z'.repeat(1001))
  const { project } = await openProject(s, { limits: { maxFileBytes: 1000 } })
  const details = await saved(project)
  expect(capturedFiles(s, details.ref)).toEqual(['small', 'sub/exact'])
  expect(details.skippedPaths).toEqual([
    { path: 'sub/large', reason: 'too-large', sizeBytes: 1001 },
  ])
  // It shrinks without a change of its folder.
  await waitForStableStamps()
  truncateSync(join(s.project, 'sub/large'), 1000)
  expect(capturedFiles(s, (await saved(project)).ref)).toContain('sub/large')
  await waitForStableStamps()
  truncateSync(join(s.project, 'sub/large'), 1001)
  const grown = await saved(project)
  expect([capturedFiles(s, grown.ref), grown.skippedByReason]).toEqual([
    ['small', 'sub/exact'],
    { 'too-large': 1 },
  ])
})

test('the default limit is 10 MB, and a new limit applies to the next save', async () => {
  await using s = await scratch({ files: { 'exactly-10mb': '', 'over-10mb': '' } })
  const limit = 10 * 1024 * 1024
  truncateSync(join(s.project, 'exactly-10mb'), limit)
  truncateSync(join(s.project, 'over-10mb'), limit + 1)
  const first = await openProject(s)
  const details = await saved(first.project)
  expect(capturedFiles(s, details.ref)).toEqual(['exactly-10mb'])
  expect(details.skippedPaths).toEqual([
    { path: 'over-10mb', reason: 'too-large', sizeBytes: limit + 1 },
  ])
  await first.store.close()
  const higher = await openProject(s, { limits: { maxFileBytes: limit + 1 } })
  expect(capturedFiles(s, (await saved(higher.project)).ref)).toEqual(['exactly-10mb', 'over-10mb'])
})

test('a rewind deletes nothing if the list of skipped paths was truncated', async () => {
  const large = Array.from({ length: 1003 }, (_, n) => `large/${String(n).padStart(4, '0')}`)
  await using s = await scratch({
    files: Object.fromEntries(large.map((name) => [name, 'ten bytes.'])),
  })
  s.write({ small: 'one' })
  const first = await openProject(s, { limits: { maxFileBytes: 5 } })
  const then = await saved(first.project)
  expect([then.skippedPaths.length, then.skipped]).toEqual([1000, 1003])
  await first.store.close()
  const higher = await openProject(s)
  s.write({ small: 'two' })
  await higher.project.save()
  const { plan } = await higher.project.rewind(then.id)
  expect([plan.write.map(({ path }) => path), plan.remove]).toEqual([['small'], []])
  expect(new Set(plan.keep.map(({ reason }) => reason))).toEqual(
    new Set([
      'existed then but was not captured (too-large)',
      'may have existed: not all paths that were skipped then are listed',
    ]),
  )
  expect(large.every((name) => existsSync(join(s.project, name)))).toBe(true)
})

test('pipes, sockets and devices are listed and never block a save', async () => {
  await using s = await scratch({ files: { file: 'x' } })
  execFileSync('mkfifo', [join(s.project, 'pipe')])
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(join(s.project, 'socket'), resolve))
  const names = ['pipe', 'socket']
  if (process.getuid?.() === 0) {
    execFileSync('mknod', [join(s.project, 'null'), 'c', '1', '3'])
    execFileSync('mknod', [join(s.project, 'disk'), 'b', '7', '250'])
    names.push('null', 'disk')
  }
  try {
    const { project } = await openProject(s)
    const details = await saved(project)
    expect(capturedFiles(s, details.ref)).toEqual(['file'])
    expect(skippedFor(details, 'special')).toEqual(names.sort())
    const before = s.snapshotOf()
    s.write({ file: 'y', later: 'z' })
    await project.rewind(details.id)
    expect(s.snapshotOf()).toEqual(before)
  } finally {
    await new Promise((resolve) => server.close(resolve))
  }
})

test('a leftover of a killed rewind is skipped, a file with a similar name is captured', async () => {
  const temporary = `.savestate-tmp-${'b'.repeat(18)}-0`
  await using s = await scratch({ files: { [temporary]: 'x', '.savestate-tmp-mine': 'x', a: 'x' } })
  const { project } = await openProject(s)
  const details = await saved(project)
  expect(capturedFiles(s, details.ref)).toEqual(['.savestate-tmp-mine', 'a'])
  expect(skippedFor(details, 'temporary')).toEqual([temporary])
})

test('all skipped paths are counted, the list is bounded, and surprising paths come first', async () => {
  await using s = await scratch({ files: { kept: 'x', '\u200c.git': 'x' } })
  for (let i = 0; i < 1500; i++) writeFileSync(join(s.project, `file-${i}.log`), '')
  writeFileSync(join(s.project, 'zz-large'), 'x'.repeat(2000))
  execFileSync('mkfifo', [join(s.project, 'zz-pipe')])
  const { project } = await openProject(s, { limits: { maxFileBytes: 1000 } })
  const details = await saved(project)
  expect(details.skippedByReason).toEqual({
    ignored: 1500,
    'too-large': 1,
    special: 1,
    reserved: 1,
  })
  expect(details.skipped).toBe(1503)
  expect(details.skippedPaths.length).toBe(1000)
  expect(details.skippedPaths.slice(0, 4).map(({ path, reason }) => [path, reason])).toEqual([
    ['zz-large', 'too-large'],
    ['\u200c.git', 'reserved'],
    ['zz-pipe', 'special'],
    ['file-0.log', 'ignored'],
  ])
})

test('the list of skipped paths is that of the checkpoint', async () => {
  await using s = await scratch({ files: { 'a.txt': 'one' } })
  const { project } = await openProject(s, { limits: { maxFileBytes: 1000 } })
  const first = await project.save()
  s.write({ 'a.txt': 'two' })
  await waitForStableStamps()
  await project.diff(first.id)
  s.write({ 'large.bin': 'x'.repeat(1001) })
  const details = await saved(project)
  expect(details.skippedPaths).toEqual([
    { path: 'large.bin', reason: 'too-large', sizeBytes: 1001 },
  ])
})

test('a path that can no longer be saved makes a checkpoint, though the files are unchanged', async () => {
  await using s = await scratch({ files: { 'a.txt': 'one' } })
  const { project } = await openProject(s, { limits: { maxFileBytes: 1000 } })
  const first = await saved(project)
  s.write({ 'large.bin': 'x'.repeat(1001) })
  const second = await saved(project)
  expect(second).toMatchObject({ created: true, files: 0 })
  expect(second.skippedPaths).toEqual([{ path: 'large.bin', reason: 'too-large', sizeBytes: 1001 }])
  // It makes only one checkpoint. Ignored paths and paths that became readable make none.
  s.write({ 'large.bin': 'x'.repeat(1002), 'some.log': 'ignored' })
  expect(await project.save()).toMatchObject({ created: false, id: second.id })
  s.write({ 'large.bin': null })
  expect(await project.save()).toMatchObject({ created: false, id: second.id })
  expect(first.skipped).toBe(0)
})

test('folders deeper than the longest path do not stop a save', async () => {
  await using s = await scratch({ files: { 'a.txt': 'x' } })
  // The kernel rejects paths over 4,096 bytes, but a process can still descend step by step.
  const script = `
    process.chdir(${JSON.stringify(s.project)})
    const fs = require('node:fs')
    for (let i = 0; i < 25; i++) {
      fs.mkdirSync('d'.repeat(200))
      process.chdir('d'.repeat(200))
      fs.writeFileSync('.gitignore', 'x')
      fs.mkdirSync('.git')
      fs.writeFileSync('.git/HEAD', 'ref: refs/heads/main')
      fs.writeFileSync('f', 'x')
    }
  `
  execFileSync(process.execPath, ['-e', script])
  try {
    const { project } = await openProject(s)
    const details = await saved(project)
    expect(capturedFiles(s, details.ref)).toContain('a.txt')
    expect(details.skippedByReason.unreadable).toBeGreaterThan(0)
  } finally {
    execFileSync('rm', ['-rf', join(s.project, 'd'.repeat(200))])
  }
})
