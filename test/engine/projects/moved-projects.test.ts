// Projects whose folder was removed or moved: their checkpoints can be found, restored, and moved to the new path.
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { inChild } from '../../snapshot/capture/capture-helpers.js'
import { scratch as commandScratch } from '../../cli/program.js'
import { MOVE_POINTS } from '../../support/failpoints/move.js'
import { type Scratch, scratch } from '../../support/scratch.js'

async function saved(s: Scratch) {
  const store = await s.open()
  const project = await store.project(s.project)
  const { id } = await project.save({ name: 'works' })
  return { store, project, id }
}

const FILES = { 'a.txt': 'one', 'deep/b.txt': { content: 'two', mode: 0o755 } }

test('a project whose folder was removed is listed, and a rewind recreates the folder', async () => {
  await using s = await scratch({ files: FILES })
  const { store, id } = await saved(s)
  const before = s.snapshotOf()
  rmSync(s.project, { recursive: true })
  const project = await store.project(s.project)
  expect((await project.list()).map((row) => row.id)).toEqual([id])
  await expect(project.rewind('works', { dryRun: true })).rejects.toMatchObject({
    code: 'PROJECT_MISSING',
  })
  const declined = await project.rewind('works', { confirm: async () => false })
  expect(declined.plan.write.map(({ path }) => path)).toContain('a.txt')
  const unknown = { code: 'CHECKPOINT_UNKNOWN' }
  await expect(project.rewind('nothing')).rejects.toMatchObject(unknown)
  expect(existsSync(s.project)).toBe(false)
  expect(await project.rewind('works')).toMatchObject({ applied: true })
  expect(s.snapshotOf()).toEqual(before)
})

test('a rewind to a checkpoint of an empty folder recreates the folder', async () => {
  await using s = await scratch()
  // A mode that no new folder has, so that the rewind has something to do.
  chmodSync(s.project, 0o710)
  const { project, id } = await saved(s)
  rmSync(s.project, { recursive: true })
  expect(await project.rewind(id)).toMatchObject({ applied: true })
  expect(statSync(s.project).mode & 0o777).toBe(0o710)
})

test('a rewind does not create the parent of the project', async () => {
  await using s = await scratch()
  const store = await s.open()
  const path = join(s.folder, 'above/app')
  s.write({ 'a.txt': 'one' }, path)
  await (await store.project(path)).save()
  rmSync(join(s.folder, 'above'), { recursive: true })
  const project = await store.project(path)
  await expect(project.rewind('1')).rejects.toMatchObject({ code: 'PROJECT_MISSING' })
  expect(existsSync(join(s.folder, 'above'))).toBe(false)
  // As if the disk were not mounted.
  mkdirSync(join(s.folder, 'above'))
  await expect(project.rewind('1')).rejects.toMatchObject({ code: 'PROJECT_MISSING' })
  mkdirSync(path)
  expect(await project.rewind('1')).toMatchObject({ applied: true })
  await expect(store.project(join(s.folder, 'never'))).rejects.toMatchObject({
    code: 'PROJECT_MISSING',
  })
})

test('a moved folder finds its old path and can take over its history', async () => {
  await using s = await scratch({ files: FILES })
  const { store, id } = await saved(s)
  const moved = join(s.folder, 'moved')
  const { maintenance } = store
  const refused = { code: 'BAD_INPUT' }
  await expect(maintenance.moveProject(s.project, s.folder)).rejects.toMatchObject(refused)
  renameSync(s.project, moved)
  const project = await store.project(moved)
  expect(await project.internals.origin()).toEqual({ partOf: null, maybeMovedFrom: [s.project] })
  await expect(maintenance.moveProject(moved, moved)).rejects.toMatchObject(refused)
  const other = join(s.folder, 'other')
  await expect(maintenance.moveProject(other, moved)).rejects.toMatchObject(refused)
  s.write({ x: 'x' }, other)
  const { id: own } = await (await store.project(other)).save()
  await expect(maintenance.moveProject(s.project, other)).rejects.toMatchObject(refused)
  expect(await maintenance.moveProject(s.project, moved)).toEqual({
    from: s.project,
    to: moved,
    checkpoints: 1,
  })
  expect(await project.internals.origin()).toEqual({ partOf: null, maybeMovedFrom: [] })
  s.write({ 'a.txt': 'changed' }, moved)
  await project.save()
  await project.rewind(id)
  expect(readFileSync(join(moved, 'a.txt'), 'utf8')).toBe('one')
  expect((await (await store.project(other)).list()).map((row) => row.id)).toEqual([own])
  expect((await store.verify()).problems).toEqual([])
  // The old path is free for another project.
  mkdirSync(s.project)
  expect(await (await store.project(s.project)).list()).toEqual([])
})

test.each(Object.keys(MOVE_POINTS))(
  'a move killed at %s is complete or has not happened',
  async (point) => {
    await using s = await scratch({ files: FILES })
    const { store } = await saved(s)
    await store.close()
    const moved = join(s.folder, 'moved')
    renameSync(s.project, moved)
    const body = `await store.maintenance.moveProject(${JSON.stringify(s.project)}, ${JSON.stringify(moved)})`
    const env = { SAVESTATE_FAILPOINT: point }
    await expect(inChild(s, body, { env })).rejects.toMatchObject({ signal: 'SIGKILL' })
    const again = await s.open()
    const { projects } = await again.status()
    expect(projects.map(({ path }) => path)).toEqual([
      point === 'move:after-row' ? moved : s.project,
    ])
    expect((await again.verify()).problems).toEqual([])
  },
)

test('an interrupted rewind is finished before its project is moved', async () => {
  await using s = await scratch({ files: FILES })
  const { store, id } = await saved(s)
  s.write({ 'a.txt': 'two' })
  await store.close()
  const env = { SAVESTATE_FAILPOINT: 'restore:journaled' }
  const body = `await (await store.project(scratch.project)).rewind(${JSON.stringify(id)})`
  await expect(inChild(s, body, { env })).rejects.toMatchObject({ signal: 'SIGKILL' })
  const moved = join(s.folder, 'moved')
  renameSync(s.project, moved)
  const { maintenance } = await s.open()
  await expect(maintenance.moveProject(s.project, moved)).rejects.toMatchObject({
    code: 'BAD_INPUT',
  })
})

test('the command line says where the checkpoints of a folder are', () => {
  using s = commandScratch({ 'package.json': '{}', 'packages/a/package.json': '{}' })
  s.json(['save', '--name', 'root'])
  const cwd = join(s.project, 'packages/a')
  const part = `${cwd} is saved as part of ${s.project}.\n`
  const list = s.run(['list', '--json'], { cwd })
  expect(list).toMatchObject({ code: 0, stderr: part })
  expect(JSON.parse(list.stdout)).toMatchObject({ checkpoints: [{ name: 'root' }] })
  expect(s.run(['save'], { cwd }).stdout).toMatch(/^Nothing changed since/)
  expect(s.run(['-C', cwd, 'rewind', '1', '-y'])).toMatchObject({ code: 0, stderr: part })
  const moved = join(s.folder, 'moved')
  renameSync(s.project, moved)
  expect(s.run(['list'], { cwd: moved }).stderr).toBe(
    `${s.project} has checkpoints and no longer exists. If it was moved here: savestate move ${s.project}\n`,
  )
  expect(s.run(['move', '../project'], { cwd: moved })).toEqual({
    code: 0,
    stdout: `1 checkpoint of ${s.project} now belongs to ${moved}. See: savestate list\n`,
    stderr: '',
  })
  rmSync(moved, { recursive: true })
  expect(s.run(['-C', 'moved', 'rewind', 'root', '-y'], { cwd: s.folder })).toMatchObject({
    code: 0,
    stderr: `${moved} no longer existed; it was created again.\n`,
  })
  expect(existsSync(join(moved, 'packages/a/package.json'))).toBe(true)
})
