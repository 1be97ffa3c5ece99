// docs/guide/store.md#sizes: the size of each project in status.
import { randomBytes } from 'node:crypto'
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { otherFolder, planOf, saveMany } from '../prune/prune-helpers.js'
import { scratch } from '../../support/scratch.js'

const BYTES = 100_000

test('status lists the largest project first, and its size follows saves and prunes', async () => {
  await using s = await scratch()
  const store = await s.open()
  const large = await store.project(s.project)
  const small = await store.project(otherFolder(s, 'small'))
  await saveMany(large, s, { count: 3, bytes: BYTES })
  await saveMany(small, s, { count: 2 })
  const sizes = async () => {
    const { projects } = await store.status()
    return new Map(projects.map(({ path, sizeBytes }) => [path, sizeBytes ?? -1]))
  }
  const first = await sizes()
  expect([...first.keys()]).toEqual([large.path, small.path])
  // Each save also has trees and a commit, which take their own blocks until they are packed.
  const near = (bytes = 0, wanted = 0) => bytes >= wanted && bytes < 1.2 * wanted
  expect(near(first.get(large.path), 3 * BYTES)).toBe(true)
  expect(await sizes()).toEqual(first)
  await saveMany(large, s, { count: 1, bytes: BYTES })
  const grown = await sizes()
  expect(near(grown.get(large.path), 4 * BYTES)).toBe(true)
  expect(grown.get(small.path)).toBe(first.get(small.path))
  await large.drop(['2', '3'])
  expect(near((await sizes()).get(large.path), 2 * BYTES)).toBe(true)
  await store.prune({ maxCheckpoints: 1 })
  expect(near((await sizes()).get(large.path), BYTES)).toBe(true)
  await saveMany(small, s, { count: 1, bytes: 3 * BYTES })
  expect([...(await sizes()).keys()]).toEqual([small.path, large.path])
})

test('repeated content counts once, and a prune frees at most what status shows', async () => {
  await using s = await scratch()
  const store = await s.open()
  const project = await store.project(s.project)
  const contents = [randomBytes(BYTES), randomBytes(BYTES)]
  const sizes: number[] = []
  for (let n = 0; n < 6; n += 1) {
    s.write({ 'noise.bin': contents[n % 2] ?? '' })
    await project.save()
    sizes.push((await store.status()).projects[0]?.sizeBytes ?? -1)
  }
  const [, two = 0, , , , six = 0] = sizes
  expect([two >= 2 * BYTES, six < 3 * BYTES]).toEqual([true, true])
  const planned = await store.prune({ dryRun: true, maxCheckpoints: 1 })
  const { freesBytes } = planOf(planned, s.project)
  expect([freesBytes >= BYTES, freesBytes <= six - BYTES]).toEqual([true, true])
})

test('content that two projects share counts for both', async () => {
  await using s = await scratch()
  const store = await s.open()
  const one = await store.project(s.project)
  const two = await store.project(otherFolder(s, 'two'))
  const content = randomBytes(BYTES)
  for (const project of [one, two]) {
    s.write({ 'same.bin': content }, project.path)
    await project.save()
  }
  const { projects } = await store.status()
  expect(projects.every(({ sizeBytes }) => (sizeBytes ?? 0) >= BYTES)).toBe(true)
})

test('if objects are missing the size is unknown, and status still answers', async () => {
  await using s = await scratch()
  s.allowDamage()
  const store = await s.open()
  const project = await store.project(s.project)
  await saveMany(project, s, { count: 1 })
  const objects = join(s.home, 'objects.git', 'objects')
  for (const name of readdirSync(objects))
    rmSync(join(objects, name), { recursive: true, force: true })
  expect((await store.status()).projects).toMatchObject([{ checkpoints: 1, sizeBytes: null }])
})
