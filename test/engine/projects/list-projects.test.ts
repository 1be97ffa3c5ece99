import { renameSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { scratch } from '../../support/scratch.js'

test('lists projects with checkpoints, the last used first, and whether their folder exists', async () => {
  await using s = await scratch({ files: { 'a.txt': 'one\n' } })
  const store = await s.open()
  s.write({ 'other/b.txt': 'b\n', 'empty/c.txt': 'c\n' }, s.folder)
  const [other, empty] = [join(s.folder, 'other'), join(s.folder, 'empty')]
  await (await store.project(s.project)).save()
  await (await store.project(other)).save()
  expect(await (await store.project(empty)).list()).toEqual([])
  renameSync(other, `${other}-gone`)
  expect(await store.projects()).toEqual([
    { path: other, checkpoints: 1, state: 'orphan', lastTouch: expect.any(Date) },
    { path: s.project, checkpoints: 1, state: 'live', lastTouch: expect.any(Date) },
  ])
})
