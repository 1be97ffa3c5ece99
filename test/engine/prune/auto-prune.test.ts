// docs/guide/store.md#prune: a save starts an automatic prune in another process, at most once per interval.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import type { Store } from '../../../src/index.js'
import { openDatabase } from '../../../src/system/index.js'
import { scratch as cliScratch } from '../../cli/program.js'
import {
  DAY_MS,
  DEADLINE_MS,
  idsOf,
  otherFolder,
  prunesOf,
  saveMany,
  setProject,
  setStore,
  untilNoPruneRuns,
  withStore,
} from './prune-helpers.js'
import { type Scratch, scratch } from '../../support/scratch.js'

const CHILD = join(dirname(fileURLToPath(import.meta.url)), '../../support/crash-child.mjs')

async function untilPruned(s: Scratch): Promise<void> {
  const until = Date.now() + DEADLINE_MS
  const isDone = () => withStore(s, async (store) => (await store.status()).prunedAt !== null)
  while (!(await isDone()) && Date.now() < until) await sleep(50)
  await untilNoPruneRuns(s.home)
  expect(await isDone()).toBe(true)
}

function claimedAt(s: Scratch, set?: number): number | undefined {
  const database = openDatabase(join(s.home, 'ledger.db'), { timeoutMs: 1000 })
  try {
    if (set !== undefined) database.run('UPDATE store SET prune_claimed_at = ?', set)
    const at = database.get('SELECT prune_claimed_at AS at FROM store')?.['at']
    return typeof at === 'number' ? at : undefined
  } finally {
    database.close()
  }
}

const saveThree = (s: Scratch, folder: string) => (store: Store) =>
  store.project(folder).then((project) => saveMany(project, s, { count: 3 }))

test('a save and a close start a prune, which keeps orphans', async () => {
  await using s = await scratch()
  setStore(s, { retention: 'hermes', autoPruneHours: 0, maxCheckpoints: 1, retentionDays: 7 })
  const gone = otherFolder(s, 'gone')
  await withStore(s, async (store) => {
    await saveThree(s, gone)(store)
    rmSync(gone, { recursive: true })
    await saveThree(s, s.project)(store)
  })
  await untilPruned(s)
  await withStore(s, async (store) => {
    expect((await idsOf(await store.project(s.project))).length).toBe(1)
    const { projects, failures } = await store.status()
    expect(new Map(projects.map(({ path, state }) => [path, state]))).toEqual(
      new Map([
        [gone, 'orphan'],
        [s.project, 'live'],
      ]),
    )
    expect(failures).toEqual([])
  })
})

test('no prune starts if it is switched off, before the interval is over, or without a save', async () => {
  await using s = await scratch()
  setStore(s, { autoPrune: false, autoPruneHours: 0 })
  await withStore(s, saveThree(s, s.project))
  expect([claimedAt(s), prunesOf(s.home)]).toEqual([undefined, []])
  setStore(s, { autoPruneHours: 24 })
  await withStore(s, saveThree(s, s.project))
  const first = claimedAt(s)
  expect(first).toBeGreaterThan(Date.now() - 60_000)
  const anHourToGo = Date.now() - DAY_MS + 3_600_000
  claimedAt(s, anHourToGo)
  await withStore(s, saveThree(s, s.project))
  expect([claimedAt(s), prunesOf(s.home)]).toEqual([anHourToGo, []])
  const due = Date.now() - DAY_MS
  claimedAt(s, due)
  await withStore(s, (store) => store.list())
  expect([claimedAt(s), prunesOf(s.home)]).toEqual([due, []])
})

test('several processes that end at the same time start one prune, and status reports its failures', async () => {
  await using s = await scratch({ files: { a: '1' } })
  const wrong = otherFolder(s, 'wrong')
  await withStore(s, saveThree(s, wrong))
  // Each prune reports it once.
  setProject(wrong, { maxCheckpoint: 1 })
  claimedAt(s, Date.now() - DAY_MS)
  const folders = [s.project, otherFolder(s, 'b'), otherFolder(s, 'c')]
  const children = folders.map((project) => {
    const run = [['write', { path: 'a', content: 'x' }], ['save']]
    const request = JSON.stringify({ home: s.home, project, run })
    return spawn(process.execPath, [CHILD, request], { stdio: 'ignore' })
  })
  await Promise.all(children.map((child) => once(child, 'close')))
  await untilPruned(s)
  await withStore(s, async (store) => {
    expect((await store.status()).failures).toMatchObject([
      { code: 'CONFIG_INVALID', message: expect.stringContaining(wrong) },
    ])
  })
})

test('setting the clock back does not stop automatic prunes', async () => {
  await using s = await scratch()
  await withStore(s, saveThree(s, s.project))
  claimedAt(s, Date.now() + 400 * DAY_MS)
  await withStore(s, saveThree(s, s.project))
  expect(claimedAt(s)).toBeLessThanOrEqual(Date.now())
  await untilPruned(s)
})

test('a command starts a prune too', async () => {
  using s = cliScratch({ a: '1' })
  s.run(['save'])
  const settings = '{"retention":"hermes","maxCheckpoints":1,"autoPruneHours":0}'
  s.shell(`printf %s '${settings}' > "$SAVESTATE_HOME/config.json"`)
  s.write({ a: '2' })
  expect(s.run(['save']).code).toBe(0)
  const until = Date.now() + DEADLINE_MS
  const count = () => (s.json(['list']) as { checkpoints: unknown[] }).checkpoints.length
  while (count() > 1 && Date.now() < until) await sleep(50)
  expect(count()).toBe(1)
  await untilNoPruneRuns(s.home)
})
