// docs/guide/store.md#drop and #clear: removing single checkpoints, and all of one project.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { inChild } from '../../snapshot/capture/capture-helpers.js'
import { DROP_POINTS } from '../../support/failpoints/drop.js'
import { idsOf, leftoversIn, otherFolder, saveMany, withStore } from './prune-helpers.js'
import { scratch } from '../../support/scratch.js'

describe('drop', () => {
  test('removes the named checkpoints, their refs and their contents, and nothing else', async () => {
    await using s = await scratch()
    const store = await s.open()
    const project = await store.project(s.project)
    const ids = await saveMany(project, s, { count: 4, bytes: 100_000 })
    const planned = await project.drop(['1', ids[1] ?? '', '1'], { dryRun: true })
    expect(planned).toMatchObject({ applied: false, sessions: [], forgetsUndo: false })
    expect(planned.checkpoints.map(({ id }) => id)).toEqual([ids[3], ids[1]])
    expect((await idsOf(project)).length).toBe(4)
    const result = await project.drop(['1', ids[1] ?? ''])
    expect(result).toMatchObject({ applied: true })
    expect(result.bytesReclaimed).toBeGreaterThan(150_000)
    expect(await idsOf(project)).toEqual([ids[2], ids[0]])
    const refs = s.git(['-C', join(s.home, 'objects.git'), 'for-each-ref', '--format=%(refname)'])
    expect(refs.trim().split('\n')).toHaveLength(2)
    for (const id of [ids[2], ids[0]]) await project.rewind(id ?? '')
    expect(await store.verify()).toMatchObject({ problems: [] })
    expect(leftoversIn(s.home)).toEqual([])
  })

  test('the next save saves dropped content again, even if nothing has changed', async () => {
    await using s = await scratch({ files: { a: '1' } })
    const store = await s.open()
    const project = await store.project(s.project)
    await project.save()
    await project.drop(['1'])
    const again = await project.save()
    expect(again.created).toBe(true)
    s.write({ a: '2' })
    await project.rewind(again.id)
    expect(readFileSync(join(s.project, 'a'), 'utf8')).toBe('1')
  })

  test('a pinned checkpoint is refused, and nothing is removed', async () => {
    await using s = await scratch()
    const store = await s.open()
    const project = await store.project(s.project)
    const ids = await saveMany(project, s, { count: 2 })
    await project.pin('1')
    await expect(project.drop(['2', '1'])).rejects.toMatchObject({
      code: 'CHECKPOINT_KEPT',
      message: `Checkpoint ${ids[1]?.slice(0, 8)} is pinned`,
      hint: expect.stringContaining('savestate unpin'),
    })
    expect((await idsOf(project)).length).toBe(2)
    await expect(project.drop(['9'])).rejects.toMatchObject({
      code: 'CHECKPOINT_UNKNOWN',
    })
    await expect(project.drop([])).rejects.toMatchObject({ code: 'BAD_INPUT' })
  })

  test('the head of a session in progress is refused; an ended session gets the previous step as head', async () => {
    await using s = await scratch({ files: { a: '1' } })
    const store = await s.open()
    const project = await store.project(s.project)
    const session = await store.session<unknown>('work', { project })
    const saved: string[] = []
    for (const n of [1, 2, 3]) {
      s.write({ a: `${n}` })
      saved.push((await session.save({ state: { n }, files: true })).id)
    }
    await expect(project.drop([saved[2] ?? ''])).rejects.toMatchObject({
      code: 'CHECKPOINT_KEPT',
      message: expect.stringContaining('where the session "work" continues'),
    })
    await project.drop([saved[1] ?? ''])
    expect(await session.stateAt(saved[0] ?? '')).toEqual({ n: 1 })
    await session.complete()
    await session.close()
    await project.drop(['1'], { of: 'work' })
    const resumed = await store.resume<unknown>('work')
    expect([resumed.checkpoint?.id, resumed.state]).toEqual([saved[0], { n: 1 }])
    expect((await resumed.session.save({ state: { n: 4 } })).step).toBe(3)
    await resumed.session.complete()
    await resumed.session.close()
    expect(await store.verify()).toMatchObject({ problems: [] })
    const all = await project.drop(['1', '2'], { of: 'work', dryRun: true })
    expect(all.sessions).toEqual(['work'])
    await project.drop(['1', '2'], { of: 'work' })
    expect(await store.sessions()).toEqual([])
    expect(await store.verify()).toMatchObject({ problems: [] })
  })

  test('the result says if the last undo needs the checkpoint', async () => {
    await using s = await scratch({ files: { a: '1' } })
    const store = await s.open()
    const project = await store.project(s.project)
    const { id } = await project.save()
    s.write({ a: '2' })
    await project.rewind(id)
    expect(await project.drop(['2'])).toMatchObject({ forgetsUndo: true })
    await expect(project.undo()).rejects.toMatchObject({ code: 'NOTHING_TO_UNDO' })
    expect(await store.verify()).toMatchObject({ problems: [] })
  })
})

describe('clear of a project', () => {
  test('removes its checkpoints, sessions and contents, and keeps other projects', async () => {
    await using s = await scratch({ files: { a: '1' } })
    const store = await s.open()
    const project = await store.project(s.project)
    const other = await store.project(otherFolder(s, 'other'))
    const kept = await saveMany(other, s, { count: 2 })
    const session = await store.session<unknown>('of project', { project })
    await session.save({ state: { n: 1 }, files: true })
    await saveMany(project, s, { count: 3, bytes: 50_000 })
    await expect(project.clear()).rejects.toMatchObject({ code: 'SESSION_BUSY' })
    await session.complete()
    await session.close()
    const alone = await store.session<unknown>('alone')
    await alone.save({ state: { n: 1 } })
    await alone.close()
    expect(await project.clear({ dryRun: true })).toEqual({
      path: s.project,
      checkpoints: 4,
      sessions: 1,
      applied: false,
      bytesReclaimed: 0,
    })
    const result = await project.clear()
    expect(result).toMatchObject({ applied: true, checkpoints: 4, sessions: 1 })
    expect(result.bytesReclaimed).toBeGreaterThan(100_000)
    expect((await store.sessions()).map(({ id }) => id)).toEqual(['alone'])
    expect((await store.status()).projects.map(({ path }) => path)).toEqual([other.path])
    expect(await idsOf(other)).toEqual(kept.toReversed())
    expect(await store.verify()).toMatchObject({ problems: [] })
    expect(await project.clear()).toMatchObject({ applied: true, checkpoints: 0 })
    // The project and the session id can be used again.
    expect((await project.save()).created).toBe(true)
    const again = await store.session<unknown>('of project', { project })
    expect((await again.save({ state: { n: 2 } })).step).toBe(0)
    expect(await store.verify()).toMatchObject({ problems: [] })
  })
})

describe('killed', () => {
  test.each(Object.entries(DROP_POINTS))('at %s', async (point, call) => {
    await using s = await scratch({ files: { a: '1' } })
    await inChild(s, `await project.save({ name: 'start' })`)
    s.write({ a: '2' })
    await inChild(s, `await project.save({ name: 'end' })`)
    const killed = inChild(s, `await ${call}`, { env: { SAVESTATE_FAILPOINT: point } })
    await expect(killed).rejects.toMatchObject({ signal: 'SIGKILL' })
    await withStore(s, async (store) => {
      const project = await store.project(s.project)
      const names = (await project.list()).map(({ name }) => name)
      expect(names).toEqual(point === 'drop:rows-removed' ? ['end'] : [])
      const { problems } = await store.verify()
      expect(problems.filter(({ severity }) => severity !== 'note')).toEqual([])
      await store.prune()
      expect(await store.verify()).toMatchObject({ problems: [] })
      const refs = s.git(['-C', join(s.home, 'objects.git'), 'for-each-ref'])
      expect(refs.split('\n').filter((line) => line !== '')).toHaveLength(names.length)
    })
  })
})
