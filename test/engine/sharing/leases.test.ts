// One host at a time may write (I11), and a host that lost its lease writes nothing and starts no tool.
import pg from 'pg'
import { describe, expect, test } from 'vitest'
import type { SegmentContent } from '../../../src/model/index.js'
import type { PostgresClient } from '../../../src/remote/index.js'
import { startProxy } from '../../support/remote/tcp-proxy.js'
import { sharedPlace } from '../../support/sharing/fleet.js'

const place = sharedPlace()

test('of two hosts that resume at once, one gets the session, and the other learns who has it', async () => {
  await using a = await place().host()
  await using b = await place().host()
  const stores = [await a.openShared(), await b.openShared()]
  await (await stores[0]?.session('race'))?.close()
  const opened = await Promise.allSettled(stores.map((store) => store.resume('race')))
  const lost = opened.filter((each) => each.status === 'rejected')
  expect(opened.filter((each) => each.status === 'fulfilled')).toHaveLength(1)
  expect(lost.map(({ reason }: PromiseRejectedResult) => reason as unknown)).toEqual([
    expect.objectContaining({
      code: 'SESSION_BUSY',
      message: expect.stringContaining(`Process ${process.pid}`) as unknown,
      hint: expect.stringMatching(/at most (?:29|30) s/) as unknown,
    }),
  ])
})

describe('a host whose lease was taken', () => {
  test('writes nothing that counts, starts no tool, and its steps become a fork', async () => {
    await using a = await place().host()
    await using b = await place().host()
    const [first, second] = [await a.openShared(), await b.openShared()]
    const session = await first.session('taken')
    await session.save({ state: { by: ['a'] } })
    await place().expireLeases()
    const other = await second.resume('taken')
    await other.session.append('by', ['b'])

    const lost = new Promise((resolve) => session.on('lost', resolve))
    await expect(session.append('by', ['a again'])).rejects.toMatchObject({
      code: 'SESSION_FENCED',
    })
    expect(await lost).toMatchObject({ code: 'SESSION_FENCED' })
    let runs = 0
    const tool = { id: 'call', name: 'effect' }
    await expect(session.tool(tool, () => (runs += 1))).rejects.toMatchObject({
      code: 'SESSION_FENCED',
    })
    await expect(session.save({ state: {} })).rejects.toMatchObject({ code: 'SESSION_FENCED' })
    expect(runs).toBe(0)
    await session.close()
    await other.session.append('by', ['b again'])
    await other.session.close()

    const resumed = await first.resume('taken')
    expect(resumed.state).toEqual({ by: ['a', 'b', 'b again'] })
    const [fork] = (await first.sessions()).filter(({ id }) => id.startsWith('taken~'))
    expect(resumed.notices).toEqual([expect.stringContaining(String(fork?.id))])
    // The fork is shared before the open returns: a container may end now.
    await first.close()
    expect((await second.resume(String(fork?.id))).state).toEqual({ by: ['a', 'a again'] })
  })

  test('learns it from the heartbeat too', async () => {
    await using a = await place().host()
    await using b = await place().host()
    const [first, second] = [await a.openShared(), await b.openShared()]
    const session = await first.session('beaten')
    const lost = new Promise((resolve) => session.on('lost', resolve))
    await place().expireLeases()
    await second.resume('beaten')
    expect(await lost).toMatchObject({ code: 'SESSION_FENCED' })
  })
})

test('the heartbeat renews the leases of silent sessions: a commit has prolonged the others', async () => {
  await using a = await place().host()
  const pool = new pg.Pool({ connectionString: place().url })
  const renewed: unknown[] = []
  const client: PostgresClient = {
    query: (query) => {
      if (query.text.includes('AS o (kind, id, fence)')) renewed.push(query.values?.[1])
      return pool.query<Record<string, unknown>>(query)
    },
  }
  const store = await a.open({ remote: { url: place().url, client } })
  const busy = await store.session('busy one')
  await busy.save({ state: { items: [] } })
  await store.session('silent')
  const commitAndCount = async () => {
    await busy.append('items', [renewed.length])
    return renewed.length
  }
  await expect.poll(commitAndCount, { interval: 200 }).toBe(2)
  expect(renewed).toEqual([['silent'], ['silent']])
  await store.close()
  await pool.end()
})

describe('a laptop that slept', () => {
  async function sleeper(id: string) {
    const a = await place().host()
    let sleptMs = 0
    const clock = {
      nowMs: () => Date.now() + sleptMs,
      random: (bytes: number) => crypto.getRandomValues(new Uint8Array(bytes)),
    }
    const store = await a.openShared({ clock })
    const session = await store.session(id)
    await session.save({ state: { n: 1 } })
    return { a, session, sleep: (ms: number) => (sleptMs += ms) }
  }

  test('continues if no other process has taken its session', async () => {
    const { a, session, sleep } = await sleeper('asleep-1')
    await using _ = a
    sleep(24 * 3_600_000)
    expect(await session.tool({ id: 'call', name: 'effect' }, () => 'ran')).toBe('ran')
  })

  test('starts no tool if one has', async () => {
    const { a, session, sleep } = await sleeper('asleep-2')
    await using _ = a
    await using b = await place().host()
    sleep(24 * 3_600_000)
    await place().expireLeases()
    const other = await (await b.openShared()).resume('asleep-2')
    let runs = 0
    const tool = { id: 'call', name: 'effect' }
    await expect(session.tool(tool, () => (runs += 1))).rejects.toMatchObject({
      code: 'SESSION_FENCED',
    })
    expect(runs).toBe(0)
    expect(await other.session.inFlight()).toEqual([])
  })
})

test('claim gives each interrupted session to one caller, of the agent that it names', async () => {
  await using a = await place().host()
  await using b = await place().host()
  await place().database.sql('TRUNCATE savestate.logs CASCADE')
  const [first, second] = [await a.openShared(), await b.openShared()]
  for (const [id, agent] of [
    ['one', 'worker'],
    ['two', 'worker'],
    ['done', 'worker'],
    ['other', 'painter'],
  ] as const) {
    const session = await first.session(id, { agent })
    await session.save({ state: { id } })
    if (id === 'done') await session.complete()
    await session.close()
  }
  const claimed = await Promise.all(
    [first, second, first].map((store) => store.claim({ agent: 'worker' })),
  )
  const states = claimed.map((each) => each?.state)
  expect(states.filter((state) => state !== undefined)).toHaveLength(2)
  expect(new Set(states)).toEqual(new Set([{ id: 'one' }, { id: 'two' }, undefined]))
  expect((await second.claim())?.state).toEqual({ id: 'other' })
  expect(await second.claim()).toBeUndefined()
})

test('claim leaves sessions that cannot be opened, reports each, and opens the next one', async () => {
  await using a = await place().host()
  await using b = await place().host()
  const { database } = place()
  await database.sql('TRUNCATE savestate.logs CASCADE')
  const [first, second] = [await a.openShared(), await b.openShared()]
  const project = await first.project(a.project)
  a.write({ 'a.txt': 'one' })
  for (const id of ['segment', 'newer', 'card', 'pack', 'busy', 'good']) {
    const session = await first.session(id, { project })
    await session.save({ state: { id }, files: true })
    a.write({ 'a.txt': id })
    if (id !== 'busy') await session.close()
  }
  const keyOf = (id: string) => `(SELECT key FROM savestate.logs WHERE id = '${id}')`
  await database.sql(`UPDATE savestate.segments SET body = 'x' WHERE log = ${keyOf('segment')}`)
  await writeNewerSegment('newer')
  await database.sql(`UPDATE savestate.live SET card = 'x' WHERE log = ${keyOf('card')}`)
  await database.sql(
    `UPDATE savestate.packs SET body = set_byte(body, 30, get_byte(body, 30) # 1)
      WHERE id IN (SELECT pack FROM savestate.checkpoints WHERE log = ${keyOf('pack')})`,
  )
  const claimed: string[] = []
  const warnings: string[] = []
  const onWarning = (text: string) => void warnings.push(text)
  const claim = async () => {
    const resumed = await second.claim({ into: b.project, onWarning })
    if (resumed !== undefined) claimed.push(resumed.session.id)
    await resumed?.session.close()
  }
  await claim()
  expect(claimed).toEqual(['good'])
  const left = (of: string, code: string) =>
    expect.stringMatching(`left the session "${of}", .* \\(${code}\\)`) as unknown
  const allLeft = [
    left('segment', 'STORE_DAMAGED'),
    left('newer', 'STORE_NEWER'),
    left('card', 'STORE_DAMAGED'),
    left('pack', 'STORE_DAMAGED'),
  ]
  const folder = expect.stringContaining('The folder of this session is') as unknown
  expect(warnings).toEqual([...allLeft, folder])
  // No lease is left behind.
  const held = await database.sql(
    `SELECT l.id FROM savestate.live AS v JOIN savestate.logs AS l ON l.key = v.log WHERE holder IS NOT NULL`,
  )
  expect(held).toEqual([{ id: 'busy' }])

  // The worker starts new work instead of failing because of old work.
  await database.sql(`DELETE FROM savestate.logs WHERE id = 'good'`)
  warnings.length = 0
  await claim()
  expect(claimed).toEqual(['good'])
  expect(warnings).toEqual(allLeft)
})

/** As a version that does not exist yet would write the last segment of the session: whole, and of another form. */
async function writeNewerSegment(id: string): Promise<void> {
  const { database } = place()
  const log = { kind: 'session', id } as const
  const [row] = await database.sql(
    `SELECT s.log, s.n::int AS n, encode(s.prev, 'hex') AS prev FROM savestate.segments AS s
      JOIN savestate.logs AS l ON l.key = s.log WHERE l.id = $1 ORDER BY s.n DESC LIMIT 1`,
    [id],
  )
  const { log: key, n, prev } = row as { log: string; n: number; prev: string | null }
  const remote = await place().remote()
  await remote.id()
  const newer = { version: 2, isBase: prev === null } as unknown as SegmentContent
  const { hash, body } = remote.encode(log, { n, prev }, newer)
  await database.sql(
    `UPDATE savestate.segments SET body = $3, hash = decode($4, 'hex') WHERE log = $1 AND n = $2`,
    [key, n, body, hash],
  )
  await database.sql(`UPDATE savestate.live SET hash = decode($2, 'hex') WHERE log = $1`, [
    key,
    hash,
  ])
}

test('a claim whose answer was lost gets the session that it has taken', async () => {
  await using a = await place().host()
  await using b = await place().host()
  await place().database.sql('TRUNCATE savestate.logs CASCADE')
  const first = await a.openShared()
  for (const id of ['one', 'two']) await (await first.session(id)).close()
  const { hostname, port } = new URL(place().url)
  await using proxy = await startProxy({ host: hostname, port: Number(port) })
  const second = await b.open({ remote: place().database.urlWith({ port: proxy.port }) })
  // Connected: the next answer is the one to the claim.
  await second.remotes.sessions()
  const dropped = proxy.dropAnswer()
  const claimed = await second.claim()
  await dropped
  expect(claimed?.session.id).toBe('one')
  await claimed?.session.save({ state: { by: 'b' } })
  // Nothing else is taken.
  expect((await first.claim())?.session.id).toBe('two')
})
