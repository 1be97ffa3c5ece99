// docs/guide/store.md#prune: the default policy. History thins out with age, by a clock that the test moves.
import { expect, test } from 'vitest'
import { SimulatedClock, simulateMonth } from '../../../bench/month/simulate-month.js'
import type { Project, Store } from '../../../src/index.js'
import {
  DAY_MS,
  HandClock,
  idsOf,
  otherFolder,
  planOf,
  saveMany,
  setStore,
} from './prune-helpers.js'
import { type Scratch, scratch } from '../../support/scratch.js'

const HOUR_MS = DAY_MS / 24
/** Early in a day, so that a short history does not reach into the next. */
const START_MS = Date.UTC(2026, 0, 5, 1)

function startClock(): HandClock {
  const clock = new HandClock()
  clock.pass(START_MS - clock.nowMs())
  return clock
}

type AgentWork = { readonly id: string; readonly prompts: number; readonly calls: number }

/** Like the hooks of an agent: a row per prompt, a row per call, and the session is completed at the end. */
async function agentAtWork(
  s: Scratch,
  { store, project, clock }: { store: Store; project: Project; clock: HandClock },
  { id, prompts, calls }: AgentWork,
): Promise<void> {
  const session = await store.session<{ messages: string[] }>(id, {
    agent: 'claude',
    project,
    lease: false,
  })
  for (let prompt = 1; prompt <= prompts; prompt += 1) {
    await session.newTurn()
    const messages = [`${id}-${prompt}`]
    await session.save({ files: true, state: { messages }, reason: `You: ${id} ${prompt}` })
    for (let call = 1; call <= calls; call += 1) {
      clock.pass(60_000)
      s.write({ 'work.txt': `${id} ${prompt} ${call}` }, project.path)
      messages.push(`${call}`)
      const reason = `Edit: ${id} ${prompt}.${call}`
      await session.save({
        files: true,
        state: { messages },
        reason,
        toolCall: `${prompt}-${call}`,
      })
    }
  }
  await session.complete()
  await session.close()
}

const reasonsOf = async (project: Project) =>
  (await project.list({ limit: 1000 })).map(({ reason }) => reason)

test('a completed session thins out after 25 hours, 3 days, 40 days and 400 days', async () => {
  await using s = await scratch({ files: { 'work.txt': '0' } })
  const clock = startClock()
  const store = await s.open({ clock })
  const project = await store.project(s.project)
  await agentAtWork(s, { store, project, clock }, { id: 'a', prompts: 3, calls: 15 })
  const all = await reasonsOf(project)
  expect(all).toHaveLength(48)
  const after = async (ms: number) => {
    clock.pass(ms)
    await store.prune({ unattended: true })
    expect(await store.verify()).toMatchObject({ problems: [] })
    return reasonsOf(project)
  }
  expect(await after(25 * HOUR_MS)).toEqual(all)
  expect(await after(3 * DAY_MS - 25 * HOUR_MS)).toEqual([
    'Edit: a 3.15',
    'You: a 3',
    'You: a 2',
    'You: a 1',
  ])
  const resumed = await store.resume<{ messages: string[] }>('a')
  expect(resumed.state?.messages).toHaveLength(16)
  const [, third] = await resumed.session.list()
  expect(await resumed.session.stateAt(third?.id)).toEqual({ messages: ['a-3'] })
  const fork = await store.fork(third?.id ?? '', { session: 'forked' })
  expect(await fork.stateAt()).toEqual({ messages: ['a-3'] })
  await fork.close()
  await resumed.session.complete()
  await resumed.session.close()
  await store.deleteSession('forked')
  expect(await after(37 * DAY_MS)).toEqual(['Edit: a 3.15'])
  expect((await store.sessions()).map(({ id }) => id)).toEqual(['a'])
  expect(await after(360 * DAY_MS)).toEqual([])
  expect(await store.status()).toMatchObject({ projects: [], sessions: [] })
})

test('saves with a reason are kept individually, others one per hour; names and pins are kept', async () => {
  await using s = await scratch()
  const clock = startClock()
  const store = await s.open({ clock })
  const project = await store.project(s.project)
  const ids = new Map<string, string>()
  const save = async (label: string, reason?: string) => {
    s.write({ a: label })
    ids.set((await project.save(reason === undefined ? {} : { reason })).id, label)
    clock.pass(60_000)
  }
  for (const label of ['h1 a', 'h1 b', 'h1 c']) await save(label)
  await save('said', 'before the refactoring')
  clock.pass(HOUR_MS)
  for (const label of ['h2 a', 'h2 b', 'pinned', 'h2 c']) await save(label)
  const idOf = (label: string) => [...ids].find(([, it]) => it === label)?.[0] ?? ''
  await project.pin(idOf('pinned'))
  await project.name(idOf('h1 a'), 'start')
  const left = async () => (await idsOf(project)).map((id) => ids.get(id))
  clock.pass(3 * DAY_MS)
  const result = await store.prune()
  expect(planOf(result, s.project).drop.map(({ why }) => why)).toEqual([
    'prompts',
    'prompts',
    'prompts',
  ])
  expect(await left()).toEqual(['h2 c', 'pinned', 'said', 'h1 c', 'h1 a'])
  clock.pass(40 * DAY_MS)
  await store.prune()
  expect(await left()).toEqual(['h2 c', 'pinned', 'h1 a'])
})

test('a rewind can be undone for 30 days; the plan says when it no longer can', async () => {
  await using s = await scratch({ files: { a: '1' } })
  const clock = startClock()
  const store = await s.open({ clock })
  const project = await store.project(s.project)
  const first = await project.save()
  for (const content of ['2', '3']) {
    s.write({ a: content })
    await project.rewind(first.id)
  }
  clock.pass(20 * DAY_MS)
  const kept = await store.prune()
  expect(planOf(kept, s.project)).toMatchObject({ drop: [], forgetsUndo: false })
  expect((await project.undo({ dryRun: true })).plan.write).toHaveLength(1)
  clock.pass(20 * DAY_MS)
  const result = await store.prune()
  expect(planOf(result, s.project).forgetsUndo).toBe(true)
  await expect(project.undo()).rejects.toMatchObject({
    code: 'NOTHING_TO_UNDO',
    hint: expect.stringContaining('can no longer be undone: a prune'),
  })
  expect(await store.verify()).toMatchObject({ problems: [] })
})

test('plan, status and list agree on numbers, before and after', async () => {
  await using s = await scratch({ files: { 'work.txt': '0' } })
  const clock = startClock()
  const store = await s.open({ clock })
  const project = await store.project(s.project)
  const other = await store.project(otherFolder(s, 'other'))
  await agentAtWork(s, { store, project, clock }, { id: 'a', prompts: 2, calls: 10 })
  await saveMany(other, s, { count: 3 })
  const alone = await store.session<unknown>('no project', { lease: false })
  for (const n of [1, 2, 3]) await alone.save({ state: { n } })
  await alone.complete()
  await alone.close()
  clock.pass(3 * DAY_MS)
  const numbers = async () => {
    const { projects, unattached } = await store.status()
    const listed = await store.list({})
    expect(projects.reduce((sum, it) => sum + it.checkpoints, unattached)).toBe(listed.length)
    for (const { path, checkpoints } of projects)
      expect((await idsOf(await store.project(path))).length).toBe(checkpoints)
    return listed.length
  }
  const before = await numbers()
  expect(before).toBe(22 + 3 + 3)
  const result = await store.prune()
  const { projects, unattached } = result.plan
  const planned = [...projects, unattached].flatMap(({ drop }) => drop).length
  const kept = [...projects, unattached].flatMap(({ keep }) => Object.values(keep))
  expect([planned, kept.reduce((sum, count) => sum + count, 0)]).toEqual([19 + 2, 3 + 3 + 1])
  expect(result.deletedCheckpoints).toBe(planned)
  expect(await numbers()).toBe(before - planned)
})

test('a session with a live process is not thinned out until it ends', async () => {
  await using s = await scratch()
  const clock = startClock()
  const store = await s.open({ clock })
  const session = await store.session<unknown>('long')
  for (const n of [1, 2, 3]) await session.save({ state: { n } })
  clock.pass(3 * DAY_MS)
  await session.save({ state: { n: 4 } })
  expect((await store.prune()).plan.unattached).toEqual({ drop: [], keep: { session: 4 } })
  await session.close()
  const result = await store.prune()
  expect(result.plan.unattached.drop.map(({ why }) => why)).toEqual(['prompts', 'prompts'])
  const again = await store.session<unknown>('long')
  expect((await again.list()).map(({ step }) => step)).toEqual([3, 2])
  expect((await again.save({ state: { n: 5 } })).step).toBe(4)
})

test('an imported checkpoint ages from its import', async () => {
  await using s = await scratch()
  const clock = startClock()
  const store = await s.open({ clock })
  const session = await store.session<unknown>('imported')
  await session.import([{ id: 'old', timestamp: '2019-05-05T00:00:00Z', data: { n: 1 } }])
  await session.save({ state: { n: 2 } })
  await session.close()
  clock.pass(20 * DAY_MS)
  expect((await store.prune()).plan.unattached.drop).toEqual([])
})

test('settings of the store and of a project change the lengths of the tiers', async () => {
  await using s = await scratch()
  setStore(s, { keepAllHours: 1, keepPromptsDays: 2, keepDailyDays: 3 })
  const clock = startClock()
  const store = await s.open({ clock })
  const project = await store.project(s.project)
  const other = await store.project(otherFolder(s, 'other'))
  s.write({ '.savestate.json': '{"keepAllHours": 1000}' }, other.path)
  for (const it of [project, other])
    for (const n of [1, 2]) {
      s.write({ a: `${n}` }, it.path)
      await it.save()
    }
  clock.pass(2 * HOUR_MS)
  await store.prune()
  expect([(await idsOf(project)).length, (await idsOf(other)).length]).toEqual([1, 2])
  clock.pass(4 * DAY_MS)
  await store.prune()
  expect([(await idsOf(project)).length, (await idsOf(other)).length]).toEqual([0, 2])
})

test('a simulated week of an agent: with the daily prune the store keeps the prompts', async () => {
  await using s = await scratch({
    files: Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`f${n}`, `${n}`.repeat(200)])),
  })
  const clock = new SimulatedClock(START_MS)
  const store = await s.open({ clock })
  await simulateMonth(store, clock, {
    folder: s.project,
    days: 6,
    prompts: 12,
    calls: 96,
    edit: (random) => s.write({ [`f${random.below(40)}`]: `${random.below(1e9)}` }),
    onDay: async () => void (await store.prune({ unattended: true })),
  })
  const reasons = await reasonsOf(await store.project(s.project))
  const prompts = reasons.filter((reason) => reason?.startsWith('You: '))
  expect(prompts).toHaveLength(12)
  // Two whole days with their calls, and the last call of each earlier day.
  expect(reasons.length - prompts.length).toBe(2 * 16 + 4)
  expect(await store.verify()).toMatchObject({ problems: [] })
})
