// Claims: interrupted sessions, each by one process.
import { expect, test } from 'vitest'
import type { Remote } from '../../../src/remote/index.js'
import type { RemoteClients } from './remote-contract.js'
import { headOf, holder, LEASE_MS, session, startWriter, Writer } from './writer.js'

export function describeClaims({ remote, openOther }: RemoteClients): void {
  /** A session of this agent that no process holds. */
  const interrupt = async (id: string, agent: string) => {
    const log = session(id)
    const taken = await remote().take({
      log,
      holder: holder('dead'),
      leaseMs: LEASE_MS,
      create: { agent, project: null },
    })
    if (!taken.taken) throw new Error('taken')
    const writer = new Writer(remote(), log, { fence: taken.lease.fence, position: taken.head })
    await writer.commit(id)
    await remote().release(writer.lease)
    return writer
  }

  const claim = (by: Remote, agent: string, host = 'claimer') =>
    by.claim({ agent, holder: holder(host), leaseMs: LEASE_MS })

  test('a claim takes a session of this agent that is in progress and free', async () => {
    const writer = await interrupt('claim 1', 'coder')
    expect(await claim(remote(), 'tester')).toBe(undefined)
    const claimed = await claim(remote(), 'coder')
    expect(claimed).toMatchObject({
      lease: { log: session('claim 1') },
      head: { holder: holder('claimer'), nextN: 2 },
    })
    expect(claimed?.lease.fence).toBeGreaterThan(writer.lease.fence)
    expect(await claim(remote(), 'coder', 'another')).toBe(undefined)
  })

  test('a claim that is sent again gets the session that it has taken, and another claim does not', async () => {
    for (const id of ['again 1', 'again 2']) await interrupt(id, 'repeater')
    const own = { ...holder('host'), claim: 'own' }
    const request = { agent: 'repeater', leaseMs: LEASE_MS }
    const first = await remote().claim({ ...request, holder: own })
    expect(first).toMatchObject({ lease: { log: session('again 1') }, head: { holder: own } })
    const again = await (await openOther()).claim({ ...request, holder: { ...own } })
    expect(again?.lease.log).toEqual(session('again 1'))
    expect(again?.lease.fence).toBeGreaterThan(first?.lease.fence ?? Infinity)
    // Only the answer to the later try counts.
    expect(await remote().renew(first === undefined ? [] : [first.lease], LEASE_MS)).toHaveLength(1)
    const other = { ...holder('host'), claim: 'other' }
    expect((await remote().claim({ ...request, holder: other }))?.lease.log).toEqual(
      session('again 2'),
    )
  })

  test('a claim leaves the sessions alone that the caller cannot open', async () => {
    for (const id of ['except 1', 'except 2']) await interrupt(id, 'chooser')
    const request = { agent: 'chooser', leaseMs: LEASE_MS, holder: holder('chooser') }
    const except = ['except 1', 'unknown']
    expect((await remote().claim({ ...request, except }))?.lease.log).toEqual(session('except 2'))
    expect(await remote().claim({ ...request, except: [...except, 'except 2'] })).toBe(undefined)
  })

  test('a claim without an agent takes any', async () => {
    await interrupt('any 1', 'one')
    await interrupt('any 2', 'other')
    const ids: string[] = []
    for (;;) {
      const by = holder(`any ${ids.length}`)
      const claimed = await remote().claim({ holder: by, leaseMs: LEASE_MS })
      if (claimed === undefined) break
      ids.push(claimed.lease.log.id)
    }
    expect(ids.filter((id) => id.startsWith('any '))).toEqual(['any 1', 'any 2'])
  })

  test('a claim leaves completed, deleted and empty sessions alone', async () => {
    const done = await interrupt('claim done', 'finisher')
    const again = await startWriter(remote(), done.log)
    await again.commit('done', { status: 'completed' })
    await remote().release(again.lease)
    const gone = await interrupt('claim gone', 'finisher')
    await remote().deleteLog(gone.log, null)
    const empty = await remote().take({
      log: session('claim empty'),
      holder: holder('dead'),
      leaseMs: LEASE_MS,
      create: { agent: 'finisher', project: null },
    })
    if (empty.taken) await remote().release(empty.lease)
    expect(await claim(remote(), 'finisher')).toBe(undefined)
  })

  test('many claimers at once get a session each', async () => {
    const ids = Array.from({ length: 6 }, (_, i) => `crowd ${i}`)
    for (const id of ids) await interrupt(id, 'crowd')
    const clients = await Promise.all(Array.from({ length: 8 }, openOther))
    const claimed = await Promise.all(
      clients.map((client, index) => claim(client, 'crowd', `host ${index}`)),
    )
    const got = claimed.flatMap((it) => (it === undefined ? [] : [it.lease.log.id]))
    expect(got.sort()).toEqual(ids)
    const holders = await Promise.all(
      claimed.map(async (it) => it && (await headOf(remote(), it.lease.log)).holder),
    )
    expect(holders).toEqual(claimed.map((it, index) => it && holder(`host ${index}`)))
  })

  test('an expired lease is free, by the clock of the remote', async () => {
    const log = session('expired')
    const writer = await startWriter(remote(), log, { host: 'sleeper', leaseMs: 60 })
    await writer.commit('one', { leaseMs: 60 })
    await expect.poll(async () => (await headOf(remote(), log)).holder).toBe(null)
    // No one else has taken it: its holder may still prolong it by a commit.
    await writer.commit('two', { leaseMs: 60 })
    await expect.poll(async () => (await headOf(remote(), log)).holder).toBe(null)
    const other = await startWriter(await openOther(), log, { host: 'b' })
    expect(other.lease.fence).toBeGreaterThan(writer.lease.fence)
    expect(await writer.send(writer.prepare('three'))).toMatchObject({ kind: 'conflict' })
  })
}
