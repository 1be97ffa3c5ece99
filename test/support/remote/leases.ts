// The right to write.
import { expect, test } from 'vitest'
import type { RemoteClients } from './remote-contract.js'
import { headOf, holder, LEASE_MS, session, startWriter, textsOf, Writer } from './writer.js'

export function describeLeases({ remote, openOther, isFleet }: RemoteClients): void {
  test('an unknown session is not taken unless it may be created', async () => {
    const log = session('unknown')
    const request = { log, holder: holder('a'), leaseMs: LEASE_MS }
    expect(await remote().take(request)).toEqual({ taken: false, head: undefined })
    expect(await remote().head(log)).toBe(undefined)
  })

  test('the first taker creates it, with its project', async () => {
    const log = session('created "\'; π')
    const project = { id: 'p1', name: 'Büro', origin: 'abc' }
    const soon: unknown = expect.closeTo(LEASE_MS, -5)
    const endsInMs = isFleet ? soon : null
    const result = await remote().take({
      log,
      holder: holder('a'),
      leaseMs: LEASE_MS,
      create: { agent: 'claude', project },
    })
    const head = {
      log,
      nextN: 1,
      epoch: 0,
      hash: null,
      fence: expect.any(Number) as number,
      status: 'in_progress',
      updatedAtMs: expect.any(Number) as number,
      card: null,
      project,
      holder: holder('a'),
      leaseEndsInMs: endsInMs,
      isDeleted: false,
    }
    const { fence } = await headOf(remote(), log)
    expect(result).toEqual({ taken: true, lease: { log, fence }, head: { ...head, fence } })
    expect(await (await openOther()).head(log)).toEqual({ ...head, fence })
  })

  test('a second taker sees the holder', async () => {
    const log = session('busy')
    const { fence } = await startWriter(remote(), log, { host: 'first' })
    const other = await openOther()
    const result = await other.take({ log, holder: holder('second'), leaseMs: LEASE_MS })
    expect(result).toMatchObject({ taken: false, head: { fence, holder: holder('first') } })
  })

  test('of two takers at once one wins', async () => {
    const log = session('race')
    const clients = await Promise.all(Array.from({ length: 4 }, openOther))
    const results = await Promise.all(
      clients.map((client, index) =>
        client.take({
          log,
          holder: holder(`host ${index}`),
          leaseMs: LEASE_MS,
          create: { agent: null, project: null },
        }),
      ),
    )
    expect(results.filter(({ taken }) => taken).length).toBe(1)
    const winner = results.findIndex(({ taken }) => taken)
    expect((await headOf(remote(), log)).holder).toEqual(holder(`host ${winner}`))
    const leases = results.flatMap((result) => (result.taken ? [result.lease] : []))
    expect(leases).toEqual([{ log, fence: (await headOf(remote(), log)).fence }])
  })

  test('no two takes have the same fence, even if the remote has lost the first', async () => {
    const log = session('unique')
    const beforeMs = Date.now()
    const first = await startWriter(remote(), log)
    await remote().release(first.lease)
    const second = await startWriter(remote(), log)
    // The time of the take, so it does not depend on what the remote remembers.
    expect(first.lease.fence).toBeGreaterThanOrEqual(beforeMs)
    expect(second.lease.fence).toBeGreaterThan(first.lease.fence)
  })

  test('a living holder is replaced only by a caller that knows its fence', async () => {
    const log = session('replaced')
    const old = await startWriter(remote(), log, { host: 'old' })
    const other = await openOther()
    const request = { log, holder: holder('new'), leaseMs: LEASE_MS }
    expect(await other.take({ ...request, ifFence: old.lease.fence + 1 })).toMatchObject({
      taken: false,
    })
    const taken = await other.take({ ...request, ifFence: old.lease.fence })
    expect(taken).toMatchObject({ taken: true, head: { holder: holder('new') } })
    const { fence } = await headOf(remote(), log)
    expect(fence).toBeGreaterThan(old.lease.fence)
    const late = await old.send(old.prepare('too late'))
    expect(late).toMatchObject({ kind: 'conflict', head: { fence, nextN: 1 } })
    expect(await textsOf(remote(), log)).toEqual([])
    expect(await remote().renew([old.lease], LEASE_MS)).toEqual([old.lease])
  })

  test('a released session is free, and its former holder cannot write', async () => {
    const log = session('released')
    const first = await startWriter(remote(), log)
    await first.commit('one')
    await remote().release(first.lease)
    expect(await headOf(remote(), log)).toMatchObject({ holder: null, leaseEndsInMs: null })
    expect(await first.send(first.prepare('late'))).toMatchObject({ kind: 'conflict' })
    expect(await remote().renew([first.lease], LEASE_MS)).toEqual([first.lease])

    const second = await startWriter(await openOther(), log, { host: 'second' })
    expect(second.lease.fence).toBeGreaterThan(first.lease.fence)
    // Does not take it from the new holder.
    await remote().release(first.lease)
    await second.commit('two')
    expect(await textsOf(remote(), log)).toEqual(['one', 'two'])
  })

  test('a commit prolongs the lease from when it is written', async () => {
    const log = session('prolonged')
    const writer = await startWriter(remote(), log)
    await writer.commit('one', { leaseMs: 100 * LEASE_MS })
    const { leaseEndsInMs } = await headOf(remote(), log)
    const long: unknown = expect.closeTo(100 * LEASE_MS, -5)
    expect(leaseEndsInMs).toEqual(isFleet ? long : null)
  })

  test('a lease without an end stays until it is released', async () => {
    const log = session('handoff')
    const writer = await startWriter(remote(), log, { leaseMs: null })
    await writer.commit('one', { leaseMs: null })
    expect(await headOf(remote(), log)).toMatchObject({
      holder: holder('host'),
      leaseEndsInMs: null,
    })
    const result = await remote().take({ log, holder: holder('b'), leaseMs: null })
    expect(result.taken).toBe(false)
  })

  test('renewing keeps what is held and reports what is lost', async () => {
    const [a, b] = [session('renew a'), session('renew b')]
    const first = await startWriter(remote(), a)
    const second = await startWriter(remote(), b)
    expect(await remote().renew([first.lease, second.lease], LEASE_MS)).toEqual([])
    const lost = new Writer(remote(), b, { fence: 9, position: second.position })
    const unknown = { log: session('renew c'), fence: 1 }
    expect(await remote().renew([lost.lease, first.lease, unknown], LEASE_MS)).toEqual([
      lost.lease,
      unknown,
    ])
    expect(await remote().renew([], LEASE_MS)).toEqual([])
  })
}
