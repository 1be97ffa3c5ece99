// docs/guide/store.md#prune: what no prune may remove, whichever limit applies.
import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import type { Store } from '../../../src/index.js'
import { DAY_MS, HandClock, idsOf, otherFolder, planOf, setProject } from './prune-helpers.js'
import { scratch } from '../../support/scratch.js'

/** A completed session with a large state, which a size limit would otherwise remove. */
async function finished(
  store: Store,
  id: string,
  rest: { readonly name?: string; readonly folder?: string } = {},
): Promise<void> {
  const { name, folder } = rest
  const project = folder === undefined ? {} : { project: await store.project(folder) }
  const session = await store.session<unknown>(id, project)
  const state = { noise: randomBytes(200_000).toString('base64') }
  await session.save({ state, ...(name === undefined ? {} : { name }) })
  await session.complete()
  await session.close()
}

const sessionsOf = async (store: Store) => (await store.sessions()).map(({ id }) => id).sort()

test('the size limit keeps a finished session with a named checkpoint', async () => {
  await using s = await scratch()
  const store = await s.open()
  await finished(store, 'named', { name: 'release' })
  await finished(store, 'named in a project', { name: 'release', folder: s.project })
  await finished(store, 'plain')
  await store.prune({ maxSizeMb: 0.9 })
  expect(await sessionsOf(store)).toEqual(['named', 'named in a project'])
  expect((await store.prune({ maxSizeMb: 0.1 })).above).not.toBeNull()
  expect(await sessionsOf(store)).toEqual(['named', 'named in a project'])
})

test('the age limit keeps a session with a named checkpoint, with a project or without', async () => {
  await using s = await scratch()
  const clock = new HandClock()
  const store = await s.open({ clock })
  await finished(store, 'named', { name: 'release' })
  await finished(store, 'named in a project', { name: 'release', folder: s.project })
  await finished(store, 'plain')
  clock.pass(400 * DAY_MS)
  await store.prune()
  expect(await sessionsOf(store)).toEqual(['named', 'named in a project'])
})

test('the size limit keeps sessions of a project with invalid settings', async () => {
  await using s = await scratch()
  const store = await s.open()
  const faulty = otherFolder(s, 'faulty')
  await finished(store, 'faulty', { folder: faulty })
  await finished(store, 'other', { folder: s.project })
  setProject(faulty, { keepAllHours: 'long' })
  await store.prune({ maxSizeMb: 0.6 })
  expect(await sessionsOf(store)).toEqual(['faulty'])
})

test('a checkpoint saved while the clock was behind is not older than those before it', async () => {
  await using s = await scratch()
  const clock = new HandClock()
  const store = await s.open({ clock })
  const project = await store.project(s.project)
  const saved: string[] = []
  const save = async () => {
    s.write({ a: `${saved.length}` })
    saved.push((await project.save({ reason: `save ${saved.length}` })).id)
  }
  await save()
  clock.pass(-500 * DAY_MS)
  await save()
  await save()
  clock.pass(501 * DAY_MS)
  await save()
  expect(planOf(await store.prune(), s.project).drop).toEqual([])
  expect(await idsOf(project)).toEqual(saved.toReversed())
})

test('imported rows of a session do not count as one prompt', async () => {
  await using s = await scratch()
  const clock = new HandClock()
  const store = await s.open({ clock })
  const session = await store.session<unknown>('imported')
  await session.newTurn()
  const at = (hour: number) => `2026-01-05T${String(hour).padStart(2, '0')}:00:00Z`
  const rows = [1, 2, 3].map((n) => ({ id: `${n}`, timestamp: at(n), data: { n } }))
  await session.import(rows)
  await session.save({ state: { n: 4 } })
  await session.close()
  clock.pass(3 * DAY_MS)
  expect((await store.prune()).plan.unattached.drop).toEqual([])
})

test('after thinning, a prompt keeps its files even if a state was saved before them', async () => {
  await using s = await scratch()
  const clock = new HandClock()
  const store = await s.open({ clock })
  const project = await store.project(s.project)
  const session = await store.session<unknown>('sdk', { project, lease: false })
  for (const turn of [1, 2]) {
    await session.newTurn()
    await session.save({ state: { turn }, reason: `asked ${turn}` })
    s.write({ a: `${turn}` })
    await session.save({ state: { turn }, files: true, reason: `files ${turn}` })
    await session.save({ state: { turn }, reason: `answered ${turn}` })
  }
  await session.complete()
  await session.close()
  clock.pass(3 * DAY_MS)
  await store.prune()
  const left = (await project.list()).map(({ reason }) => reason)
  expect(left).toEqual(['answered 2', 'files 2', 'asked 2', 'files 1', 'asked 1'])
})
