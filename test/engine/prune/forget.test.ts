// docs/guide/store.md#forget: removes a path from every checkpoint and from the store, and changes nothing else.
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { inChild } from '../../snapshot/capture/capture-helpers.js'
import { FORGET_POINTS } from '../../support/failpoints/forget.js'
import { type Scratch, scratch, sdk } from '../../support/scratch.js'

const MARKER = 'a word that must not stay'

test('forget removes a file from all checkpoints and its content from the store; everything else is restored exactly', async () => {
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
    // A rewind keeps the current file: the checkpoint records that its path was forgotten.
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

test('forget removes a folder with its contents, and refuses a path that no checkpoint has', async () => {
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

test('forget keeps a copy at another path', async () => {
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
  test(`a forget killed at ${point} has happened completely or not at all, and a prune cleans up`, async () => {
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
    // A second run completes the work, or finds nothing to do.
    const again = await project.forget('secret').then(
      () => 'forgotten',
      (error: { code?: string }) => error.code,
    )
    // The safety checkpoint of the rewind has saved the file again.
    expect(again).toBe('forgotten')
    expect(holdsMarker(s)).toBe(false)
    await store.close()
  })
}

/** True if any object of the store contains the marker. */
function holdsMarker(s: Scratch): boolean {
  const git = (...args: string[]) => s.git(args, { cwd: join(s.home, 'objects.git') }).toString()
  const ids = git('cat-file', '--batch-all-objects', '--batch-check=%(objectname) %(objecttype)')
  return ids
    .split('\n')
    .filter((line) => line.endsWith(' blob'))
    .some((line) => git('cat-file', 'blob', line.slice(0, 40)).includes(MARKER))
}

test('forget leaves no temporary files', async () => {
  await using s = await scratch()
  const store = await s.open()
  const project = await store.project(s.project)
  s.write({ secret: MARKER })
  await project.save()
  await project.forget('secret')
  expect(readdirSync(join(s.home, 'tmp'))).toEqual([])
})
