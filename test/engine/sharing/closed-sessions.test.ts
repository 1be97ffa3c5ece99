// Sessions that no process of a host has open: those that it pruned, and those that are written without a lease.
import { describe, expect, test } from 'vitest'
import type { StoreContext } from '../../../src/engine/index.js'
import { catchUp } from '../../../src/engine/sharing/index.js'
import { Ledger } from '../../../src/ledger/index.js'
import { systemClock } from '../../../src/system/index.js'
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
    // Ships the changes of all sessions that are not open.
    await store.prune({ dryRun: true })
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

test('its tool does not start while another host has the session', async () => {
  await using a = await place().host()
  await using b = await place().host()
  const session = await (await a.openShared()).session('tools', { lease: false, create: true })
  await session.save({ state: {} })
  await (await b.openShared()).resume('tools')
  let runs = 0
  const tool = { id: 'call', name: 'effect' }
  await expect(session.tool(tool, () => (runs += 1))).rejects.toMatchObject({ code: 'NOT_SHARED' })
  expect(runs).toBe(0)
})

test.each(['open', 'fork'] as const)(
  'steps that another host did not get become a fork, and the next %s without a lease says so',
  async (call) => {
    await using a = await place().host()
    await using b = await place().host()
    const store = await a.openShared()
    const id = `behind-${call}`
    const session = await store.session(id, { lease: false, create: true })
    const { id: shared } = await session.save({ state: { by: ['a'] } })
    const other = await (await b.openShared()).resume(id)
    await expect(session.save({ state: { by: ['a', 'a again'] } })).rejects.toMatchObject({
      code: 'NOT_SHARED',
    })
    await other.session.append('by', ['b'])
    await other.session.close()
    await session.close()
    const warned = new Promise<Error>((resolve) => process.once('warning', resolve))
    const next =
      call === 'open'
        ? await store.session(id, { lease: false })
        : await store.fork(shared, { session: `${id}-2`, of: id })
    const [fork] = (await store.sessions()).filter((it) => it.id.startsWith(`${id}~`))
    expect(await warned).toMatchObject({
      name: 'SavestateWarning',
      message: `Another host continued the session "${id}". Steps of this host that were not shared are in the session "${fork?.id}".`,
    })
    expect(await next.stateAt()).toEqual({ by: call === 'open' ? ['a', 'b'] : ['a'] })
  },
)

test('a session without changes is left alone by a list of heads from before its last commit', async () => {
  await using a = await place().host()
  const store = await a.openShared()
  const remote = await place().remote()
  const log = { kind: 'session', id: 'heads' } as const
  const session = await store.session('heads')
  await session.save({ state: { n: 1 } })
  const head = await remote.head(log)
  await session.save({ state: { n: 2 } })
  await session.close()
  const context = {
    ledger: Ledger.open(a.home, { durability: 'process' }),
    clock: systemClock,
  } as StoreContext
  const before = context.ledger.sharing.get(log)
  await catchUp(context, remote, log, head === undefined ? {} : { head })
  expect(context.ledger.sharing.get(log)).toEqual(before)
  context.ledger.close()
})
