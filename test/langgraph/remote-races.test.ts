// A saver with a remote when calls of two hosts cross, answers get lost, and the remote loses rows.
import { expect, onTestFinished, test } from 'vitest'
import { SavestateSaver } from '../../src/langgraph/saver.js'
import { compactSegments } from '../../src/model/index.js'
import { startProxy } from '../support/remote/tcp-proxy.js'
import { type Host, sharedPlace } from '../support/sharing/fleet.js'
import { at, idIn, listIds, put, putChain, type Saver, steps, valuesAt } from './saver.js'

const key = Buffer.alloc(32, 7)
const place = sharedPlace(key)

async function newHost(): Promise<Host> {
  const host = await place().host()
  onTestFinished(() => host.dispose())
  return host
}

async function saverOn(host: Host, port?: number): Promise<Saver> {
  const { url, database } = place()
  const through = port === undefined ? url : database.urlWith({ port })
  return new SavestateSaver({ store: await host.openShared({ remote: { url: through, key } }) })
}

/** A saver on a host of its own, behind a proxy. */
async function saverBehindProxy() {
  const { hostname, port } = new URL(place().url)
  const proxy = await startProxy({ host: hostname, port: Number(port) })
  onTestFinished(() => proxy.dispose())
  const host = await newHost()
  const saver = await saverOn(host, proxy.port)
  const roundTripsOf = async (call: () => Promise<unknown>) => {
    const before = proxy.roundTrips
    await call()
    return proxy.roundTrips - before
  }
  return { proxy, host, saver, roundTripsOf }
}

const segmentsOf = async (thread: string) => {
  const rows = await place().database.sql(
    `SELECT n FROM savestate.segments JOIN savestate.logs ON key = log WHERE id = $1 ORDER BY n`,
    [thread],
  )
  return rows.map(({ n }) => Number(n))
}

test('a put is one round trip, and so is a read if there is nothing new', async () => {
  const { saver, roundTripsOf } = await saverBehindProxy()
  const start = await put(saver, at('trips'), { values: { n: 0 } })
  await put(saver, at('other trips'), { values: { n: 0 } })
  expect(await roundTripsOf(() => put(saver, start, { values: { n: 1 } }))).toBe(1)
  expect(await roundTripsOf(() => saver.putWrites(start, [['n', 2]], 'task'))).toBe(1)
  expect(await roundTripsOf(() => saver.getTuple(at('trips')))).toBe(1)
  expect(await roundTripsOf(() => listIds(saver, at('trips')))).toBe(1)
  expect(await roundTripsOf(() => listIds(saver, {}))).toBe(1)
})

test('a put whose answer is lost is stored once', async () => {
  const { saver, proxy } = await saverBehindProxy()
  const start = await put(saver, at('lost'), { values: { n: 0 } })
  const dropped = proxy.dropAnswer()
  const made = await put(saver, start, { values: { n: 1 } })
  await dropped
  expect(await segmentsOf('lost')).toEqual([1, 2])
  const other = await saverOn(await newHost())
  expect(await listIds(other, at('lost'))).toEqual([idIn(made), idIn(start)])
})

test('a put that the remote refuses is NOT_SHARED, and the next one sends both', async () => {
  const saver = await saverOn(await newHost())
  const start = await put(saver, at('refused'), { values: { n: 0 } })
  const { database } = place()
  await database.sql('ALTER TABLE savestate.segments RENAME TO away')
  const refused = put(saver, start, { values: { n: 1 }, metadata: { step: 1 } })
  await expect(refused).rejects.toMatchObject({ code: 'NOT_SHARED' })
  await database.sql('ALTER TABLE savestate.away RENAME TO segments')
  await put(saver, start, { values: { n: 2 } })
  const other = await saverOn(await newHost())
  expect(await listIds(other, at('refused'))).toEqual(await listIds(saver, at('refused')))
  expect(await listIds(other, at('refused'))).toHaveLength(3)
})

test('a compaction in between changes nothing for either host', async () => {
  const [first, second] = [await saverOn(await newHost()), await saverOn(await newHost())]
  const chain = await putChain(first, at('compacted'), steps(4))
  const last = chain.at(-1) ?? at('compacted')
  expect(await listIds(second, at('compacted'))).toHaveLength(4)
  const remote = await place().remote()
  const log = { kind: 'thread', id: 'compacted' } as const
  expect(await remote.compact(log, (contents) => compactSegments(contents, log))).toBe(true)
  const made = await put(first, last, { values: { step: 4 } })
  await put(second, last, { values: { step: 'other branch' } })
  const ids = await listIds(second, at('compacted'))
  expect(ids).toHaveLength(6)
  expect(await listIds(first, at('compacted'))).toEqual(ids)
  expect(await valuesAt(second, made)).toEqual({ step: 4 })
})

test('of two hosts that ran one task, the first writes stay', async () => {
  const [first, second] = [await saverOn(await newHost()), await saverOn(await newHost())]
  const start = await put(first, at('task'), { values: { n: 0 } })
  await second.getTuple(start)
  await first.putWrites(start, [['n', 'first']], 'task')
  await second.putWrites(start, [['n', 'second']], 'task')
  for (const saver of [first, second])
    expect((await saver.getTuple(start))?.pendingWrites).toEqual([['task', 'n', 'first']])
})

test('writes and subgraphs of a thread that another host has deleted are refused, and leave nothing', async () => {
  const [first, second] = [await saverOn(await newHost()), await saverOn(await newHost())]
  const [start] = await putChain(first, at('late'), steps(1))
  if (start === undefined) throw new Error('nothing was put')
  await second.getTuple(start)
  await first.deleteThread('late')
  const refusal = { code: 'SESSION_DELETED' }
  await expect(second.putWrites(start, [['n', 1]], 'task')).rejects.toMatchObject(refusal)
  const subgraph = put(await saverOn(await newHost()), at('late', { ns: 'sub' }))
  await expect(subgraph).rejects.toMatchObject(refusal)
  await expect(put(second, start)).rejects.toMatchObject(refusal)
  const third = await saverOn(await newHost())
  for (const saver of [first, second, third]) {
    expect(await saver.getTuple(at('late'))).toBeUndefined()
    expect(await saver.getTuple(start)).toBeUndefined()
    expect(await listIds(saver, at('late'))).toEqual([])
  }
})

test('a thread that was deleted and begun again does not get its old steps back', async () => {
  const [first, second] = [await saverOn(await newHost()), await saverOn(await newHost())]
  const chain = await putChain(first, at('again'), steps(2))
  await second.getTuple(at('again'))
  await first.deleteThread('again')
  const begun = await put(first, at('again'), { values: { n: 'new' } })
  const late = put(second, chain[1] ?? at('again'), { values: { n: 'late' } })
  await expect(late).rejects.toMatchObject({ code: 'SESSION_DELETED' })
  for (const saver of [first, second])
    expect(await listIds(saver, at('again'))).toEqual([idIn(begun)])
})

test('unknown threads are deleted, pruned and copied without a trace', async () => {
  const saver = await saverOn(await newHost())
  await saver.deleteThread('never')
  await saver.prune(['never'])
  await saver.copyThread('never', 'neither')
  const sql = 'SELECT id FROM savestate.logs WHERE id = ANY ($1)'
  expect(await place().database.sql(sql, [['never', 'neither']])).toEqual([])
})

/** As after a failover to a standby that has the first `count` segments only. */
async function loseSegments(thread: string, count: number): Promise<void> {
  await place().database.sql(
    `WITH gone AS (DELETE FROM savestate.segments AS s USING savestate.logs AS l
       WHERE s.log = l.key AND l.id = $1 AND s.n > $2::bigint)
     UPDATE savestate.live AS v SET next_n = $2::bigint + 1, hash = s.hash
       FROM savestate.segments AS s JOIN savestate.logs AS l ON l.key = s.log
       WHERE v.log = l.key AND l.id = $1 AND s.n = $2::bigint`,
    [thread, count],
  )
}

test.each([1, 2, 3, 4])(
  'a failover that lost two puts, and %i puts of another host since: no host loses a row',
  async (since) => {
    const thread = `failover ${since}`
    const [first, second] = [await saverOn(await newHost()), await saverOn(await newHost())]
    const chain = await putChain(first, at(thread), steps(2))
    await second.getTuple(at(thread))
    await putChain(first, chain[1] ?? at(thread), steps(2))
    await loseSegments(thread, 2)
    const others = await putChain(second, chain[1] ?? at(thread), steps(since))
    expect(others).toHaveLength(since)
    await put(first, chain[1] ?? at(thread), { values: { n: 'after' } })
    const ids = await listIds(first, at(thread))
    expect(ids).toHaveLength(5 + since)
    expect(await listIds(second, at(thread))).toEqual(ids)
  },
)

test('after a failover, a host that had repaired a thread and one that had not agree', async () => {
  const thread = 'repaired'
  const [first, second] = [await saverOn(await newHost()), await saverOn(await newHost())]
  const chain = await putChain(first, at(thread), steps(4))
  await second.getTuple(at(thread))
  await loseSegments(thread, 1)
  // Its base takes the place of a segment that the other host has seen.
  await put(second, chain[3] ?? at(thread), { values: { n: 1 } })
  await put(first, chain[3] ?? at(thread), { values: { n: 2 } })
  const ids = await listIds(first, at(thread))
  expect(ids).toHaveLength(6)
  expect(await listIds(second, at(thread))).toEqual(ids)
})
