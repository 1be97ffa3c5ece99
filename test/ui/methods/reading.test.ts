// The methods that read, on real stores.
import { mkdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openPage } from '../page-helpers.js'

test('start has the newest 200 rows, and rows has the rest in pages', async () => {
  await using page = await openPage()
  const ids: string[] = []
  const session = await page.store.session('task', { project: page.project })
  for (let n = 0; n < 203; n += 1) ids.unshift((await session.save({ state: { n } })).id)
  const project = page.s.project
  const start = await page.call('start', {})
  expect(start).toMatchObject({
    version: '1.2.3',
    isReadOnly: false,
    isExport: false,
    project,
    projects: [{ path: project, checkpoints: 203, isMissing: false, lastAt: expect.any(String) }],
    total: 203,
    hasMore: true,
    hookedAgents: [],
  })
  expect(start.rows.map(({ id }) => id)).toEqual(ids.slice(0, 200))
  const next = await page.call('rows', { project, before: ids[199] ?? '', limit: 2 })
  expect([next.rows.map(({ id }) => id), next.hasMore]).toEqual([ids.slice(200, 202), true])
  const last = await page.call('rows', { project, before: ids[201] ?? '', limit: 2 })
  expect([last.rows.map(({ id }) => id), last.hasMore]).toEqual([ids.slice(202), false])
  const other = await page.store.session('other', { project: page.project })
  const { id } = await other.save({ state: {} })
  const ofOther = await page.call('rows', { project, limit: 5, session: 'other' })
  expect([ofOther.rows.map((row) => row.id), ofOther.hasMore]).toEqual([[id], false])
})

test('a folder without checkpoints is shown empty, beside the other projects', async () => {
  await using page = await openPage()
  const other = join(page.s.folder, 'other')
  mkdirSync(other)
  page.s.write({ 'a.txt': 'one\n' }, other)
  await (await page.store.project(other)).save()
  renameSync(other, `${other}-moved`)
  const { projects, project, rows } = await page.call('start', {})
  expect([project, rows]).toEqual([page.s.project, []])
  expect(projects).toEqual([
    { path: page.s.project, checkpoints: 0, isMissing: false, lastAt: null },
    { path: other, checkpoints: 1, isMissing: true, lastAt: expect.any(String) },
  ])
  expect(await page.call('start', { project: other })).toMatchObject({ project: other, total: 1 })
  expect(await page.refusal('here', { project: other })).toBe('404 PROJECT_MISSING')
})

test('here compares the folder with the newest checkpoint, and knows what can be undone', async () => {
  await using page = await openPage({ 'a.txt': 'one\n' })
  const { project } = page
  const here = () => page.call('here', { project: project.path })
  const nothing = { files: 0, insertions: 0, deletions: 0 }
  expect(await here()).toEqual({ newest: null, changed: nothing, undo: null, redo: null })
  const { id } = await project.save()
  page.s.write({ 'a.txt': 'two\nthree\n' })
  expect(await here()).toEqual({
    newest: id,
    changed: { files: 1, insertions: 2, deletions: 1 },
    undo: null,
    redo: null,
  })
  await project.rewind(id)
  expect(await here()).toMatchObject({ changed: nothing, undo: { to: { id } }, redo: null })
  await project.undo()
  expect(await here()).toMatchObject({ undo: null, redo: { to: { id } } })
})

test('a checkpoint: its details, its changes in three ways, one patch, one folder', async () => {
  await using page = await openPage({ 'src/a.txt': 'one\n', 'b.txt': 'b\n' })
  const { project } = page
  const first = await project.save()
  page.s.write({ 'src/a.txt': 'two\n' })
  const second = await project.save({ reason: 'second' })
  page.s.write({ 'b.txt': null })
  const at = { project: project.path, ref: second.id }
  expect(await page.call('checkpoint', at)).toMatchObject({ id: second.id, reason: 'second' })
  const changed = (input: Parameters<typeof page.call<'changes'>>[1]) =>
    page.call('changes', input).then(({ changes }) => changes.map(({ path }) => path))
  expect(await changed({ ...at, with: 'previous' })).toEqual(['src/a.txt'])
  expect(await changed({ ...at, with: 'now' })).toEqual(['b.txt'])
  expect(await changed({ ...at, with: 'checkpoint', to: first.id })).toEqual(['src/a.txt'])
  expect(await page.call('patch', { ...at, with: 'previous', path: 'src/a.txt' })).toMatchObject({
    hunks: [{ lines: ['-one', '+two'] }],
  })
  expect((await page.call('folder', { ...at, path: '' })).entries.map(({ name }) => name)).toEqual([
    'src',
    'b.txt',
  ])
  expect(await page.refusal('checkpoint', { ...at, ref: 'zzzz' })).toBe('404 CHECKPOINT_UNKNOWN')
  expect(await page.refusal('changes', { ...at, with: 'checkpoint', to: 'zzzz' })).toBe(
    '404 CHECKPOINT_UNKNOWN',
  )
})

test('name and pin change the checkpoint, and a read-only page refuses both', async () => {
  await using page = await openPage({ 'a.txt': 'one\n' })
  const { id: ref } = await page.project.save()
  const at = { project: page.project.path, ref }
  expect(await page.call('name', { ...at, name: 'works' })).toMatchObject({ name: 'works' })
  expect(await page.call('name', { ...at, name: null })).toMatchObject({ name: null })
  expect(await page.call('pin', { ...at, pinned: true })).toMatchObject({ pinned: true })
  expect(await page.call('pin', { ...at, pinned: false })).toMatchObject({ pinned: false })
})

test('a read-only page has no method that changes something', async () => {
  await using page = await openPage({ 'a.txt': 'one\n' }, { isReadOnly: true })
  const { id: ref } = await page.project.save()
  page.s.write({ 'a.txt': 'two\n' })
  const at = { project: page.project.path, ref }
  expect(await page.call('start', {})).toMatchObject({ isReadOnly: true })
  const plan = await page.call('plan', { ...at, kind: 'rewind', restore: 'files' })
  expect(plan).toMatchObject({ token: null, lines: [{ action: 'write', path: 'a.txt' }] })
  const before = page.s.hashTree(page.s.folder)
  expect([
    await page.refusal('apply', { token: 'x' }),
    await page.refusal('name', { ...at, name: 'works' }),
    await page.refusal('pin', { ...at, pinned: true }),
    await page.refusal('fork', at),
  ]).toEqual(Array(4).fill('403 ACCESS_REFUSED'))
  expect(page.s.hashTree(page.s.folder)).toEqual(before)
})

test('search and history find checkpoints', async () => {
  await using page = await openPage({ 'a.txt': 'one\n' })
  const { id } = await page.project.save({ reason: 'the login works' })
  page.s.write({ 'b.txt': 'b\n' })
  await page.project.save({ reason: 'more' })
  const project = page.project.path
  const found = await page.call('search', { project, words: 'login', limit: 5 })
  expect(found.matches.map((match) => match.id)).toEqual([id])
  const history = await page.call('history', { project, path: 'a.txt', limit: 5 })
  expect(history.checkpoints.map((one) => one.id)).toEqual([id])
})

test('the store: its status, the agents, a prune that removes nothing, and its health', async () => {
  await using page = await openPage({ 'a.txt': 'one\n' })
  await page.project.save()
  expect(await page.call('store', {})).toMatchObject({
    home: page.s.home,
    status: { projects: [{ path: page.s.project, checkpoints: 1 }] },
    daemon: { running: false, pid: null },
    agents: expect.arrayContaining([{ agent: 'claude', installed: false, problem: null }]),
  })
  const preview = await page.call('prunePreview', { maxSizeMb: 500, retentionDays: 1 })
  expect(preview).toMatchObject({
    result: { applied: false },
    command: 'savestate prune --max-size-mb 500 --retention-days 1',
  })
  expect(await page.call('verify', { quick: true })).toMatchObject({ problems: [] })
})
