// A clock that is set back: checkpoints are ordered by the order of writes, never by the clock.
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import type { CheckpointView, SaveResult } from '../../src/index.js'
import { PROGRAM, scratch as programScratch } from '../cli/program.js'
import { prunesOf } from '../engine/prune/prune-helpers.js'
import { scratch } from '../support/scratch.js'

const DAY_MS = 86_400_000
const START_MS = Date.UTC(2026, 5, 1)

/** A clock that the test sets. */
function movedClock() {
  let nowMs = START_MS
  return {
    clock: { nowMs: () => nowMs, random: (bytes: number) => randomBytes(bytes) },
    move: (ms: number) => (nowMs += ms),
  }
}

test('a save after the clock was set back is the newest, has its own id, and can be restored', async () => {
  await using s = await scratch({ files: { 'a.txt': 'first' } })
  const { clock, move } = movedClock()
  const store = await s.open({ clock })
  const project = await store.project(s.project)
  const ids = [(await project.save()).id]
  for (const [i, step] of [-DAY_MS, 0, -1, -400 * DAY_MS, 401 * DAY_MS].entries()) {
    move(step)
    s.write({ 'a.txt': `after ${i}` })
    ids.unshift((await project.save()).id)
  }
  const checkpoints = await project.list()
  expect(checkpoints.map(({ id }) => id)).toEqual(ids)
  expect(new Set(ids).size).toBe(6)
  expect(await project.show('1')).toMatchObject({ id: ids[0] })
  move(-700 * DAY_MS)
  const { safety, checkpoint } = await project.rewind('6')
  expect(s.snapshotOf().get('a.txt')?.content).toHaveLength(64)
  expect([safety, (await project.list())[0]?.id]).toEqual([ids[0], checkpoint])
  await project.undo()
  expect(await project.save()).toMatchObject({ created: false })
  expect((await store.verify()).problems).toEqual([])
})

test('a prune after the clock was set back removes by order', async () => {
  await using s = await scratch({ files: { 'a.txt': 'first' } })
  const { clock, move } = movedClock()
  const store = await s.open({ clock })
  const project = await store.project(s.project)
  const ids = []
  for (let i = 0; i < 6; i += 1) {
    s.write({ 'a.txt': `${i}` })
    ids.unshift((await project.save()).id)
    move(-30 * DAY_MS)
  }
  await store.prune({ maxCheckpoints: 4 })
  expect(idsOf(await project.list())).toEqual(ids.slice(0, 4))
  // A year before all saves: nothing can be too old.
  move(-365 * DAY_MS)
  await store.prune({ retentionDays: 7 })
  expect(idsOf(await project.list())).toEqual(ids.slice(0, 4))
  // Ahead again: the project was unused for long, and only the protected checkpoint is kept.
  move(3 * 365 * DAY_MS)
  s.write({ 'a.txt': 'touched' })
  const { id } = await project.save()
  await store.prune({ retentionDays: 7 })
  expect(idsOf(await project.list())).toContain(id)
  expect((await store.verify()).problems).toEqual([])
})

test('a session keeps its lease and its steps when the clock is set back', async () => {
  await using s = await scratch()
  const { clock, move } = movedClock()
  const store = await s.open({ clock })
  const session = await store.session<{ n: number }>('agent')
  expect(await session.save({ state: { n: 0 } })).toMatchObject({ step: 0 })
  move(-10 * DAY_MS)
  expect(await session.save({ state: { n: 1 } })).toMatchObject({ step: 1 })
  const other = await s.open({ clock })
  await expect(other.session('agent')).rejects.toMatchObject({ code: 'SESSION_BUSY' })
  await session.close()
  const resumed = await other.resume<{ n: number }>('agent')
  expect(resumed.state).toEqual({ n: 1 })
  expect(await resumed.session.save({ state: { n: 2 } })).toMatchObject({ step: 2 })
  expect(await resumed.session.stateAt('1')).toEqual({ n: 2 })
})

test('the program works in a process whose clock is a year behind', () => {
  using s = programScratch({ 'a.txt': 'one' })
  const first = s.json(['save']) as SaveResult
  s.write({ 'a.txt': 'two' })
  const behind = `data:text/javascript,const now = Date.now; Date.now = () => now() - ${365 * DAY_MS}`
  const child = spawnSync(process.execPath, ['--import', behind, PROGRAM, '--json', 'save'], {
    cwd: s.project,
    env: s.environment,
    encoding: 'utf8',
  })
  expect([child.status, child.stderr]).toEqual([0, ''])
  const second = JSON.parse(child.stdout) as SaveResult
  const timeOf = ({ createdAt }: SaveResult) => new Date(createdAt).getTime()
  expect(timeOf(second)).toBeLessThan(timeOf(first))
  const { checkpoints } = s.json(['list']) as { checkpoints: CheckpointView[] }
  expect(idsOf(checkpoints)).toEqual([second.id, first.id])
  expect(s.run(['rewind', '2', '-y'])).toMatchObject({ code: 0 })
  expect(s.run(['verify'])).toMatchObject({ code: 0 })
})

function idsOf(checkpoints: readonly CheckpointView[]): string[] {
  return checkpoints.map(({ id }) => id)
}

test('correcting the clock by a year does not remove earlier checkpoints', async () => {
  await using s = await scratch({ files: { 'a.txt': 'one' } })
  const { clock, move } = movedClock()
  move(-365 * DAY_MS)
  const behind = await s.open({ clock })
  await (await behind.project(s.project)).save()
  await behind.close()
  move(365 * DAY_MS)
  const store = await s.open({ clock })
  const project = await store.project(s.project)
  s.write({ 'b.txt': 'two' })
  await project.save()
  await store.close()
  // `close` starts a due prune before it returns.
  expect(prunesOf(s.home)).toEqual([])
  const again = await s.open({ clock })
  expect((await again.status()).prunedAt).toBeNull()
  expect(await (await again.project(s.project)).list()).toHaveLength(2)
})
