// `list` reads only the ledger.
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { DatabaseSync } from '../../support/own-sqlite.js'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { scratch } from '../../support/scratch.js'

const PROGRAM = fileURLToPath(new URL('../../../dist/cli/bin.js', import.meta.url))

test('a thousand checkpoints are listed without a git process, and the newest without reading the rest', async () => {
  await using s = await scratch({ files: { 'a.txt': 'one' } })
  const store = await s.open()
  const project = await store.project(s.project)
  const { id } = await project.save({ reason: 'the first' })
  await store.close()
  const ledger = new DatabaseSync(join(s.home, 'ledger.db'))
  const copy = ledger.prepare(
    `INSERT INTO checkpoints (id, project, kind, name, reason, created_at, pinned, tree, "commit", files, insertions,
       deletions, file_count, size_bytes, skipped_counts, details)
     SELECT ?, project, kind, name, ?, created_at, pinned, tree, "commit", files, insertions, deletions, file_count,
       size_bytes, skipped_counts, details FROM checkpoints WHERE id = ?`,
  )
  const letters = 'bcdfghjklm'
  // Change one letter, so that every id is different from the first.
  const start = `${id.slice(0, 14)}${id[14] === 'b' ? 'c' : 'b'}`
  for (let i = 1; i < 1000; i++) {
    const tail = String(i)
      .padStart(3, '0')
      .split('')
      .map((digit) => letters[Number(digit)])
      .join('')
    copy.run(`${start}${tail}`, `copy ${i}`, id)
  }
  const rows = ledger.prepare('SELECT count(*) AS n FROM checkpoints').get()
  expect(Number(rows?.['n'])).toBe(1000)
  ledger.close()

  const output = execFileSync(process.execPath, [PROGRAM, 'list', '--json', '-C', s.project], {
    encoding: 'utf8',
    // No git on the path.
    env: { SAVESTATE_HOME: s.home, HOME: s.home, PATH: '/nonexistent' },
  })
  const { checkpoints } = JSON.parse(output) as { checkpoints: { reason: string }[] }
  expect(checkpoints).toHaveLength(1000)
  expect([checkpoints[0]?.reason, checkpoints[999]?.reason]).toEqual(['copy 999', 'the first'])

  const again = new DatabaseSync(join(s.home, 'ledger.db'))
  // Reading one of these rows fails.
  again.exec(`UPDATE checkpoints SET skipped_counts = 'no JSON' WHERE seq <= 800`)
  const shown = execFileSync(process.execPath, [PROGRAM, 'list', '-C', s.project], {
    encoding: 'utf8',
    env: { SAVESTATE_HOME: s.home, HOME: s.home, PATH: '/nonexistent' },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  expect(shown.trimEnd().split('\n')).toHaveLength(20)
  expect(shown).toContain('copy 999')
  again.prepare('DELETE FROM checkpoints WHERE id <> ?').run(id)
  again.close()
})

test('history finds every change of a path: content, permissions, removal, another type', async () => {
  await using s = await scratch({ files: { 'a.txt': 'one', 'src/b.txt': 'one', other: 'one' } })
  const project = await (await s.open()).project(s.project)
  const made: string[] = []
  const step = async (files: Parameters<typeof s.write>[0]) => {
    s.write(files)
    made.push((await project.save({})).id)
  }
  await step({})
  await step({ 'a.txt': 'two' })
  await step({ other: 'two' })
  await step({ 'a.txt': { content: 'two', mode: 0o600 } })
  await step({ other: { content: 'two', mode: 0o600 } })
  await step({ 'a.txt': null })
  await step({ 'src/b.txt': 'two' })
  await step({ 'src/b.txt': null, src: null })
  await step({ src: 'a file now' })
  const touching = async (...paths: string[]) => {
    const { checkpoints, isComplete } = await project.history(paths)
    expect(isComplete).toBe(true)
    return checkpoints.map(({ id }) => made.indexOf(id))
  }
  expect(await touching('a.txt')).toEqual([5, 3, 1, 0])
  expect(await touching('src')).toEqual([8, 7, 6, 0])
  expect(await touching('src/b.txt')).toEqual([7, 6, 0])
  expect(await touching('a.txt', 'other')).toEqual([5, 4, 3, 2, 1, 0])
  expect(await touching('.')).toEqual([8, 7, 6, 5, 4, 3, 2, 1, 0])
  expect(await touching('nothing')).toEqual([])
  const limited = await project.history(['a.txt'], { limit: 2 })
  expect(limited).toMatchObject({ isComplete: false, checkpoints: [{ paths: ['a.txt'] }, {}] })
  await expect(project.history(['../x'])).rejects.toMatchObject({ code: 'BAD_INPUT' })
})

test('history continues after a checkpoint, and says how many paths changed', async () => {
  await using s = await scratch({ files: { 'other.txt': 'one' } })
  const store = await s.open()
  const project = await store.project(s.project)
  const made: string[] = []
  const files = (content: string) =>
    Object.fromEntries(Array.from({ length: 25 }, (_, n) => [`src/${n}.txt`, content]))
  for (const step of [{}, files('one'), { 'src/0.txt': 'two' }, { 'src/1.txt': 'two' }]) {
    s.write(step)
    made.push((await project.save({})).id)
  }
  const page = async (before?: string) => {
    const options = { limit: 2, ...(before === undefined ? {} : { before }) }
    const { checkpoints, isComplete } = await project.history(['src'], options)
    const found = checkpoints.map(({ id, paths, pathCount }) => ({
      at: made.indexOf(id),
      paths: paths.length,
      pathCount,
    }))
    return { found, isComplete }
  }
  expect(await page()).toEqual({
    found: [
      { at: 3, paths: 1, pathCount: 1 },
      { at: 2, paths: 1, pathCount: 1 },
    ],
    isComplete: false,
  })
  // With the folder itself.
  const oldest = { found: [{ at: 1, paths: 20, pathCount: 26 }], isComplete: true }
  expect(await page(made[2])).toEqual(oldest)
  expect(await page(made[0])).toEqual({ found: [], isComplete: true })
  const other = await (await store.project(s.folder)).save()
  for (const before of [other.id, 'bcdfghjklmnpqrstvw'])
    await expect(page(before)).rejects.toMatchObject({ code: 'CHECKPOINT_UNKNOWN' })
  await expect(page('nonsense')).rejects.toMatchObject({ code: 'BAD_INPUT' })
})
