// The index of a search: what it finds, how it follows the ledger, and that it is only a cache.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import type { Project, SearchHit, SearchOptions, Store } from '../../../src/index.js'
import { SEARCH_POINTS } from '../../support/failpoints/search.js'
import { DatabaseSync } from '../../support/own-sqlite.js'
import { type Scratch, scratch } from '../../support/scratch.js'

const CHILD = join(dirname(fileURLToPath(import.meta.url)), 'search-child.mjs')

type Messages = { readonly messages: readonly unknown[] }

/** The names of the files of indexes. */
function indexesIn({ home }: Scratch): readonly string[] {
  return readdirSync(join(home, 'cache')).filter((name) => name.endsWith('.search'))
}

function pathOf(s: Scratch): string {
  return join(s.home, 'cache', indexesIn(s)[0] ?? '')
}

async function hitsOf(
  project: Project,
  words: string,
  options: SearchOptions = {},
): Promise<readonly (readonly [where: string, text: string])[]> {
  const { hits } = await project.search(words, options)
  return hits.map(({ where, text }) => [where, text] as const)
}

async function opened(s: Scratch): Promise<{ readonly store: Store; readonly project: Project }> {
  const store = await s.open()
  return { store, project: await store.project(s.project) }
}

test('prompts, answers and arguments are found at the first checkpoint that has them, results are not', async () => {
  await using s = await scratch({ files: { 'a.txt': '1' } })
  const { store, project } = await opened(s)
  const session = await store.session<Messages>('talk', { project, agent: 'demo' })
  const first = await session.save({
    state: { messages: [{ role: 'user', content: 'Please rename\nthe Walrus module' }] },
    name: 'start',
    reason: 'walrus reason',
  })
  const second = await session.append('messages', [
    {
      role: 'assistant',
      content: [
        { type: 'text', text: 'The walrus is gone.' },
        { type: 'tool_use', id: 't', name: 'Bash', input: { command: 'mv walrus.ts seal.ts' } },
      ],
    },
    { role: 'user', content: [{ type: 'tool_result', content: 'result walrus' }] },
    { role: 'assistant', tool_calls: [{ function: { name: 'f', arguments: '{"q":"walrus?"}' } }] },
  ])
  const hit = (checkpoint: { readonly id: string }, where: SearchHit['where'], text: string) => ({
    checkpoint: checkpoint.id,
    session: 'talk',
    where,
    text,
  })
  const { hits, matches } = await project.search('WALRUS')
  expect(hits).toEqual([
    hit(second, 'answer', 'The walrus is gone.'),
    hit(second, 'tool', 'mv walrus.ts seal.ts'),
    hit(second, 'tool', 'walrus?'),
    hit(first, 'reason', 'walrus reason'),
    hit(first, 'prompt', 'the Walrus module'),
  ])
  expect(matches.map(({ id }) => id)).toEqual([second.id, first.id])
  expect(await hitsOf(project, 'result')).toEqual([])
})

test('filters by path, author and time, and contents of changed files', async () => {
  await using s = await scratch({
    files: { 'src/a.ts': 'one\nconst pelican = 1\n', 'b.bin': 'pelican\0' },
  })
  const { project } = await opened(s)
  const first = await project.save({ reason: 'pelican' })
  s.write({ 'src/a.ts': 'nothing\n', 'notes.md': 'a pelican\n' })
  await project.save({ reason: 'pelican too', author: 'robot' })
  expect(await hitsOf(project, 'pelican', { path: 'src' })).toHaveLength(2)
  expect(await hitsOf(project, 'pelican', { path: 'b.bin' })).toEqual([['reason', 'pelican']])
  expect(await hitsOf(project, 'pelican', { by: 'robot' })).toEqual([['reason', 'pelican too']])
  expect(await hitsOf(project, 'pelican', { since: new Date(Date.now() + 60_000) })).toEqual([])
  const { hits } = await project.search('pelican const', { content: true })
  expect(hits).toEqual([
    { checkpoint: first.id, session: null, where: 'reason', text: 'pelican' },
    {
      checkpoint: first.id,
      session: null,
      where: 'content',
      text: 'const pelican = 1',
      path: 'src/a.ts',
      line: 2,
    },
  ])
})

test('a new name and new checkpoints are found at the next search', async () => {
  await using s = await scratch({ files: { a: '1' } })
  const { project } = await opened(s)
  const { id } = await project.save({ name: 'heron' })
  expect(await hitsOf(project, 'heron')).toEqual([['name', 'heron']])
  await project.name(id, 'stork')
  s.write({ a: '2' })
  await project.save({ reason: 'stork again' })
  expect(await hitsOf(project, 'heron')).toEqual([])
  expect(await hitsOf(project, 'stork')).toEqual([
    ['reason', 'stork again'],
    ['name', 'stork'],
  ])
})

test('a search finds what a scan of all texts finds', async () => {
  await using s = await scratch()
  const { store, project } = await opened(s)
  const letters = [
    'a',
    'B',
    'ß',
    'İ',
    'é',
    '😀',
    '中',
    '"',
    '\\',
    '-',
    '_',
    '.',
    '\t',
    ' ',
    '\n',
    'Σ',
  ]
  let seed = 7
  const random = (n: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
    return seed % n
  }
  const someText = (length: number) =>
    Array.from({ length: 1 + random(length) }, () => letters[random(letters.length)]).join('')
  /** By checkpoint: its texts. */
  const texts = new Map<string, string[]>()
  for (let k = 0; k < 3; k += 1) {
    const session = await store.session<Messages>(`s${k}`, { project })
    for (let n = 0; n < 15; n += 1) {
      const [said, reason] = [someText(30), someText(12)]
      s.write({ [`f${random(4)}`]: `${k} ${n}` })
      const files = random(2) === 0
      const { id } = await session.append('messages', [{ role: 'user', content: said }], {
        reason,
        files,
      })
      const shown = files ? await project.diff(id, { previous: true, patch: 'none' }) : undefined
      // Equal messages are stored once, and found at the first checkpoint.
      const known = [...texts.values()].some((all) => all[0] === said)
      texts.set(id, [
        ...(known ? [] : [said]),
        reason,
        ...(shown?.changes.map(({ path }) => path) ?? []),
      ])
    }
  }
  const queries = Array.from({ length: 60 }, () => someText(random(5) + 1)).filter(
    (query) => query.trim() !== '',
  )
  for (const query of queries) {
    const words = query
      .toLowerCase()
      .split(/\s+/)
      .filter((word) => word !== '')
    const expected = [...texts]
      .filter(([, all]) =>
        words.every((word) => all.some((text) => text.toLowerCase().includes(word))),
      )
      .map(([id]) => id)
      .reverse()
    const { matches } = await project.search(query, { limit: 100 })
    expect([query, matches.map(({ id }) => id)]).toEqual([query, expected])
  }
})

const SECRET = 'hunter2-secret-path'

async function withSecret(s: Scratch) {
  const { store, project } = await opened(s)
  const kept = await project.save()
  s.write({ [SECRET]: 'x' })
  const session = await store.session<Messages>('talk', { project })
  const { id } = await session.save({
    files: true,
    reason: SECRET,
    state: { messages: [{ role: 'user', content: SECRET }] },
  })
  s.write({ [SECRET]: null, 'c.txt': '1' })
  await session.append('messages', [{ role: 'user', content: 'bye' }], { files: true })
  await session.complete()
  await session.close()
  expect(await hitsOf(project, SECRET)).not.toEqual([])
  expect(readFileSync(pathOf(s)).includes(SECRET)).toBe(true)
  return { store, project, id, kept: kept.id }
}

test.each(['forget', 'drop', 'prune', 'clear'])('%s removes texts from the disk', async (how) => {
  await using s = await scratch({ files: { 'a.txt': '1' } })
  const { store, project, id } = await withSecret(s)
  if (how === 'forget') await project.forget(SECRET)
  else if (how === 'drop') await project.drop([id])
  else if (how === 'clear') await project.clear()
  else {
    writeFileSync(
      join(s.home, 'config.json'),
      '{ "retention": "hermes", "maxCheckpoints": 1, "completedRetentionDays": 0, "retentionDays": 0 }',
    )
    await store.prune({ maxCheckpoints: 1 })
  }
  const files = readdirSync(join(s.home, 'cache')).map((name) => join(s.home, 'cache', name))
  const holding = files.filter(
    (path) => statSync(path).isFile() && readFileSync(path).includes(SECRET),
  )
  expect([indexesIn(s), holding]).toEqual([[], []])
  const paths = (await hitsOf(project, SECRET)).filter(([where]) => where === 'path')
  expect(paths).toEqual([])
})

test('a new key removes the index, and an encrypted one has no prompts', async () => {
  await using s = await scratch({ files: { 'a.txt': '1' } })
  const { store } = await withSecret(s)
  await store.close()
  const rekeyed = await s.open({ encryption: { newKey: '5'.repeat(64) } })
  await rekeyed.rekey()
  expect(indexesIn(s)).toEqual([])
})

test.each([
  ['is damaged', (path: string) => writeFileSync(path, 'no database'.repeat(1000))],
  [
    'lost its tables',
    (path: string) => {
      const database = new DatabaseSync(path)
      database.exec('DROP TABLE seen_nodes')
      database.close()
    },
  ],
  [
    'has another version',
    (path: string) => {
      const database = new DatabaseSync(path)
      database.exec('PRAGMA user_version = 999')
      database.close()
    },
  ],
  [
    'has a trigger',
    (path: string) => {
      const database = new DatabaseSync(path)
      database.exec(
        'CREATE TRIGGER t AFTER INSERT ON checkpoints BEGIN DELETE FROM seen_nodes; END',
      )
      database.close()
    },
  ],
] as const)('an index that %s is built again', async (_, damage) => {
  await using s = await scratch({ files: { 'a.txt': '1' } })
  const { project } = await opened(s)
  await project.save({ reason: 'egret' })
  expect(await hitsOf(project, 'egret')).toEqual([['reason', 'egret']])
  expect(statSync(pathOf(s)).mode & 0o777).toBe(0o600)
  damage(pathOf(s))
  s.write({ 'a.txt': '2' })
  await project.save({ reason: 'second egret' })
  expect(await hitsOf(project, 'egret')).toEqual([
    ['reason', 'second egret'],
    ['reason', 'egret'],
  ])
})

async function withMany(s: Scratch): Promise<void> {
  const { store, project } = await opened(s)
  const session = await store.session<Messages>('talk', { project })
  for (let n = 0; n < 300; n += 1)
    await session.append('messages', [{ role: 'user', content: `number ${n} ibis` }])
  await store.close()
}

const searchIn = (s: Scratch) => JSON.stringify({ home: s.home, project: s.project, words: 'ibis' })

test('two processes build the index at once', async () => {
  await using s = await scratch({ files: { 'a.txt': '1' } })
  await withMany(s)
  const children = [1, 2, 3].map(() => spawn(process.execPath, [CHILD, searchIn(s)]))
  const outputs = await Promise.all(
    children.map(async (child) => {
      const chunks: string[] = []
      child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk.toString()))
      child.stderr.on('data', (chunk: Buffer) => chunks.push(chunk.toString()))
      await once(child, 'close')
      return chunks.join('')
    }),
  )
  expect(outputs).toEqual(['300 300', '300 300', '300 300'])
})

test.each(Object.keys(SEARCH_POINTS))(
  'a search that was killed at %s is repeated',
  async (point) => {
    await using s = await scratch({ files: { 'a.txt': '1' } })
    await withMany(s)
    for (const visit of ['', '@2']) {
      const env = { ...process.env, SAVESTATE_FAILPOINT: `${point}${visit}` }
      const child = spawnSync(process.execPath, [CHILD, searchIn(s)], { env })
      expect(child.signal).toBe('SIGKILL')
    }
    expect(existsSync(pathOf(s))).toBe(true)
    const { project } = await opened(s)
    const { matches, searched } = await project.search('ibis', { limit: 1000 })
    expect([matches.length, searched]).toEqual([300, 300])
  },
)
