// Compaction of a log beside its writer, its readers and its forks: the second one finds another epoch, and nothing is lost.
import { describe, expect, test } from 'vitest'
import type { Session } from '../../../src/index.js'
import { compactSegments } from '../../../src/model/index.js'
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

  test('while another host forks it, before and after', async () => {
    await using a = await place().host()
    await using b = await place().host()
    const [first, second] = [await a.openShared(), await b.openShared()]
    const session = await first.session<State>('forked')
    await session.save({ state: { items: [0] }, name: 'base' })
    await appendAll(session, [1, 2, 3])
    const [before] = await Promise.all([
      second.fork<State>('base', { of: 'forked', session: 'fork-1' }),
      compact('forked'),
    ])
    const after = await second.fork<State>('base', { of: 'forked', session: 'fork-2' })
    for (const fork of [before, after]) {
      await fork.append('items', [7])
      expect(await fork.stateAt()).toEqual({ items: [0, 7] })
      await fork.close()
    }
    await appendAll(session, [4])
    expect((await first.resume('fork-1')).state).toEqual({ items: [0, 7] })
    expect(await session.stateAt()).toEqual({ items: [0, 1, 2, 3, 4] })
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
