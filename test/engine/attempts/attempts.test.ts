// `fork` into a folder of its own, `compare` and `adopt`: two attempts at the same work.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Scratch, scratch } from '../../support/scratch.js'

async function forked(s: Scratch, id = 'b') {
  const store = await s.open()
  const project = await store.project(s.project)
  const start = await project.save({ reason: 'start' })
  const into = join(s.folder, id)
  const session = await store.fork(start.id, { session: id, into })
  await session.close()
  return { store, project, start, into }
}

test('a fork into a folder is a project of its own with the same files', async () => {
  await using s = await scratch({ files: { 'a.txt': 'one\n', e: { folder: 0o755 } } })
  const { store, start, into } = await forked(s)
  expect([...s.snapshotOf(into).keys()].sort()).toEqual([...s.snapshotOf().keys()].sort())
  expect(await store.sessions()).toMatchObject([{ id: 'b', project: into, forkedFrom: start.id }])
  const own = await store.project(into)
  expect(await own.list()).toMatchObject([
    { session: 'b', step: 0, reason: expect.stringMatching(/^fork of "start"/) },
  ])
  expect((await own.save()).created).toBe(false)
})

test('a fork is refused before anything is written', async () => {
  await using s = await scratch({ files: { a: '1' } })
  const { store, start, into } = await forked(s)
  const other = join(s.folder, 'other')
  const fork = (session: string, folder: string) => store.fork(start.id, { session, into: folder })
  await expect(fork('b', other)).rejects.toMatchObject({ code: 'BAD_INPUT' })
  await expect(fork('c', into)).rejects.toMatchObject({ code: 'BAD_INPUT' })
  expect(existsSync(other)).toBe(false)
  expect((await store.sessions()).map(({ id }) => id)).toEqual(['b'])
})

test('attempts are compared as their folders are now', async () => {
  await using s = await scratch({ files: { 'a.txt': 'one\n' } })
  const { store, project, start, into } = await forked(s)
  const second = join(s.folder, 'c')
  await (await store.fork(start.id, { session: 'c', into: second })).close()
  s.write({ 'a.txt': 'two\n', 'new.txt': 'x\ny\n' }, into)
  s.write({ 'a.txt': 'three\n' }, second)
  const own = await store.project(second)
  const agent = await store.session('agent', { project: own })
  const metadata = { agentSession: 'x', at: 'after-tool', calls: ['Bash: npm test'] }
  await agent.save({ files: true, metadata: { ...metadata, tests: 'passed' } })
  const { id: newest } = await agent.save({
    files: true,
    metadata: { ...metadata, tests: 'failed' },
  })
  const before = s.snapshotOf(into)
  const result = await project.compare('b', 'c')
  expect(result).toEqual({
    a: {
      session: 'b',
      checkpoint: (await (await store.project(into)).list())[0]?.id,
      path: into,
      files: 2,
      insertions: 3,
      deletions: 1,
      tests: null,
      tokens: null,
    },
    b: {
      session: 'c',
      checkpoint: newest,
      path: second,
      files: 1,
      insertions: 1,
      deletions: 1,
      tests: 'failed',
      tokens: null,
    },
    files: 2,
    insertions: 1,
    deletions: 3,
    changes: [
      expect.objectContaining({ path: 'a.txt', change: 'modified' }),
      expect.objectContaining({ path: 'new.txt', change: 'removed' }),
    ],
  })
  expect(s.snapshotOf(into)).toEqual(before)
  expect(await project.compare('1', 'b')).toMatchObject({
    a: { session: null, checkpoint: start.id, path: null },
    b: { session: 'b' },
    files: 2,
  })
})

test('adopt brings the files of a fork back, and undo takes it back', async () => {
  await using s = await scratch({
    files: { 'a.txt': 'one\n', 'gone.txt': 'x', '.gitignore': 'log\n' },
  })
  const { project, into } = await forked(s)
  s.write({ 'a.txt': 'two\n', 'gone.txt': null, 'new/b': { content: 'b', mode: 0o755 } }, into)
  s.write({ 'mine.txt': 'since', log: 'ignored' })
  const before = s.snapshotOf()
  const planned = await project.adopt('b', { dryRun: true })
  expect([planned.fork, planned.applied]).toEqual(['b', false])
  expect(s.snapshotOf()).toEqual(before)
  const declined = await project.adopt('b', { confirm: () => false })
  expect([declined.declined, s.snapshotOf()]).toEqual([true, before])
  expect(await project.adopt('b')).toMatchObject({
    fork: 'b',
    applied: true,
    plan: {
      write: [{ path: 'a.txt' }, { path: 'new' }, { path: 'new/b' }],
      remove: [{ path: 'mine.txt' }, { path: 'gone.txt' }],
      conflict: [],
    },
  })
  const after = s.snapshotOf()
  expect(after.get('log')).toEqual(before.get('log'))
  after.delete('log')
  expect(after).toEqual(s.snapshotOf(into))
  await project.undo()
  expect(s.snapshotOf()).toEqual(before)
  expect(readFileSync(join(into, 'a.txt'), 'utf8')).toBe('two\n')
})

test('only a fork of this project with a folder of its own can be adopted', async () => {
  await using s = await scratch({ files: { a: '1' } })
  const { store, project, start } = await forked(s)
  await (await store.fork(start.id, { session: 'same' })).close()
  s.write({ x: '1' }, join(s.folder, 'elsewhere'))
  const elsewhere = await store.project(join(s.folder, 'elsewhere'))
  await elsewhere.save()
  const refusals = [project.adopt('same'), project.adopt(start.id), elsewhere.adopt('b')]
  for (const refused of refusals) await expect(refused).rejects.toMatchObject({ code: 'BAD_INPUT' })
})
