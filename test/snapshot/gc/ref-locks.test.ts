// docs/guide/store.md#collection: a killed git leaves lock files and partial writes, and neither blocks later work.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { PruneResult } from '../../../src/index.js'
import { openProject } from '../capture/capture-helpers.js'
import { GIT_ENVIRONMENT, type Scratch, scratch } from '../../support/scratch.js'

/** Seconds; a younger lock may belong to a git that is still at work. */
const LONG_AGO = Date.now() / 1000 - 60

async function withManySaves(s: Scratch) {
  const { store, project } = await openProject(s)
  for (let i = 0; i < 4; i += 1) {
    s.write({ a: `${i}` })
    await project.save()
  }
  const gitDir = join(s.home, 'objects.git')
  const [folder = ''] = readdirSync(join(gitDir, 'refs/savestate'))
  const [ref = ''] = readdirSync(join(gitDir, 'refs/savestate', folder))
  return { store, gitDir, ref: `refs/savestate/${folder}/${ref}` }
}

function dropped({ plan }: PruneResult): number {
  return plan.projects.flatMap(({ drop }) => drop).length
}

test('lock files of a killed git do not block a prune', async () => {
  await using s = await scratch()
  const { store, gitDir, ref } = await withManySaves(s)
  const left = ['packed-refs.lock', 'packed-refs.new', `${ref}.lock`].map((name) =>
    join(gitDir, name),
  )
  for (const path of left) {
    writeFileSync(path, '')
    utimesSync(path, LONG_AGO, LONG_AGO)
  }
  expect(dropped(await store.prune({ maxCheckpoints: 1 }))).toBeGreaterThan(0)
  expect(left.filter((path) => existsSync(path))).toEqual([])
})

test('partial writes of a killed git are not damage, and the next prune removes them', async () => {
  await using s = await scratch()
  const { store, gitDir, ref } = await withManySaves(s)
  const names = ['pack/tmp_pack_a1B2c3', 'pack/tmp_idx_a1B2c3', 'tmp_obj_a1B2c3']
  const objects = names.map((name) => `objects/${name}`)
  const begun = [...objects, `${ref}.lock`, 'packed-refs.lock', 'packed-refs.new'].map((name) =>
    join(gitDir, name),
  )
  for (const path of begun) {
    writeFileSync(path, 'PACK', { mode: 0o444 })
    utimesSync(path, LONG_AGO, LONG_AGO)
  }
  expect((await store.verify()).problems).toEqual([])
  await store.prune({ maxCheckpoints: 1 })
  expect(begun.filter((path) => existsSync(path))).toEqual([])
})

test('a prune waits for a git that has outlived its parent process', async () => {
  await using s = await scratch()
  const { store, gitDir, ref } = await withManySaves(s)
  const git = spawn('git', [`--git-dir=${gitDir}`, 'update-ref', '--stdin'], {
    env: GIT_ENVIRONMENT,
  })
  git.stdin.write(`start\ndelete ${ref}\nprepare\n`)
  while (!existsSync(join(gitDir, `${ref}.lock`))) await sleep(5)
  let isDone = false
  const pruning = store.prune({ maxCheckpoints: 1 }).finally(() => {
    isDone = true
  })
  await sleep(400)
  expect({ isDone, isLocked: existsSync(join(gitDir, `${ref}.lock`)) }).toEqual({
    isDone: false,
    isLocked: true,
  })
  git.stdin.end('abort\n')
  await once(git, 'close')
  expect(dropped(await pruning)).toBeGreaterThan(0)
})
