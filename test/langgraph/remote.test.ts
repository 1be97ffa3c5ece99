// A saver whose store has a remote: two hosts see one thread, and both may write it.
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { SavestateSaver } from '../../src/langgraph/saver.js'
import { createDatabase } from '../support/postgres/index.js'
import { scratch } from '../support/scratch.js'
import { type Host, sharedPlace } from '../support/sharing/fleet.js'
import {
  at,
  decodeMetadata,
  idIn,
  listIds,
  put,
  type Saver,
  steps,
  putChain,
  valuesAt,
} from './saver.js'

const place = sharedPlace()

async function saverOn(host: Host): Promise<Saver> {
  return new SavestateSaver({ store: await host.openShared() })
}

async function twoSavers() {
  const [a, b] = [await place().host(), await place().host()]
  const [first, second] = [await saverOn(a), await saverOn(b)]
  const dispose = async () => {
    await a.dispose()
    await b.dispose()
  }
  return { a, b, first, second, [Symbol.asyncDispose]: dispose }
}

test('a thread that one host writes is read on another one, each time as it is then', async () => {
  await using two = await twoSavers()
  const { first, second } = two
  const one = await put(first, at('t1'), { values: { messages: ['one'] } })
  expect(await valuesAt(second, at('t1'))).toEqual({ messages: ['one'] })
  await first.putWrites(one, [['messages', 'pending']], 'task-1')
  const tuple = await second.getTuple(at('t1'))
  expect(tuple?.pendingWrites).toEqual([['task-1', 'messages', 'pending']])
  const two_ = await put(second, one, { values: { messages: ['one', 'two'] } })
  expect(await listIds(first, at('t1'))).toEqual([idIn(two_), idIn(one)])
  expect(await valuesAt(first, at('t1'))).toEqual({ messages: ['one', 'two'] })
})

test('setup creates the tables in an empty database, once, and needs none without a remote', async () => {
  await using database = await createDatabase()
  await using one = await scratch()
  await using other = await scratch()
  const first = new SavestateSaver({ store: await one.open({ remote: database.url }) })
  const failure = { code: 'NOT_SHARED', cause: { code: 'REMOTE_REFUSED' } }
  await expect(put(first, at('t'), { values: {} })).rejects.toMatchObject(failure)
  await first.setup()
  await first.setup()
  const second = new SavestateSaver({ store: await other.open({ remote: database.url }) })
  await second.setup()
  const made = await put(first, at('new'), { values: { n: 1 } })
  expect(await listIds(second, at('new'))).toEqual([idIn(made)])
  // A remote that is for pushes only is not contacted.
  const store = await one.open({ home: join(one.folder, 'alone'), remote: false })
  await store.remotes.add('team', { url: 'postgres://127.0.0.1:1/none', plain: true })
  await new SavestateSaver({ store }).setup()
})

test('writers of one thread on two hosts both succeed', async () => {
  await using two = await twoSavers()
  const savers = [two.first, two.second]
  const root = await put(two.first, at('busy'), { values: { n: 0 } })
  const made = await Promise.all(
    savers.flatMap((saver) =>
      Array.from({ length: 10 }, (_, n) => put(saver, root, { values: { n } })),
    ),
  )
  const ids = [root, ...made].map(idIn).sort().reverse()
  for (const saver of savers) expect(await listIds(saver, at('busy'))).toEqual(ids)
})

test('a list over all threads has those of other hosts', async () => {
  await using two = await twoSavers()
  const ids = []
  for (const thread of ['all-1', 'all-2'])
    ids.push(idIn(await put(two.first, at(thread), { values: { thread } })))
  expect(await listIds(two.second, {})).toEqual(expect.arrayContaining(ids))
})

describe('removal', () => {
  test('a deleted thread is gone everywhere, and a run that continues it elsewhere is refused', async () => {
    await using two = await twoSavers()
    const { first, second } = two
    const chain = await putChain(first, at('gone'), steps(3))
    expect(await listIds(second, at('gone'))).toHaveLength(3)
    await first.deleteThread('gone')
    const last = chain.at(-1) ?? at('gone')
    await expect(put(second, last, { values: { late: 1 } })).rejects.toMatchObject({
      code: 'SESSION_DELETED',
    })
    for (const saver of [first, second]) expect(await listIds(saver, at('gone'))).toEqual([])
    await put(second, at('gone'), { values: { again: 1 } })
    expect(await valuesAt(first, at('gone'))).toEqual({ again: 1 })
    // No value of the deleted checkpoints stays on the server.
    const remote = await place().remote()
    const contents = []
    for await (const { content } of remote.segments(
      { kind: 'thread', id: 'gone' },
      { n: 0, hash: null, epoch: 0 },
    ))
      contents.push(JSON.stringify(content))
    expect(contents.join('')).not.toContain(':step')
  })

  test('a copy and a prune of a thread that only another host has', async () => {
    await using two = await twoSavers()
    const { first, second } = two
    await putChain(first, at('from'), steps(4))
    await second.copyThread('from', 'to')
    expect(await listIds(first, at('to'))).toEqual(await listIds(first, at('from')))
    await second.prune(['from'])
    expect(await listIds(first, at('from'))).toHaveLength(1)
    expect(await valuesAt(first, at('to'))).toEqual({ step: 3 })
  })

  test('the checkpoints of a run are removed in all threads of all hosts', async () => {
    await using two = await twoSavers()
    const { first, second } = two
    await first.put(
      at('runs'),
      (await first.getTuple(await put(first, at('runs'), { values: { n: 1 } })))?.checkpoint ??
        never(),
      decodeMetadata({ run_id: 'r' }),
      {},
    )
    await second.deleteForRuns(['r'])
    expect(await listIds(first, at('runs'))).toEqual([])
  })
})

function never(): never {
  throw new Error('not there')
}

test('a thread is compacted on the remote if most of it is gone', async () => {
  await using a = await place().host()
  const saver = await saverOn(a)
  const remote = await place().remote()
  const segmentsOf = async (id: string) => (await remote.sizes({ kind: 'thread', id }))[0]?.segments
  const putMany = async (thread: string, count: number) => {
    let last = at(thread)
    for (let n = 0; n < count; n++) last = await put(saver, last, { values: { n } })
  }
  await putMany('few', 3)
  await saver.prune(['few'], 'keep_latest')
  expect(await segmentsOf('few')).toBe(4)
  await saver.deleteThread('few')
  expect(await segmentsOf('few')).toBe(1)
  await putMany('many', 200)
  await saver.prune(['many'], 'keep_latest')
  expect(await segmentsOf('many')).toBe(1)
  expect(await valuesAt(saver, at('many'))).toEqual({ n: 199 })
})
