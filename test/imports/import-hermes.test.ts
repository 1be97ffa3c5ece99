// Imports from Hermes: files with their times and reasons, once, without changing the source.
import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { importFrom } from '../../src/imports/index.js'
import { addVersion2, type Commit, git, hash16, makeVersion1 } from './hermes-folder.js'
import { type Scratch, scratch } from '../support/scratch.js'

const DAY = 86_400
const T0 = 1_700_000_000
const iso = (seconds: number) => new Date(seconds * 1000).toISOString()

const ONE: Commit = { reason: 'before write_file: a.txt', at: T0, files: { 'a.txt': 'one\n' } }
const TWO: Commit = {
  reason: 'before patch\nof two lines\n\nand a body',
  at: T0 + DAY,
  files: { 'a.txt': 'two\n', 'src/run.sh': { executable: '#!/bin/sh\n' } },
}
const THREE: Commit = { reason: 'third', at: T0 + 2 * DAY, files: { 'src/b.txt': 'b\n' } }

/** Everything: both versions, an archive, a missing folder, a task. */
function hermesFolder(s: Scratch): { base: string; gone: string; archived: string } {
  const base = join(s.folder, 'hermes')
  const [gone, archived] = [join(s.folder, 'away', 'gone'), join(s.folder, 'archived')]
  mkdirSync(archived)
  addVersion2(base, s.project, [ONE, TWO])
  addVersion2(base, gone, [THREE])
  makeVersion1(base, s.project, [{ ...ONE, at: T0 - DAY, reason: 'oldest' }])
  makeVersion1(join(base, 'legacy-20251101'), archived, [ONE, THREE])
  writeFileSync(join(base, 'task-1.yaml'), 'goal: ship it\nstatus: completed\n')
  git(join(base, 'store'), ['pack-refs', '--all'])
  return { base, gone, archived }
}

test('everything in one folder is planned and imported once, and the source is unchanged', async () => {
  await using s = await scratch({ files: { 'a.txt': 'now\n' } })
  const { base, gone, archived } = hermesFolder(s)
  const before = s.hashTree(base)
  const store = await s.open()
  const first = await importFrom(store, 'hermes', { path: base, dryRun: true })
  expect(first).toEqual({
    plan: first.plan,
    applied: false,
    declined: false,
    added: 0,
    known: 0,
    problems: [],
  })
  const source = (kind: string, where: string, more: object) => ({
    kind,
    source: join(base, where),
    project: null,
    session: null,
    known: 0,
    ...more,
  })
  const sources = [
    source('hermes-v1', hash16(s.project), {
      project: s.project,
      add: 1,
      oldest: iso(T0 - DAY),
      newest: iso(T0 - DAY),
    }),
    source('hermes-v1', `legacy-20251101/${hash16(archived)}`, {
      project: archived,
      add: 2,
      oldest: iso(T0),
      newest: iso(T0 + 2 * DAY),
    }),
    ...[
      [s.project, { add: 2, oldest: iso(T0), newest: iso(T0 + DAY) }] as const,
      [gone, { add: 1, oldest: iso(T0 + 2 * DAY), newest: iso(T0 + 2 * DAY) }] as const,
    ].map(([project, more]) =>
      source('hermes-v2', `store refs/hermes/${hash16(project)}`, { project, ...more }),
    ),
    source('hermes-task', 'task-1.yaml', {
      session: 'task-1',
      add: 1,
      oldest: expect.any(String),
      newest: expect.any(String),
    }),
  ]
  expect({ ...first.plan, sources: new Set(first.plan.sources) }).toEqual({
    sources: new Set(sources),
    add: 7,
    known: 0,
    problems: [],
  })
  expect((await store.status()).projects).toEqual([])

  expect(await importFrom(store, 'hermes', { path: base })).toEqual({
    ...first,
    applied: true,
    added: 7,
  })
  const again = await importFrom(store, 'hermes', { path: base })
  expect(again).toMatchObject({ applied: false, added: 0, known: 7, problems: [] })
  expect(again.plan).toMatchObject({ add: 0, known: 7 })
  expect(s.hashTree(base)).toEqual(before)

  const { projects } = await store.status()
  expect(
    new Map(projects.map(({ path, state, checkpoints }) => [path, { state, checkpoints }])),
  ).toEqual(
    new Map([
      [s.project, { state: 'live', checkpoints: 3 }],
      [archived, { state: 'live', checkpoints: 2 }],
      [gone, { state: 'unreachable', checkpoints: 1 }],
    ]),
  )
  expect((await store.verify()).problems).toEqual([])
})

test('imported checkpoints can be listed, shown, compared and restored, and the rewind undone', async () => {
  await using s = await scratch({ files: { 'a.txt': 'now\n', 'later.txt': 'later\n' } })
  const { base } = hermesFolder(s)
  const store = await s.open()
  await importFrom(store, 'hermes', { path: base })
  const project = await store.project(s.project)
  const checkpoints = await project.list()
  expect(
    checkpoints.map(({ kind, reason, createdAt }) => ({
      kind,
      reason,
      createdAt: createdAt.toISOString(),
    })),
  ).toEqual([
    { kind: 'imported', reason: 'before patch of two lines', createdAt: iso(T0 + DAY) },
    { kind: 'imported', reason: 'before write_file: a.txt', createdAt: iso(T0) },
    { kind: 'imported', reason: 'oldest', createdAt: iso(T0 - DAY) },
  ])
  expect(
    checkpoints.map(({ files, insertions, deletions }) => [files, insertions, deletions]),
  ).toEqual([
    [2, 2, 1],
    [1, 1, 0],
    [1, 1, 0],
  ])
  const shown = await project.show('1')
  expect(shown).toMatchObject({ fileCount: 2, skippedPaths: [] })
  const { changes } = await project.diff('2', { to: '1' })
  expect(changes.map(({ path }) => path).sort()).toEqual(['a.txt', 'src', 'src/run.sh'].sort())
  const present = s.snapshotOf()
  await project.rewind('1')
  expect(readFileSync(join(s.project, 'a.txt'), 'utf8')).toBe('two\n')
  expect(statSync(join(s.project, 'src/run.sh')).mode & 0o777).toBe(0o755)
  expect([...s.snapshotOf().keys()].sort()).toEqual(['', 'a.txt', 'src', 'src/run.sh'])
  await project.undo()
  expect(s.snapshotOf()).toEqual(present)
  expect((await store.verify()).problems).toEqual([])
})

test('our own checkpoints stay the newest, and no number changes', async () => {
  await using s = await scratch({ files: { 'a.txt': 'mine\n' } })
  const { base } = hermesFolder(s)
  const store = await s.open()
  const project = await store.project(s.project)
  const own = await project.save({ reason: 'own' })
  s.write({ 'a.txt': 'newer\n' })
  const newer = await project.save({ reason: 'newer' })
  await importFrom(store, 'hermes', { path: base })
  const reasons = async () => (await project.list()).map(({ reason }) => reason)
  const imported = ['before patch of two lines', 'before write_file: a.txt', 'oldest']
  expect(await reasons()).toEqual(['newer', 'own', ...imported])
  expect((await project.show('1')).id).toBe(newer.id)
  expect((await project.show('2')).id).toBe(own.id)
  expect(await project.save()).toMatchObject({ id: newer.id, created: false })

  // Newer checkpoints of Hermes are inserted among the imported ones.
  addVersion2(base, s.project, [ONE, TWO, { ...ONE, at: T0 + 5, reason: 'clock set back' }])
  expect(await importFrom(store, 'hermes', { path: base })).toMatchObject({ added: 1, known: 7 })
  expect(await reasons()).toEqual(['newer', 'own', 'clock set back', ...imported])
  s.write({ 'a.txt': 'newest\n' })
  await project.save({ reason: 'newest' })
  expect((await reasons())[0]).toBe('newest')
})

test('a rewind does not change modes that Hermes did not record, except the executable bit', async () => {
  await using s = await scratch({
    files: {
      'a.txt': { content: 'two\n', mode: 0o600 },
      'src/run.sh': { content: '#!/bin/sh\n', mode: 0o600 },
      'src/old.txt': 'old\n',
    },
  })
  chmodSync(s.project, 0o700)
  addVersion2(join(s.folder, 'hermes'), s.project, [ONE, TWO])
  const store = await s.open()
  await importFrom(store, 'hermes', { path: join(s.folder, 'hermes') })
  const project = await store.project(s.project)
  const modeOf = (path: string) => statSync(join(s.project, path)).mode & 0o777
  const { plan } = await project.rewind('1', { dryRun: true })
  expect(plan.write.map(({ path }) => path)).toEqual(['src/run.sh'])
  await project.rewind('1')
  expect([modeOf('a.txt'), modeOf('src/run.sh'), modeOf('')]).toEqual([0o600, 0o755, 0o700])
  await project.rewind((await project.list()).at(-1)?.id ?? '')
  expect(readFileSync(join(s.project, 'a.txt'), 'utf8')).toBe('one\n')
  expect(modeOf('a.txt')).toBe(0o600)
  expect((await project.diff((await project.list()).at(-1)?.id ?? '')).changes).toEqual([])
})

test('a project that reappears is found under its path', async () => {
  await using s = await scratch()
  const { base, gone } = hermesFolder(s)
  const store = await s.open()
  await importFrom(store, 'hermes', { path: base })
  const project = await store.project(gone)
  await expect(project.save()).rejects.toMatchObject({ code: 'PROJECT_MISSING' })
  mkdirSync(gone, { recursive: true })
  await project.rewind('1')
  expect([...s.snapshotOf(gone).keys()]).toEqual(['', 'src', 'src/b.txt'])
  expect(readFileSync(join(gone, 'src/b.txt'), 'utf8')).toBe('b\n')
})

test('dropped checkpoints can be imported again', async () => {
  await using s = await scratch()
  const { base } = hermesFolder(s)
  const store = await s.open()
  await importFrom(store, 'hermes', { path: base })
  expect(await store.deleteSession('task-1')).toBe(1)
  expect(await importFrom(store, 'hermes', { path: base })).toMatchObject({ added: 1, known: 6 })
  expect((await store.sessions()).map(({ id, status }) => [id, status])).toEqual([
    ['task-1', 'completed'],
  ])
})

test('a folder without Hermes data, or a missing path, is refused', async () => {
  await using s = await scratch({ files: { 'a.txt': '' } })
  const store = await s.open()
  const missing = ['', ' ', '..\0', 'nul\0byte', 'lone \ud800', '"\\000"', 'x'.repeat(10 << 20)]
  for (const path of [s.project, join(s.project, 'a.txt'), join(s.folder, 'no'), ...missing])
    await expect(importFrom(store, 'hermes', { path })).rejects.toMatchObject({ code: 'BAD_INPUT' })
})
