// Two hosts continue a session from one point. The steps that one of them did not ship become a fork, and nothing is lost.
import { expect, test } from 'vitest'
import type { Session } from '../../../src/index.js'
import { parseCheckpointId } from '../../../src/model/index.js'
import { type Chain, newChain, pull, pullAll, REMOTE, sessionLog, ship } from './chain.js'
import { sessionPicture } from './pictures.js'
import { type Home, type HomeKeys, twoHomes } from './two-homes.js'

const LOG = sessionLog('task')
const REQUEST = {
  remote: REMOTE,
  forkId: 'task~host-1',
  checkpointId: parseCheckpointId('b'.repeat(18)),
  atMs: 1_800_000_000_000,
}

type Agent = Session<Record<string, unknown>>

/** Both hosts have three checkpoints and two calls; the first one holds the session no more. */
async function twoHosts(keys: HomeKeys = {}) {
  const homes = await twoHomes(keys)
  const { a, b } = homes
  const session: Agent = await a.store.session('task', { agent: 'coder', metadata: { m: 1 } })
  await session.save({ state: { messages: [{ n: 0 }] }, metadata: { first: true } })
  a.ledger.sharing.share(LOG, { remote: REMOTE })
  await session.tool({ id: 'shared', name: 'run', args: { n: 1 } }, () => 'shared result')
  await session.append('messages', [{ n: 1 }])
  await session.tool({ id: 'shared 2', name: 'run', args: { n: 2 } }, () => 'shared result 2')
  await session.append('messages', [{ n: 2 }])
  const chain = newChain(LOG)
  ship(a.ledger, chain)
  expect(pull(b.ledger, chain)).toBe('applied')
  const there: Agent = await b.store.session('task')
  return {
    homes,
    a,
    b,
    session,
    there,
    chain,
    [Symbol.asyncDispose]: () => homes[Symbol.asyncDispose](),
  }
}

/** As the engine does: the rest of the segments is applied after the split. */
function split(home: Home, chain: Chain) {
  expect(pull(home.ledger, chain)).toBe('diverged')
  const result = home.ledger.sharing.splitTail(LOG, { ...REQUEST, segments: chain.segments })
  expect(pullAll(home.ledger, chain)).toBe('applied')
  return result
}

async function continueThere(there: Agent, b: Home, chain: Chain): Promise<void> {
  await there.append('messages', [{ from: 'the other host' }])
  await there.tool({ id: 'there', name: 'run', args: {} }, () => 'result there')
  ship(b.ledger, chain)
}

test.each<HomeKeys>([{}, { a: 'a'.repeat(64), b: 'b'.repeat(64) }])(
  'the tail becomes a fork that begins at the last shared checkpoint, with keys %o',
  async (keys) => {
    await using hosts = await twoHosts(keys)
    const { a, b, session, there, chain } = hosts
    await session.append('messages', [{ n: 'local 1' }], { name: 'mine', metadata: { mine: 1 } })
    await session.tool({ id: 'local', name: 'run', args: { n: 3 } }, () => 'local result')
    await session.append('messages', [{ n: 'local 2' }])
    await new Promise<void>((resolve) => {
      void session.tool({ id: 'hanging', name: 'run', args: {} }, async (call) => {
        call.partial('half')
        resolve()
        await new Promise(() => undefined)
      })
    })
    const local = sessionPicture(a.ledger, 'task')
    await continueThere(there, b, chain)

    expect(split(a, chain)).toEqual({ fork: REQUEST.forkId, checkpoints: 2, calls: 2 })
    expect(sessionPicture(a.ledger, 'task')).toEqual(sessionPicture(b.ledger, 'task'))
    expect(a.ledger.sharing.get(LOG)).toMatchObject({ position: chain.position, isDirty: false })

    const fork = sessionPicture(a.ledger, REQUEST.forkId)
    expect(fork).toMatchObject({
      agent: 'coder',
      metadata: { m: 1 },
      nextStep: 3,
      status: { state: 'in_progress' },
    })
    // Newest first: the last shared state, then the two local ones.
    const states = local?.checkpoints.slice(0, 3).map(({ state }) => state)
    expect(fork?.checkpoints.map(({ state }) => state)).toEqual(states)
    expect(fork?.checkpoints.map(({ step }) => step)).toEqual([2, 1, 0])
    expect(fork?.bySeq).toEqual(fork?.checkpoints.map(({ id }) => id))
    const [newest, named, first] = fork?.checkpoints ?? []
    expect(fork?.head).toBe(newest?.id)
    expect(named).toMatchObject({ name: 'mine', metadata: { mine: 1 }, parent: first?.id })
    expect(first).toMatchObject({ id: REQUEST.checkpointId, parent: fork?.forkedFrom })
    expect(fork?.forkedFrom).toBe(local?.checkpoints[2]?.id)
    const results = (calls: unknown) => (calls as { result: unknown }[]).map(({ result }) => result)
    expect(fork?.known.map(results)).toEqual([
      ['shared result', 'shared result 2', 'local result'],
      ['shared result', 'shared result 2'],
      ['shared result', 'shared result 2'],
    ])
    expect(fork?.calls.at(-1)).toMatchObject({
      id: 'hanging',
      status: 'started',
      step: 3,
      partials: ['half'],
    })
    expect(a.ledger.rowChecks.dangling()).toEqual([])

    const resumed = await a.store.session<Record<string, unknown>>(REQUEST.forkId)
    expect(
      await resumed.tool({ id: 'local', name: 'run', args: { n: 3 } }, () => 'ran again'),
    ).toBe('local result')
    await resumed.append('messages', [{ n: 'local 3' }])
  },
)

test('the process that had the session open can write no more', async () => {
  await using hosts = await twoHosts()
  const { a, b, session, there, chain } = hosts
  await session.append('messages', [{ n: 'local' }])
  await continueThere(there, b, chain)
  split(a, chain)
  await expect(session.append('messages', [{ n: 'late' }])).rejects.toMatchObject({
    code: 'SESSION_FENCED',
  })
})

test('a local rewind in the tail takes back shared calls in the fork only', async () => {
  await using hosts = await twoHosts()
  const { a, b, session, there, chain } = hosts
  const [, , first] = await session.list()
  await session.rewind(first?.id ?? '', { restore: 'state' })
  await session.tool({ id: 'shared', name: 'run', args: { n: 1 } }, () => 'run again')
  await session.append('messages', [{ n: 'after the rewind' }])
  const local = sessionPicture(a.ledger, 'task')
  await continueThere(there, b, chain)
  expect(split(a, chain)).toMatchObject({ checkpoints: 2, calls: 1 })
  expect(sessionPicture(a.ledger, 'task')).toEqual(sessionPicture(b.ledger, 'task'))
  const fork = sessionPicture(a.ledger, REQUEST.forkId)
  // At each local checkpoint the same calls are known as before, and as many steps of the fork know them.
  const calls = (known: unknown) =>
    (known as { id: string; result: unknown }[]).map(({ id, result }) => ({ id, result }))
  expect(fork?.known.slice(0, 2).map(calls)).toEqual(local?.known.slice(0, 2).map(calls))
  expect(fork?.known.map(calls).at(-1)).toEqual(calls(local?.known[2]))
})

test('the outcome of a shared call that ended here alone is kept in a fork', async () => {
  await using hosts = await twoHosts()
  const { a, b, session, there, chain } = hosts
  let end: (value: string) => void = () => undefined
  const running = new Promise<string>((resolve) => {
    end = resolve
  })
  const call = session.tool({ id: 'slow', name: 'run', args: {} }, () => running)
  await expect.poll(() => a.ledger.sharing.get(LOG)?.isDirty).toBe(true)
  ship(a.ledger, chain)
  expect(pull(b.ledger, chain)).toBe('applied')
  expect(await there.inFlight()).toMatchObject([{ id: 'slow' }])
  end('ended here')
  await call
  await continueThere(there, b, chain)
  expect(split(a, chain)).toMatchObject({ fork: REQUEST.forkId, checkpoints: 0 })
  expect(sessionPicture(a.ledger, 'task')).toEqual(sessionPicture(b.ledger, 'task'))
  const fork = sessionPicture(a.ledger, REQUEST.forkId)
  expect(fork?.checkpoints).toHaveLength(1)
  expect(fork?.calls.find(({ id }) => id === 'slow')).toMatchObject({
    status: 'confirmed',
    result: 'ended here',
  })
})

test('without a tail there is no fork: names and pins of shared checkpoints stay, and are sent', async () => {
  await using hosts = await twoHosts()
  const { a, b, session, there, chain } = hosts
  const [newest] = await session.list()
  a.ledger.checkpoints.setPinned(parseCheckpointId(newest?.id ?? ''), true)
  await continueThere(there, b, chain)
  expect(pull(a.ledger, chain)).toBe('applied')
  expect(ship(a.ledger, chain)).toBe(true)
  expect(pull(b.ledger, chain)).toBe('applied')
  const picture = sessionPicture(b.ledger, 'task')
  expect(picture?.checkpoints.filter(({ pinned }) => pinned)).toMatchObject([{ id: newest?.id }])
  expect(sessionPicture(a.ledger, 'task')).toEqual(picture)
})

test('a status that was set here alone makes no fork, and that of the remote counts', async () => {
  await using hosts = await twoHosts()
  const { a, b, session, there, chain } = hosts
  await session.fail('here')
  await continueThere(there, b, chain)
  expect(split(a, chain)).toEqual({ fork: null, checkpoints: 0, calls: 0 })
  expect(sessionPicture(a.ledger, 'task')).toEqual(sessionPicture(b.ledger, 'task'))
})

test('steps that the remote has lost since are part of the fork', async () => {
  await using hosts = await twoHosts()
  const { a, b, session, there, chain } = hosts
  const before = { segments: [...chain.segments], position: chain.position }
  await session.append('messages', [{ n: 'confirmed, then lost' }])
  ship(a.ledger, chain)
  const local = sessionPicture(a.ledger, 'task')
  // The remote is an older copy now. The first host is about to send everything again, but the other one is faster.
  Object.assign(chain, before)
  a.ledger.sharing.restart(LOG, chain.position)
  await continueThere(there, b, chain)
  expect(split(a, chain)).toMatchObject({ fork: REQUEST.forkId, checkpoints: 1 })
  expect(sessionPicture(a.ledger, 'task')).toEqual(sessionPicture(b.ledger, 'task'))
  const fork = sessionPicture(a.ledger, REQUEST.forkId)
  expect(fork?.checkpoints[0]).toMatchObject({
    id: local?.checkpoints[0]?.id,
    state: local?.checkpoints[0]?.state,
  })
})

test('a session that exists here without being shared becomes a fork as a whole', async () => {
  await using hosts = await twoHosts()
  const { a, b, session, there, chain } = hosts
  await session.append('messages', [{ n: 'local' }])
  const local = sessionPicture(a.ledger, 'task')
  await continueThere(there, b, chain)
  // After a repair of the ledger, nothing is shared any more.
  a.ledger.sharing.unshare(LOG)
  expect(pullAll(a.ledger, chain)).toBe('diverged')
  const fork = { ...REQUEST, segments: [] }
  expect(a.ledger.sharing.splitTail(LOG, fork)).toMatchObject({ checkpoints: 4, calls: 2 })
  const moved = sessionPicture(a.ledger, REQUEST.forkId)
  expect(moved?.checkpoints).toEqual(local?.checkpoints)
  expect(moved?.known).toEqual(local?.known)
  // The checkpoints that both have cannot be in two sessions of one store.
  expect(() => pullAll(a.ledger, chain)).toThrow(expect.objectContaining({ code: 'BAD_INPUT' }))
})

test('with the segments of the remote only what it lacks becomes a fork', async () => {
  await using hosts = await twoHosts()
  const { a, b, session, there, chain } = hosts
  await session.append('messages', [{ n: 'local' }])
  await continueThere(there, b, chain)
  a.ledger.sharing.unshare(LOG)
  expect(pullAll(a.ledger, chain)).toBe('diverged')
  const result = a.ledger.sharing.splitTail(LOG, { ...REQUEST, segments: chain.segments })
  expect(result).toMatchObject({ fork: REQUEST.forkId, checkpoints: 1 })
  expect(pullAll(a.ledger, chain)).toBe('applied')
  expect(sessionPicture(a.ledger, 'task')).toEqual(sessionPicture(b.ledger, 'task'))
  expect(sessionPicture(a.ledger, REQUEST.forkId)?.checkpoints).toHaveLength(2)
})
