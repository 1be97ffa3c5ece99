// Sessions that no process of a host has open: those that it pruned, and those that are written without a lease.
import { describe, expect, test } from 'vitest'
import { Ledger } from '../../../src/ledger/index.js'
import { sharedPlace } from '../../support/sharing/fleet.js'

const place = sharedPlace()

/** As a prune in another process does. */
function pruneHere(home: string, id: string): void {
  const ledger = Ledger.open(home, { durability: 'process' })
  const session = ledger.sessions.byId(id)
  if (session === undefined) throw new Error(`there is no session ${id}`)
  ledger.transaction(() => ledger.sessions.delete(session.key, Date.now()))
  ledger.close()
}

describe('a prune that removes a session from one host', () => {
  test('leaves it on the remote, with what other hosts have added', async () => {
    await using a = await place().host()
    await using b = await place().host()
    const store = await a.openShared()
    const first = await store.session('pruned')
    await first.save({ state: { items: [1] } })
    await first.close()
    const other = await (await b.openShared()).resume('pruned')
    await other.session.append('items', [2])
    await other.session.close()
    pruneHere(a.home, 'pruned')
    // Any write of the store ships what is left.
    await (await store.session('another')).save({ state: {} })
    await store.threads.deleteRuns([])
    expect((await store.resume('pruned')).state).toEqual({ items: [1, 2] })
  })

  test('does not let a session that is opened again begin from nothing', async () => {
    await using a = await place().host()
    const store = await a.openShared()
    const first = await store.session<{ items: number[] }>('reopened')
    await first.save({ state: { items: [1] } })
    await first.close()
    pruneHere(a.home, 'reopened')
    const again = await store.session<{ items: number[] }>('reopened')
    expect(await again.stateAt()).toEqual({ items: [1] })
  })
})

test('a session that is written without a lease is shared as well', async () => {
  await using a = await place().host()
  await using b = await place().host()
  const session = await (await a.openShared()).session('unleased', { lease: false, create: true })
  await session.save({ state: { n: 1 } })
  await session.save({ state: { n: 2 } })
  expect((await (await b.openShared()).resume('unleased')).state).toEqual({ n: 2 })
})
