// `open`: a checkpoint in another folder, exact, and nothing anywhere else.
import {
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Scratch, scratch } from '../../support/scratch.js'

const FILES = {
  'a.txt': 'one\n',
  'bin/run': { content: '#!/bin/sh\n', mode: 0o755 },
  'bin/private': { content: 'x', mode: 0o600 },
  'closed/inside.txt': 'kept',
  'empty/deeper': { folder: 0o700 },
  link: { link: 'nowhere/else' },
  '"\\377"': 'a name that is not UTF-8',
} as const

test('the folder has every file, mode, link and empty folder of the checkpoint', async () => {
  await using s = await scratch({ files: FILES })
  s.write({ closed: { folder: 0o500 } })
  const store = await s.open()
  const project = await store.project(s.project)
  const { id } = await project.save()
  const then = s.snapshotOf()
  s.write({ 'a.txt': 'two\n', 'b.txt': 'later', link: null })
  const now = s.snapshotOf()
  const home = s.hashTree(join(s.home, 'objects.git'))
  const into = join(s.folder, 'elsewhere', 'copy')
  expect(await project.open(id, { into })).toEqual({ path: into, checkpoint: id })
  expect(s.snapshotOf(into)).toEqual(then)
  expect(s.snapshotOf()).toEqual(now)
  expect(s.hashTree(join(s.home, 'objects.git'))).toEqual(home)
  expect((await store.projects()).map(({ path }) => path)).toEqual([s.project])
  expect(await project.count()).toBe(1)
})

test('without a folder it is beside the project', async () => {
  await using s = await scratch({ files: { a: '1' } })
  const project = await (await s.open()).project(s.project)
  const { id } = await project.save()
  expect(await project.open('1')).toEqual({
    path: `${s.project}-${id.slice(0, 8)}`,
    checkpoint: id,
  })
  await expect(project.open('1')).rejects.toMatchObject({
    code: 'BAD_INPUT',
    message: `${JSON.stringify(`${s.project}-${id.slice(0, 8)}`)} is not empty`,
  })
})

test('an empty folder is used, and one with anything in it is left alone', async () => {
  await using s = await scratch({ files: { a: '1' } })
  const project = await (await s.open()).project(s.project)
  await project.save()
  const empty = join(s.folder, 'empty')
  const full = join(s.folder, 'full')
  mkdirSync(empty)
  s.write({ 'keep.txt': 'mine' }, full)
  writeFileSync(join(s.folder, 'file'), 'mine')
  await project.open('1', { into: empty })
  expect(readFileSync(join(empty, 'a'), 'utf8')).toBe('1')
  const before = s.snapshotOf(s.folder, { except: ['home'] })
  const refused = async (into: string) =>
    project.open('1', { into }).then(
      () => 'done',
      (error: { code: string; message: string }) => `${error.code}: ${error.message}`,
    )
  const named = (path: string) => JSON.stringify(path)
  expect([
    await refused(full),
    await refused(join(s.folder, 'file')),
    await refused(join(s.project, 'inside')),
    await refused(''),
  ]).toEqual([
    `BAD_INPUT: ${named(full)} is not empty`,
    `BAD_INPUT: ${named(join(s.folder, 'file'))} exists and is not a folder`,
    `BAD_INPUT: ${named(join(s.project, 'inside'))} is in the project: the next save would capture it`,
    'BAD_INPUT: The name of a folder cannot be empty',
  ])
  await expect(project.open('1', { into: join(s.home, 'copy') })).rejects.toMatchObject({
    code: 'PROJECT_REFUSED',
  })
  expect(s.snapshotOf(s.folder, { except: ['home'] })).toEqual(before)
})

test('a checkpoint that cannot be written leaves no folder', async () => {
  await using s = await scratch({ files: { a: '1', b: '2' } })
  s.allowDamage()
  const project = await (await s.open()).project(s.project)
  await project.save()
  const blob = s.git(['hash-object', join(s.project, 'b')])
  rmSync(join(s.home, 'objects.git', 'objects', blob.slice(0, 2), blob.slice(2)))
  const into = join(s.folder, 'new', 'copy')
  await expect(project.open('1', { into })).rejects.toMatchObject({ code: 'STORE_DAMAGED' })
  expect(lstatSync(join(s.folder, 'new'), { throwIfNoEntry: false })).toBeUndefined()
})

test('dependencies are linked entry by entry, or copied, or left out', async () => {
  await using s = await scratch({
    files: { '.gitignore': 'node_modules\n', 'packages/w/w.js': '1' },
  })
  const project = await (await s.open()).project(s.project)
  const { id } = await project.save()
  dependencies(s)
  const opened = async (mode: 'none' | 'link' | 'copy') =>
    (await project.open(id, { into: join(s.folder, mode), dependencies: mode })).path
  expect(lstatSync(join(await opened('none'), 'node_modules'), { throwIfNoEntry: false })).toBe(
    undefined,
  )
  const linked = join(await opened('link'), 'node_modules')
  const linkAt = (path: string) => readlinkSync(join(linked, path))
  expect([linkAt('left'), linkAt('@s/right'), linkAt('w'), linkAt('.bin/left')]).toEqual([
    join(s.project, 'node_modules/left'),
    join(s.project, 'node_modules/@s/right'),
    '../packages/w',
    '../left/index.js',
  ])
  // The files of the checkpoint, not those of the project now.
  expect(readFileSync(join(linked, 'w/w.js'), 'utf8')).toBe('1')
  expect(lstatSync(join(linked, '.vite'), { throwIfNoEntry: false })).toBeUndefined()
  const copied = join(await opened('copy'), 'node_modules')
  const copy = s.snapshotOf(copied)
  expect(copy).toEqual(s.snapshotOf(join(s.project, 'node_modules')))
  expect(statSync(join(copied, 'left/index.js')).ino).not.toBe(
    statSync(join(s.project, 'node_modules/left/index.js')).ino,
  )
})

function dependencies(s: Scratch): void {
  s.write({
    'packages/w/w.js': '2',
    'node_modules/left/index.js': 'left',
    'node_modules/@s/right/index.js': 'right',
    'node_modules/w': { link: '../packages/w' },
    'node_modules/.bin/left': { link: '../left/index.js' },
    'node_modules/.vite/cache': 'x',
  })
}
