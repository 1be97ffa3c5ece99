// Compaction of a log beside its writer, its readers and its forks: the second one finds another epoch, and nothing is lost.
import pg from 'pg'
import { describe, expect, test } from 'vitest'
import type { Session } from '../../../src/index.js'
import { compactSegments } from '../../../src/model/index.js'
import type { PostgresClient } from '../../../src/remote/index.js'
import { sharedPlace } from '../../support/sharing/fleet.js'

type State = { items: number[] }

const place = sharedPlace()

async function compact(id: string): Promise<void> {
  const remote = await place().remote()
  const log = { kind: 'session', id } as const
  const rewrite = (contents: Parameters<typeof compactSegments>[0]) =>
    compactSegments(contents, { kind: 'session' })
  expect(await remote.compact(log, rewrite)).toBe(true)
}

async function countSegments(id: string): Promise<number> {
  const sql = `SELECT count(*)::int AS count FROM savestate.segments AS s
    JOIN savestate.logs AS l ON l.key = s.log WHERE l.id = $1`
  const [row] = await place().database.sql(sql, [id])
  return Number(row?.['count'])
}

async function appendAll(session: Session<State>, numbers: readonly number[]): Promise<void> {
  for (const n of numbers) await session.append('items', [n])
}

describe('a log that is compacted', () => {
  test('while its writer has it open: the next call sends a base, and every host sees all', async () => {
    await using a = await place().host()
    await using b = await place().host()
    const session = await (await a.openShared()).session<State>('open')
    await session.save({ state: { items: [0] } })
    await appendAll(session, [1, 2, 3])
    await compact('open')
    expect(await countSegments('open')).toBe(1)
    await appendAll(session, [4, 5])
    await session.tool({ id: 'call', name: 'effect' }, () => 'done')
    await session.close()
    const resumed = await (await b.openShared()).resume<State>('open')
    expect(resumed.state).toEqual({ items: [0, 1, 2, 3, 4, 5] })
    expect(await resumed.session.count()).toBe(6)
  })

  test('while its writer is writing: no acknowledged call is missing', async () => {
    await using a = await place().host()
    await using b = await place().host()
    const session = await (await a.openShared()).session<State>('busy')
    await session.save({ state: { items: [0] } })
    const remote = await place().remote()
    let isDone = false
    const compacting = (async () => {
      while (!isDone)
        await remote.compact({ kind: 'session', id: 'busy' }, (contents) =>
          compactSegments(contents, { kind: 'session' }),
        )
    })()
    const numbers = Array.from({ length: 25 }, (_, n) => n + 1)
    await appendAll(session, numbers)
    isDone = true
    await compacting
    await session.close()
    const resumed = await (await b.openShared()).resume<State>('busy')
    expect(resumed.state).toEqual({ items: [0, ...numbers] })
  })

  test('after a host that is behind has read a part of it', async () => {
    await using a = await place().host()
    await using b = await place().host()
    const [first, second] = [await a.openShared(), await b.openShared()]
    const session = await first.session<State>('behind')
    await session.save({ state: { items: [0] } })
    await (await second.session('behind', { lease: false })).close()
    await appendAll(session, [1, 2, 3])
    await session.prune({ keepLast: 1, maxCheckpoints: 1 })
    const left = await session.count()
    expect(left).toBeLessThan(4)
    await session.close()
    await compact('behind')
    const resumed = await second.resume<State>('behind')
    expect(resumed.state).toEqual({ items: [0, 1, 2, 3] })
    expect(await resumed.session.count()).toBe(left)
  })

  test.each([
    // The head is known by then, and the segments are not.
    { when: 'before a fork reads its segments', at: 'FROM "savestate".segments AS s WHERE log =' },
    { when: 'after a fork has read them', at: 'INSERT INTO "savestate".logs' },
  ])('$when: the fork and the session continue', async ({ at }) => {
    const id = `forked at ${at.slice(0, 4)}`
    // Closed after the store that uses it.
    await using paused = clientThatPauses(at, () => compact(id))
    await using a = await place().host()
    await using b = await place().host()
    const session = await (await a.openShared()).session<State>(id)
    await session.save({ state: { items: [0] }, name: 'base' })
    await appendAll(session, [1, 2, 3])
    const second = await b.openShared({ remote: { url: place().url, client: paused.client } })
    const fork = await second.fork<State>('base', { of: id, session: `${id}, fork` })
    expect(paused.count()).toBe(1)
    expect(await countSegments(id)).toBe(1)
    await fork.append('items', [7])
    await fork.close()
    await appendAll(session, [4])
    expect(await session.stateAt()).toEqual({ items: [0, 1, 2, 3, 4] })
    await session.close()
    expect((await second.resume<State>(id)).state).toEqual({ items: [0, 1, 2, 3, 4] })
    await using c = await place().host()
    const resumed = await (await c.openShared()).resume<State>(`${id}, fork`)
    expect(resumed.state).toEqual({ items: [0, 7] })
  })
})

/** A client of `pg` that does some work before the first statement with this text. */
function clientThatPauses(text: string, work: () => Promise<void>) {
  const pool = new pg.Pool({ connectionString: place().url, max: 1 })
  let count = 0
  const query: PostgresClient['query'] = async (statement) => {
    if (count === 0 && statement.text.includes(text)) {
      count += 1
      await work()
    }
    return pool.query<Record<string, unknown>>(statement)
  }
  return { client: { query }, count: () => count, [Symbol.asyncDispose]: () => pool.end() }
}

describe('after a removal', () => {
  test('a long session is compacted when it is closed, and not before', async () => {
    await using a = await place().host()
    await using b = await place().host()
    const session = await (await a.openShared()).session<State>('pruned')
    await session.save({ state: { items: [0] } })
    const numbers = Array.from({ length: 200 }, (_, n) => n + 1)
    await appendAll(session, numbers)
    await session.prune({ keepLast: 2, maxCheckpoints: 3 })
    expect(await countSegments('pruned')).toBe(203)
    await appendAll(session, [201])
    expect(await countSegments('pruned')).toBe(204)
    await session.close()
    expect(await countSegments('pruned')).toBe(1)
    const resumed = await (await b.openShared()).resume<State>('pruned')
    expect(resumed.state).toEqual({ items: [0, ...numbers, 201] })
  })

  test('a short session stays as it is', async () => {
    await using a = await place().host()
    const session = await (await a.openShared()).session<State>('short')
    await session.save({ state: { items: [0] } })
    await appendAll(session, [1, 2, 3, 4, 5])
    await session.prune({ keepLast: 1, maxCheckpoints: 2 })
    await session.close()
    expect(await countSegments('short')).toBe(8)
  })
})

test('stores with keys of their own share through a remote with another key', async () => {
  await using a = await place().host()
  await using b = await place().host()
  const secret = 'a text that only the two stores can read'
  const first = await a.openShared({ encryption: { key: '11'.repeat(32) } })
  const session = await first.session('keys')
  await session.save({ state: { secret }, metadata: { secret } })
  await session.tool({ id: 'call', name: 'effect', args: { secret } }, () => secret)
  await first.close()
  const second = await b.openShared({ encryption: { key: '22'.repeat(32) } })
  const resumed = await second.resume('keys')
  expect(resumed.state).toEqual({ secret })
  expect((await resumed.session.head())?.metadata).toEqual({ secret })
  const tool = { id: 'call', name: 'effect', args: { secret } }
  expect(await resumed.session.tool(tool, () => 'again')).toBe(secret)
})
