// docs/guide/store.md#prune: which checkpoints the policy hermes removes, by number and by age, and which it always keeps. The default
// policy is in prune-tiers.test.ts.
import { existsSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  DAY_MS,
  HandClock,
  idsOf,
  otherFolder,
  planOf,
  saveMany,
  setProject,
  setStore,
  withStore,
} from './prune-helpers.js'
import { scratch } from '../../support/scratch.js'

describe('count', () => {
  test.each(['config.json', '.savestate.json', 'flag'])(
    'of 6 saves the newest 3 stay, as %s says',
    async (where) => {
      await using s = await scratch()
      if (where === 'config.json') setStore(s, { retention: 'hermes', maxCheckpoints: 3 })
      if (where === '.savestate.json') {
        setStore(s, { retention: 'hermes', maxCheckpoints: 1 })
        setProject(s.project, { maxCheckpoints: 3 })
      }
      const store = await s.open()
      const project = await store.project(s.project)
      const ids = await saveMany(project, s, { count: 6 })
      const input = where === 'flag' ? { maxCheckpoints: 3 } : {}
      const planned = await store.prune({ ...input, dryRun: true })
      expect(planOf(planned, s.project)).toMatchObject({
        state: 'live',
        unreachable: null,
        drop: [2, 1, 0].map((n) => ({ id: ids[n], why: 'count' })),
        keep: { recent: 3 },
      })
      const result = await store.prune(input)
      expect(result).toMatchObject({ applied: true, scanned: 1, deletedCheckpoints: 3, errors: [] })
      expect(await idsOf(project)).toEqual(ids.slice(3).reverse())
      for (const id of ids.slice(3)) await project.rewind(id)
      await expect(project.rewind(ids[0] ?? '')).rejects.toMatchObject({
        code: 'CHECKPOINT_UNKNOWN',
      })
    },
  )

  test('named and pinned checkpoints and those of an unfinished session do not count', async () => {
    await using s = await scratch()
    const store = await s.open()
    const project = await store.project(s.project)
    const ids = await saveMany(project, s, { count: 3 })
    const [pinned = '', named = ''] = ids
    await project.pin(pinned)
    await project.name(named, 'good')
    const session = await store.session<unknown>('going on', { project })
    s.write({ 'noise.txt': 'of the session' })
    const ofSession = await session.save({ state: { step: 1 }, files: true })
    const newer = await saveMany(project, s, { count: 3 })
    // The same name again: the user named the older one too.
    await project.name(newer[0] ?? '', 'good')
    const result = await store.prune({ maxCheckpoints: 1 })
    expect(planOf(result, s.project).keep).toEqual({ pinned: 1, named: 2, session: 1, recent: 1 })
    expect(await idsOf(project)).toEqual([newer[2], newer[0], ofSession.id, named, pinned])
  })

  test('a checkpoint of a finished session loses files and state, and the head is kept', async () => {
    await using s = await scratch({ files: { a: '1' } })
    const store = await s.open()
    const project = await store.project(s.project)
    const session = await store.session<unknown>('finished', { project })
    const first = await session.save({ state: { step: 1 }, files: true })
    s.write({ a: '2' })
    const head = await session.save({ state: { step: 2 }, files: true })
    await session.complete()
    await session.close()
    const [, newest = ''] = await saveMany(project, s, { count: 2 })
    await store.prune({ maxCheckpoints: 1 })
    expect(await idsOf(project)).toEqual([newest, head.id])
    const resumed = await store.resume('finished')
    expect(resumed.state).toEqual({ step: 2 })
    await expect(resumed.session.stateAt(first.id)).rejects.toMatchObject({
      code: 'CHECKPOINT_UNKNOWN',
    })
    await project.rewind(head.id)
    expect(readFileSync(join(s.project, 'a'), 'utf8')).toBe('2')
    expect(await store.verify()).toMatchObject({ problems: [] })
  })

  test('newer rewinds can be undone after older ones were forgotten', async () => {
    await using s = await scratch({ files: { a: '1' } })
    const store = await s.open()
    const project = await store.project(s.project)
    const first = await project.save()
    for (const content of ['2', '3']) {
      s.write({ a: content })
      await project.rewind(first.id)
    }
    // The result of the second rewind, its safety checkpoint (3), and the state before.
    await store.prune({ maxCheckpoints: 2 })
    await project.undo()
    expect(readFileSync(join(s.project, 'a'), 'utf8')).toBe('3')
    await expect(project.undo()).rejects.toMatchObject({ code: 'NOTHING_TO_UNDO' })
    await project.redo()
    expect(readFileSync(join(s.project, 'a'), 'utf8')).toBe('1')
    expect(await store.verify()).toMatchObject({ problems: [] })
  })
})

describe('age', () => {
  test('a project is removed after 7 days and a millisecond without use', async () => {
    await using s = await scratch({ files: { a: '1' } })
    setStore(s, { retention: 'hermes' })
    const clock = new HandClock()
    const store = await s.open({ clock })
    const project = await store.project(s.project)
    await project.save()
    clock.pass(7 * DAY_MS)
    expect(planOf(await store.prune(), s.project).drop).toEqual([])
    clock.pass(1)
    const result = await store.prune()
    expect(result).toMatchObject({ deletedStale: 1, deletedOrphan: 0, deletedCheckpoints: 1 })
    expect((await store.status()).projects).toEqual([])
    expect(s.git(['-C', join(s.home, 'objects.git'), 'for-each-ref'])).toBe('')
    // A new save starts over, whatever this process has cached.
    const again = await project.save()
    expect(again.created).toBe(true)
    s.write({ a: '2' })
    await project.rewind(again.id)
    expect(readFileSync(join(s.project, 'a'), 'utf8')).toBe('1')
    expect(await store.verify()).toMatchObject({ problems: [] })
  })

  test('a save that finds nothing new counts as use, and pinned checkpoints are kept', async () => {
    await using s = await scratch({ files: { a: '1' } })
    setStore(s, { retention: 'hermes' })
    const clock = new HandClock()
    const store = await s.open({ clock })
    const [touched, pinned] = [await store.project(s.project), otherFolder(s, 'pinned')]
    await touched.save()
    const withPin = await store.project(pinned)
    const ids = await saveMany(withPin, s, { count: 2 })
    await withPin.pin(ids[0] ?? '')
    clock.pass(6 * DAY_MS)
    expect((await touched.save()).created).toBe(false)
    clock.pass(2 * DAY_MS)
    const result = await store.prune()
    expect(planOf(result, s.project).drop).toEqual([])
    expect(planOf(result, pinned)).toMatchObject({
      drop: [{ id: ids[1], why: 'age' }],
      keep: { pinned: 1 },
    })
    expect(await idsOf(withPin)).toEqual([ids[0]])
  })

  test('a completed session is removed after 1 day, any other after 7, with its files', async () => {
    await using s = await scratch({ files: { a: '1' } })
    setStore(s, { retention: 'hermes' })
    const clock = new HandClock()
    const store = await s.open({ clock })
    const project = await store.project(s.project)
    for (const id of ['done', 'failed', 'open']) {
      const session = await store.session<unknown>(id, { project })
      s.write({ a: id })
      await session.save({ state: { id }, files: true })
      if (id === 'done') await session.complete()
      if (id === 'failed') await session.fail('no luck')
      await session.close()
    }
    clock.pass(DAY_MS)
    expect((await store.prune()).plan.sessions).toEqual([])
    clock.pass(1)
    const first = await store.prune()
    expect(first.plan.sessions).toEqual([{ id: 'done', why: 'age' }])
    expect(planOf(first, s.project)).toMatchObject({
      drop: [{ why: 'age' }],
      keep: { session: 1, recent: 1 },
    })
    expect((await idsOf(project)).length).toBe(2)
    clock.pass(6 * DAY_MS)
    const last = await store.prune()
    expect(last).toMatchObject({ deletedSessions: 2, deletedStale: 1 })
    expect(await store.status()).toMatchObject({ projects: [], sessions: [] })
    expect(await store.verify()).toMatchObject({ problems: [] })
  })

  test('the project’s own retention applies to its sessions, and a flag to all', async () => {
    await using s = await scratch({ files: { a: '1' } })
    setStore(s, { retention: 'hermes' })
    setProject(s.project, { retentionDays: 30 })
    const clock = new HandClock()
    const store = await s.open({ clock })
    const project = await store.project(s.project)
    const session = await store.session<unknown>('long', { project })
    await session.save({ state: {}, files: true })
    await session.close()
    clock.pass(20 * DAY_MS)
    expect((await store.prune()).plan).toMatchObject({ sessions: [], projects: [{ drop: [] }] })
    const all = await store.prune({ retentionDays: 10 })
    expect(all).toMatchObject({ deletedSessions: 1, deletedStale: 1 })
  })

  test('a session with the newest checkpoint of a name is kept', async () => {
    await using s = await scratch({ files: { a: '1' } })
    setStore(s, { retention: 'hermes' })
    const clock = new HandClock()
    const store = await s.open({ clock })
    const project = await store.project(s.project)
    const session = await store.session<unknown>('named', { project })
    const point = await session.save({ state: {}, files: true, name: 'release' })
    await session.complete()
    await session.close()
    clock.pass(30 * DAY_MS)
    const result = await store.prune()
    expect(result.plan).toMatchObject({ sessions: [], projects: [{ keep: { named: 1 } }] })
    expect(await idsOf(project)).toEqual([point.id])
  })
})

test('a project whose session was deleted can be removed', async () => {
  await using s = await scratch({ files: { a: '1' } })
  setStore(s, { retention: 'hermes' })
  const clock = new HandClock()
  const store = await s.open({ clock })
  const project = await store.project(s.project)
  const session = await store.session<unknown>('gone', { project })
  await session.save({ state: {}, files: true })
  await session.close()
  await store.deleteSession('gone')
  await project.save()
  clock.pass(8 * DAY_MS)
  expect(await store.prune()).toMatchObject({ deletedStale: 1, errors: [] })
  expect(existsSync(join(s.home, 'cache', 'x'))).toBe(false)
  // Its id can be used again.
  const again = await store.session<unknown>('gone', { project })
  await again.save({ state: { n: 1 } })
  expect(await again.stateAt()).toEqual({ n: 1 })
})

test('invalid settings of one project do not stop the prune of the others', async () => {
  await using s = await scratch()
  const wrong = otherFolder(s, 'wrong')
  await withStore(s, async (store) => {
    for (const folder of [s.project, wrong])
      await saveMany(await store.project(folder), s, { count: 3 })
    setProject(wrong, { maxCheckpoint: 1 })
    const result = await store.prune({ maxCheckpoints: 1 })
    expect(result.errors).toEqual([
      { what: wrong, code: 'CONFIG_INVALID', message: expect.stringContaining('maxCheckpoint') },
    ])
    expect(planOf(result, wrong).drop).toEqual([])
    expect(planOf(result, s.project).drop.length).toBe(2)
  })
})

test('unreadable settings of one project do not stop the prune of the others', async () => {
  await using s = await scratch()
  const closed = otherFolder(s, 'closed')
  await withStore(s, async (store) => {
    for (const folder of [s.project, closed])
      await saveMany(await store.project(folder), s, { count: 3 })
    // A symlink loop, as an example of a disk that does not answer.
    symlinkSync('.savestate.json', join(closed, '.savestate.json'))
    const result = await store.prune({ maxCheckpoints: 1 })
    expect(result.errors).toEqual([
      { what: closed, code: 'FILE_FAILED', message: expect.stringContaining('.savestate.json') },
    ])
    expect(planOf(result, closed).drop).toEqual([])
    expect(planOf(result, s.project).drop.length).toBe(2)
  })
})
