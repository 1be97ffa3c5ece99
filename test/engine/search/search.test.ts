// `project.search`: texts of all checkpoints, and changed paths of as many as the caller allows.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { DatabaseSync } from '../../support/own-sqlite.js'
import { scratch } from '../../support/scratch.js'

const LETTERS = 'bcdfghjklm'

/** Adds copies of a checkpoint after it, without a git process. */
function addCopies(home: string, id: string, count: number): void {
  const ledger = new DatabaseSync(join(home, 'ledger.db'))
  const copy = ledger.prepare(
    `INSERT INTO checkpoints (id, project, kind, reason, created_at, pinned, tree, "commit", files, insertions,
       deletions, file_count, size_bytes, skipped_counts, details)
     SELECT ?, project, kind, 'copy', created_at, pinned, tree, "commit", 0, 0, 0, file_count,
       size_bytes, skipped_counts, details FROM checkpoints WHERE id = ?`,
  )
  ledger.exec('BEGIN')
  for (let n = 0; n < count; n += 1) {
    const digits = String(n)
      .padStart(4, '0')
      .split('')
      .map((digit) => LETTERS[Number(digit)])
    copy.run(`${id.slice(0, 14)}${digits.join('')}`, id)
  }
  ledger.exec('COMMIT')
  ledger.close()
}

test('words are found in texts and paths, in any order, and ignoring case', async () => {
  await using s = await scratch({ files: { 'src/login.ts': '1' } })
  const store = await s.open()
  const project = await store.project(s.project)
  const first = await project.save({ name: 'Release', reason: 'the ÄRGER begins' })
  s.write({ 'src/other.ts': '2' })
  const session = await store.session('agent', { project })
  const second = await session.save({
    files: true,
    reason: 'You: fix it',
    metadata: { agentSession: 'a', at: 'turn-start', prompt: 'Fix the whole thing' },
  })
  const idsOf = async (words: string) => {
    const { matches, isComplete } = await project.search(words)
    return [matches.map(({ id, prompt, paths }) => ({ id, prompt, paths })), isComplete]
  }
  const one = { id: first.id, prompt: null }
  const two = { id: second.id, prompt: 'Fix the whole thing' }
  expect(await idsOf('ärger RELEASE')).toEqual([[{ ...one, paths: [] }], true])
  expect(await idsOf('whole')).toEqual([[{ ...two, paths: [] }], true])
  expect(await idsOf('other.ts thing')).toEqual([[{ ...two, paths: ['src/other.ts'] }], true])
  expect(await idsOf('src/')).toEqual([
    [
      { ...two, paths: ['src/other.ts'] },
      { ...one, paths: ['src/login.ts'] },
    ],
    true,
  ])
  expect(await idsOf('nowhere')).toEqual([[], true])
})

test('texts and paths of the oldest checkpoint are found, and a limit ends the search', async () => {
  await using s = await scratch({ files: { 'oldest.txt': '1' } })
  const store = await s.open()
  const project = await store.project(s.project)
  const session = await store.session('agent', { project })
  const { id } = await session.save({
    files: true,
    reason: 'find me',
    metadata: { agentSession: 'a', at: 'turn-start', prompt: 'the very first wish' },
  })
  for (const n of [2, 3, 4]) {
    s.write({ 'other.txt': String(n) })
    await project.save({ reason: `change ${n}` })
  }
  const all = { searched: 4, isComplete: true, matches: [{ id }] }
  for (const words of ['find me', 'wish first', 'oldest.txt'])
    expect(await project.search(words)).toMatchObject(all)
  // An option of earlier versions.
  expect(await project.search('oldest.txt', { maxCompared: 0 })).toMatchObject(all)
  const limited = await project.search('change', { limit: 2 })
  expect([limited.matches.length, limited.searched, limited.isComplete]).toEqual([2, 2, false])
})

test('a thousand checkpoints that changed no file are searched too', async () => {
  await using s = await scratch({ files: { 'oldest.txt': '1' } })
  const store = await s.open()
  const project = await store.project(s.project)
  const { id } = await project.save()
  addCopies(s.home, id, 1100)
  expect(await project.search('oldest.txt')).toMatchObject({
    searched: 1101,
    isComplete: true,
    matches: [{ id }],
  })
  s.allowDamage()
})

test('encrypted prompts and conversations are searched only if the user allows an index', async () => {
  await using s = await scratch({ files: { a: '1' } })
  const store = await s.open({ encryption: { key: '7'.repeat(64) } })
  const project = await store.project(s.project)
  const session = await store.session('agent', { project })
  const metadata = { agentSession: 'a', at: 'turn-start', prompt: 'secret wish' }
  const { id } = await session.save({
    files: true,
    reason: 'You: a prompt',
    metadata,
    state: { messages: [{ role: 'assistant', content: 'a quiet answer' }] },
  })
  const idsOf = async (words: string) => (await project.search(words)).matches.map((one) => one.id)
  expect((await project.search('wish')).notSearched).toBe('encrypted')
  expect([await idsOf('wish'), await idsOf('quiet'), await idsOf('a prompt')]).toEqual([
    [],
    [],
    [id],
  ])
  writeFileSync(join(s.home, 'config.json'), '{ "searchIndex": true }')
  expect((await project.search('wish')).notSearched).toBeUndefined()
  expect([await idsOf('wish'), await idsOf('quiet'), await idsOf('a prompt')]).toEqual([
    [id],
    [id],
    [id],
  ])
  await store.close()
  const other = await (await s.open()).project(s.project)
  expect((await other.search('wish')).matches).toEqual([])
  expect((await other.search('prompt')).matches).toMatchObject([{ id, prompt: null }])
})
