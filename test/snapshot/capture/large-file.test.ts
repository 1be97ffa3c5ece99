// Files from 0 bytes to more than 2 GB (4 GB in the long run) are streamed in bounded memory and stored exactly.
import { randomFillSync } from 'node:crypto'
import { closeSync, openSync, statSync, truncateSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { isLong } from '../../support/test-budget.js'
import {
  capturedFiles,
  inChild,
  openProject,
  saved,
  storedBytes,
  storedTree,
  storeGit,
} from './capture-helpers.js'
import { scratch } from '../../support/scratch.js'

const GB = 1 << 30
const MB = 1 << 20

test('an empty file is captured', async () => {
  await using s = await scratch({ files: { empty: '' } })
  const { project } = await openProject(s)
  const { id, ref } = await saved(project)
  expect(storedBytes(s, ref, 'empty').length).toBe(0)
  s.write({ empty: null })
  await project.rewind(id)
  expect(statSync(join(s.project, 'empty')).size).toBe(0)
})

test('a file of 3 GB over the limit is recorded and not read', async () => {
  await using s = await scratch({ files: { small: 'x', huge: '' } })
  truncateSync(join(s.project, 'huge'), 3 * GB)
  // Reading it would take seconds, so count the bytes that the process reads.
  const answer = await inChild(
    s,
    `
    const { id } = await project.save()
    const { skippedPaths } = await project.show(id)
    const io = fs.readFileSync('/proc/self/io', 'utf8')
    return { skippedPaths, read: Number(/rchar: (\\d+)/.exec(io)[1]) }
    `,
  )
  expect(answer).toEqual({
    skippedPaths: [{ path: 'huge', reason: 'too-large', sizeBytes: 3 * GB }],
    read: expect.any(Number),
  })
  expect((answer as { read: number }).read).toBeLessThan(100 * MB)
})

test('a file of more than 2 GB under the limit is streamed in bounded memory and stored exactly', async () => {
  await using s = await scratch({ files: { 'huge.bin': '', small: 'x' } })
  // More than 2^31 bytes; in the long run more than 2^32.
  const size = (isLong ? 4 : 2) * GB + 3 * MB
  const path = join(s.project, 'huge.bin')
  truncateSync(path, size)
  // From `git hash-object`.
  const blob = isLong
    ? '68ba1e73daa1591e75c1f90b452b898d2d0fbf5b'
    : '292c6914779c653dcba56ee821f09d0a33b4c4f1'
  // Data at both ends and across the 32-bit boundary.
  const marks = [0, 2 ** 31 - 3, ...(isLong ? [2 ** 32 - 3] : []), size - 5]
  const fd = openSync(path, 'r+')
  for (const at of marks) writeSync(fd, 'mark!', at)
  closeSync(fd)
  const answer = await inChild(
    s,
    `
    const raised = await sdk.openStore({ home: scratch.home, durability: 'process', limits: { maxFileBytes: 2 ** 40 } })
    const { id } = await (await raised.project(scratch.project)).save()
    const { ref, sizeBytes, skipped } = await (await raised.project(scratch.project)).show(id)
    await raised.close()
    // Not maxRSS, which on Linux starts with the parent's value.
    const peak = /VmHWM:\\s+(\\d+) kB/.exec(fs.readFileSync('/proc/self/status', 'latin1'))
    return { ref, sizeBytes, skipped, peakBytes: Number(peak?.[1]) * 1024 }
    `,
    { inProcess: true },
  )
  const { ref, peakBytes, ...figures } = answer as Record<string, string | number>
  expect(figures).toEqual({ sizeBytes: size + 1, skipped: 0 })
  expect(peakBytes).toBeLessThan(300 * MB)

  const id = storedTree(s, String(ref)).get('huge.bin')?.id ?? ''
  expect(id).toBe(blob)
  expect(storeGit(s, 'cat-file', '-s', id).toString().trim()).toBe(String(size))
  // The id has just been checked; fsck would take ten seconds to check it again.
  s.allowDamage()
})

test('17 MB of noise are restored byte for byte by an undo and a redo', async () => {
  await using s = await scratch({ files: { small: 'x' } })
  const path = join(s.project, 'noise.bin')
  writeFileSync(path, randomFillSync(Buffer.alloc(17 * MB)))
  const { project } = await openProject(s, { limits: { maxFileBytes: 100 * MB } })
  const before = s.snapshotOf()
  const { id, ref } = await saved(project)
  expect(capturedFiles(s, ref)).toEqual(['noise.bin', 'small'])
  truncateSync(path, 1000)
  await project.rewind(id)
  expect(s.snapshotOf()).toEqual(before)
  await project.undo()
  expect(statSync(path).size).toBe(1000)
  await project.redo()
  expect(s.snapshotOf()).toEqual(before)
})

test('files around every size threshold are restored byte for byte', async () => {
  await using s = await scratch()
  const sizes = [
    1,
    2,
    4095,
    4096,
    65_535,
    65_536,
    65_537,
    MB,
    4 * MB - 1,
    4 * MB,
    4 * MB + 1,
    9 * MB,
  ]
  for (const size of sizes) s.write({ [`size-${size}`]: Buffer.alloc(size, `${size} and so on\n`) })
  const before = s.snapshotOf()
  const { project } = await openProject(s)
  const { id, sizeBytes } = await saved(project)
  expect(sizeBytes).toBe(sizes.reduce((sum, size) => sum + size, 0))
  for (const size of sizes) s.write({ [`size-${size}`]: 'changed' })
  await project.rewind(id)
  expect(s.snapshotOf()).toEqual(before)
})
