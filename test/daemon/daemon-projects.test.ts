// The projects that the daemon watches, and how it releases them.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { WatchedProjects } from '../../src/daemon/server/watched-projects.js'
import { takeProjectLock } from '../support/project-lock.js'
import { scratch } from '../support/scratch.js'

const TEN_MINUTES_MS = 10 * 60_000

test('an unused project is released, and later saves are still exact', async () => {
  await using s = await scratch({ files: { 'a.txt': 'one\n', 'sub/b.txt': 'b\n' } })
  const store = await s.open()
  const projects = new WatchedProjects()
  const project = projects.watch(await store.project(s.project))
  const first = await project.save()
  await project.save()
  expect((await store.status()).watches).toMatchObject([{ path: s.project, isWatching: true }])
  await projects.shed(Date.now() + TEN_MINUTES_MS - 5000)
  expect(projects.uses).toMatchObject([{ path: s.project }])
  await projects.shed(Date.now() + TEN_MINUTES_MS)
  expect(projects.uses).toEqual([])
  expect((await store.status()).watches).toEqual([])
  s.write({ 'a.txt': 'two\n' })
  expect(await project.save()).toMatchObject({ created: true, files: 1 })
  s.write({ 'sub/b.txt': null })
  await project.rewind(first.id)
  expect(s.snapshotOf().get('sub/b.txt')).toBeDefined()
  expect((await project.save()).created).toBe(false)
})

test('a project that is used during its release stays watched', async () => {
  await using s = await scratch({ files: { 'a.txt': 'one\n' } })
  const store = await s.open()
  const projects = new WatchedProjects()
  const project = await store.project(s.project)
  const unload = project.internals.unload.bind(project.internals)
  project.internals.unload = async () => {
    const isGone = await unload()
    projects.watch(project)
    return isGone
  }
  await projects.watch(project).save()
  await projects.shed(Date.now() + TEN_MINUTES_MS)
  await project.save()
  expect((await store.status()).watches).toMatchObject([{ path: s.project }])
  expect(projects.uses).toMatchObject([{ path: s.project }])
})

test('the least recently used projects are released', async () => {
  await using s = await scratch()
  const store = await s.open()
  const projects = new WatchedProjects()
  const folders = Array.from({ length: 20 }, (_, number) => join(s.folder, `project-${number}`))
  for (const folder of folders) {
    mkdirSync(folder)
    writeFileSync(join(folder, 'a.txt'), 'one\n')
    await projects.watch(await store.project(folder)).save()
  }
  // The first is used again.
  projects.watch(await store.project(folders[0] ?? ''))
  await projects.shed(Date.now())
  const kept = [folders[0], ...folders.slice(5).reverse()]
  expect(projects.uses.map(({ path }) => path)).toEqual(kept)
  const watched = (await store.status()).watches.map(({ path }) => path)
  expect(new Set(watched)).toEqual(new Set(kept))
})

test('a project with running work is not released', async () => {
  await using s = await scratch({ files: { 'a.txt': 'one\n' } })
  const store = await s.open()
  const projects = new WatchedProjects()
  const project = projects.watch(await store.project(s.project))
  await project.save()
  const lock = await takeProjectLock(s)
  await projects.shed(Date.now() + TEN_MINUTES_MS)
  expect(projects.uses).toMatchObject([{ path: s.project }])
  lock.release()
})
