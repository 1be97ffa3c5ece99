// The goal of a merge is in no checkpoint until the row exists, so a collection must keep what a journal names (I6).
import { readFileSync, renameSync } from 'node:fs'
import { spawnSync } from 'node:child_process'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { scratch } from '../../support/scratch.js'

const CHILD = join(dirname(fileURLToPath(import.meta.url)), '../../support/crash-child.mjs')

test('a killed undo of a step is finished after a prune while its disk was away', async () => {
  await using s = await scratch({ files: { 'noise.txt': 'noise' } })
  const lines = (first: string, last: string) => [first, 2, 3, 4, 5, last, ''].join('\n')
  const disk = join(s.folder, 'disk')
  const folder = join(disk, 'work')
  const store = await s.open()
  const other = await store.project(s.project)
  for (const text of ['1', '2', '3']) {
    s.write({ 'noise.txt': text })
    await other.save()
  }
  s.write({ 'work/a.txt': lines('before', 'before') }, disk)
  const project = await store.project(folder)
  await project.save()
  s.write({ 'work/a.txt': lines('of the step', 'before') }, disk)
  const step = await project.save()
  s.write({ 'work/a.txt': lines('of the step', 'later') }, disk)
  await store.close()

  const run = [['undoSteps', { to: [step.id] }]]
  const request = JSON.stringify({ home: s.home, project: folder, inProcess: true, run })
  const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env
  const killed = spawnSync(process.execPath, [CHILD, request], {
    env: { ...env, SAVESTATE_FAILPOINT: 'restore:journaled' },
    encoding: 'utf8',
  })
  expect(killed).toMatchObject({ signal: 'SIGKILL', stdout: '', stderr: '' })

  renameSync(disk, `${disk}-away`)
  const pruning = await s.open()
  const { deletedCheckpoints } = await pruning.prune({ maxCheckpoints: 1 })
  expect(deletedCheckpoints).toBe(2)
  await pruning.close()
  renameSync(`${disk}-away`, disk)

  const warnings: string[] = []
  const again = await (await s.open()).project(folder)
  await again.list({ onWarning: (text) => warnings.push(text) })
  expect(warnings).toEqual([expect.stringContaining('An interrupted rewind has been finished')])
  expect(readFileSync(join(folder, 'a.txt'), 'utf8')).toBe(lines('before', 'later'))
})
