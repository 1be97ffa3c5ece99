// One host at a time may write (I11), and a host that lost its lease writes nothing and starts no tool.
import { describe, expect, test } from 'vitest'
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
