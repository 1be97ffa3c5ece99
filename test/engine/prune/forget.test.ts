// docs/store.md#forget: a path leaves every checkpoint and the store, and nothing else changes.
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { inChild } from '../../snapshot/capture/capture-helpers.js'
import { FORGET_POINTS } from '../../support/failpoints/forget.js'
import { type Scratch, scratch, sdk } from '../../support/scratch.js'

const MARKER = 'a word that must not stay'

test('a file leaves all checkpoints, its content the store, and the rest comes back to the bit', async () => {
  await using s = await scratch()
  const store = await s.open()
  const project = await store.project(s.project)
  const points: { id: string; seen: ReturnType<Scratch['snapshotOf']> }[] = []
  for (let i = 0; i < 4; i++) {
    s.write({
      'deep/er/secret.txt': { content: `${MARKER} ${i}`, mode: 0o600 },
      'deep/other': { content: `${i}`, mode: 0o640 },
      'top.txt': 'top',
    })
    const { id } = await project.save({ name: `n${i}` })
    points.push({ id, seen: s.snapshotOf() })
  }
  await project.pin('n0')
  const plan = await project.forget('deep/er/secret.txt', { dryRun: true })
  expect(plan).toMatchObject({ applied: false, files: 1, bytes: MARKER.length + 2 })
  expect(plan.checkpoints.length).toBe(4)
  expect(holdsMarker(s)).toBe(true)

  expect(await project.forget('deep/er/secret.txt')).toMatchObject({
    applied: true,
    isCurrent: true,
  })
  expect(holdsMarker(s)).toBe(false)
  expect(readFileSync(join(s.project, 'deep/er/secret.txt'), 'utf8')).toBe(`${MARKER} 3`)
  expect(await store.verify()).toMatchObject({ problems: [] })
  for (const { id, seen } of points) {
    await project.rewind(id)
    // What is there stays as it is: the checkpoint says that it was there and is forgotten.
    const mine = 'deep/er/secret.txt'
    const without = (all: typeof seen) => new Map([...all].filter(([path]) => path !== mine))
    expect(without(s.snapshotOf())).toEqual(without(seen))
    expect(existsSync(join(s.project, mine))).toBe(true)
    expect(await project.show(id)).toMatchObject({
      skippedByReason: { forgotten: 1 },
      fileCount: 2,
    })
  }
})

test('a folder goes with all that is in it, and the path must be somewhere', async () => {
  await using s = await scratch()
  const store = await s.open()
  const project = await store.project(s.project)
  s.write({ 'a/b/c': MARKER, 'a/b/d': `${MARKER}!`, 'a/e': 'stays' })
  const { id } = await project.save()
  expect(await project.forget('a/b')).toMatchObject({ files: 2, applied: true })
  expect(holdsMarker(s)).toBe(false)
  expect((await project.show(id)).fileCount).toBe(1)
  await expect(project.forget('a/b')).rejects.toMatchObject({ code: 'BAD_INPUT' })
  await expect(project.forget('../outside')).rejects.toMatchObject({ code: 'BAD_INPUT' })
  await expect(project.forget('.')).rejects.toMatchObject({
    message: expect.stringContaining('not the project'),
    hint: "Name a file or folder in it. To delete this project's history: savestate clear",
  })
})

test('a copy elsewhere is not touched', async () => {
  await using s = await scratch()
  const store = await s.open()
  const project = await store.project(s.project)
  s.write({ one: MARKER, two: MARKER })
  const { id } = await project.save()
  await project.forget('one')
  s.write({ two: null })
  await project.rewind(id)
  expect(readFileSync(join(s.project, 'two'), 'utf8')).toBe(MARKER)
})

for (const point of Object.keys(FORGET_POINTS)) {
  test(`killed at ${point} it has happened or not, and a prune leaves the store whole`, async () => {
    await using s = await scratch()
    s.write({ secret: MARKER, other: 'stays' })
    await inChild(s, `return (await project.save({ name: 'start' })).id`)
    s.write({ other: 'changed' })
    await inChild(s, `return (await project.save()).id`)
    const killed = inChild(s, `return await project.forget('secret')`, {
      env: { SAVESTATE_FAILPOINT: point },
    })
    await expect(killed).rejects.toMatchObject({ signal: 'SIGKILL' })
    const store = await sdk.openStore({ home: s.home })
    const project = await store.project(s.project)
    await store.prune()
    expect(await store.verify()).toMatchObject({ problems: [] })
    const isForgotten = FORGET_POINTS[point]
    const { fileCount } = await project.show('start')
    expect(fileCount).toBe(isForgotten ? 1 : 2)
    await project.rewind('start')
    expect(readFileSync(join(s.project, 'other'), 'utf8')).toBe('stays')
    // Run again it ends what was begun, or finds nothing left to do.
    const again = await project.forget('secret').then(
      () => 'forgotten',
      (error: { code?: string }) => error.code,
    )
    // The rewind has saved the file once more before it changed anything.
    expect(again).toBe('forgotten')
    expect(holdsMarker(s)).toBe(false)
    await store.close()
  })
}

/** Whether some object of the store holds the marker. */
function holdsMarker(s: Scratch): boolean {
  const git = (...args: string[]) => s.git(args, { cwd: join(s.home, 'objects.git') }).toString()
  const ids = git('cat-file', '--batch-all-objects', '--batch-check=%(objectname) %(objecttype)')
  return ids
    .split('\n')
    .filter((line) => line.endsWith(' blob'))
    .some((line) => git('cat-file', 'blob', line.slice(0, 40)).includes(MARKER))
}

test('the store leaves nothing lying about', async () => {
  await using s = await scratch()
  const store = await s.open()
  const project = await store.project(s.project)
  s.write({ secret: MARKER })
  await project.save()
  await project.forget('secret')
  expect(readdirSync(join(s.home, 'tmp'))).toEqual([])
})
