// The pending segment: it survives, is sent again with the same bytes, and its changes are never lost.
import { expect, test } from 'vitest'
import { Ledger } from '../../../src/ledger/index.js'
import { parseCheckpointId } from '../../../src/model/index.js'
import { encode, newChain, pull, pullAll, receive, REMOTE, sessionLog, ship } from './chain.js'
import { sessionPicture } from './pictures.js'
import { twoHomes } from './two-homes.js'

const LOG = sessionLog('task')

async function sharedSession() {
  const homes = await twoHomes()
  const session = await homes.a.store.session<Record<string, unknown>>('task')
  await session.save({ state: { messages: [] } })
  homes.a.ledger.sharing.share(LOG, { remote: REMOTE })
  const chain = newChain(LOG)
  ship(homes.a.ledger, chain)
  const append = (n: number) => session.append('messages', [{ n }])
  return {
    homes,
    session,
    chain,
    append,
    [Symbol.asyncDispose]: () => homes[Symbol.asyncDispose](),
  }
}

test('a new log has a base as its first segment; later segments bring only what is new', async () => {
  await using shared = await sharedSession()
  const { homes, chain, append } = shared
  await append(1)
  ship(homes.a.ledger, chain)
  const [first, second] = chain.segments
  expect(first).toMatchObject({ n: 1, prev: null, content: { isBase: true } })
  expect(second).toMatchObject({ n: 2, prev: first?.hash, content: { isBase: false } })
  expect(second?.content.elements.map(([, , text]) => text)).toEqual(['{"n":1}'])
  expect(second?.content.states).toHaveLength(1)
  expect(Object.keys(second?.content.rows ?? {})).toEqual(['session', 'checkpoints'])
})

test('a pending segment keeps its bytes until it is acknowledged; what follows comes in the next one', async () => {
  await using shared = await sharedSession()
  const { homes, chain, append } = shared
  const { sharing } = homes.a.ledger
  await append(1)
  const first = sharing.prepare(LOG, encode)
  await append(2)
  expect(sharing.get(LOG)).toMatchObject({ isDirty: true, isPending: true })
  // Another process finds the same one.
  const other = Ledger.open(homes.a.path, { durability: 'process' })
  expect(other.sharing.prepare(LOG, encode)).toEqual(first)
  other.close()
  expect(sharing.prepare(LOG, encode)).toEqual(first)
  if (first !== undefined) receive(chain, first)
  sharing.acknowledge(LOG, chain.position)
  expect(sharing.get(LOG)).toMatchObject({ isDirty: true, isPending: false })
  expect(ship(homes.a.ledger, chain)).toBe(true)
  expect(ship(homes.a.ledger, chain)).toBe(false)
  expect(pull(homes.b.ledger, chain)).toBe('applied')
  expect(sessionPicture(homes.b.ledger, 'task')).toEqual(sessionPicture(homes.a.ledger, 'task'))
})

test('what a commit needs is kept with the pending segment', async () => {
  await using shared = await sharedSession()
  const { homes, chain, session } = shared
  await session.save({ state: { messages: [1] }, reason: 'the reason' })
  const dropped = (await session.list()).at(-1)
  await session.fail('no budget')
  if (dropped !== undefined)
    homes.a.ledger.transaction(() => homes.a.ledger.pruning.drop([parseCheckpointId(dropped.id)]))
  const prepared = homes.a.ledger.sharing.prepare(LOG, encode)
  const [newest] = await session.list()
  expect(prepared).toMatchObject({
    before: chain.position,
    isBase: false,
    status: 'failed',
    card: { agent: null, project: null, steps: 2, reason: 'the reason', statusReason: 'no budget' },
    checkpoints: [{ id: newest?.id, step: 1, pack: null }],
    removedCheckpoints: [dropped?.id],
    packs: [],
  })
})

test('a retracted segment is encoded again, with other numbers', async () => {
  await using shared = await sharedSession()
  const { homes, chain, append } = shared
  const { sharing } = homes.a.ledger
  await append(1)
  const lost = sharing.prepare(LOG, encode)
  sharing.retract(LOG)
  expect(sharing.get(LOG)).toMatchObject({ isDirty: true, isPending: false })
  await append(2)
  ship(homes.a.ledger, chain)
  const numbersOf = (content: (typeof chain.segments)[number]['content'] | undefined) =>
    new Set(content?.states.map(([number]) => number))
  const lostContent = JSON.parse(Buffer.from(lost?.segment.body ?? []).toString())
  const sent = numbersOf(chain.segments.at(-1)?.content)
  expect([...numbersOf(lostContent)].filter((number) => sent.has(number))).toEqual([])
  expect(pull(homes.b.ledger, chain)).toBe('applied')
  expect(sessionPicture(homes.b.ledger, 'task')).toEqual(sessionPicture(homes.a.ledger, 'task'))
})

test('after a restart a base follows, with numbers that were never used', async () => {
  await using shared = await sharedSession()
  const { homes, chain, append } = shared
  await append(1)
  ship(homes.a.ledger, chain)
  expect(pull(homes.b.ledger, chain)).toBe('applied')
  const used = Math.max(...chain.segments.map(({ content }) => content.nextNumber))
  // The remote was compacted meanwhile.
  chain.position = { ...chain.position, nextN: chain.position.nextN + 1, epoch: 7 }
  homes.a.ledger.sharing.restart(LOG, chain.position)
  await append(2)
  expect(ship(homes.a.ledger, chain)).toBe(true)
  const [base] = chain.segments
  expect(chain.segments).toHaveLength(1)
  expect(base?.content.isBase).toBe(true)
  expect(
    Math.min(...(base?.content.states ?? []).map(([number]) => number)),
  ).toBeGreaterThanOrEqual(used)
  expect(pull(homes.b.ledger, chain)).toBe('applied')
  expect(sessionPicture(homes.b.ledger, 'task')).toEqual(sessionPicture(homes.a.ledger, 'task'))
})

test('a lost pending segment that the remote has is taken over as our own, and the rest is sent', async () => {
  await using shared = await sharedSession()
  const { homes, chain, append, session } = shared
  const { sharing } = homes.a.ledger
  await append(1)
  await session.tool({ id: 'call', name: 'run', args: {} }, () => 'done')
  const prepared = sharing.prepare(LOG, encode)
  // A power failure: the remote has it, and the transaction that stored it here was lost.
  sharing.retract(LOG)
  if (prepared !== undefined) receive(chain, prepared)
  await session.append('messages', [{ n: 2 }])
  await session.tool({ id: 'call 2', name: 'run', args: {} }, () => 'done')
  expect(pull(homes.a.ledger, chain)).toBe('applied')
  expect(sharing.get(LOG)).toMatchObject({ position: chain.position, isDirty: true })
  expect(ship(homes.a.ledger, chain)).toBe(true)
  expect(pullAll(homes.b.ledger, chain)).toBe('applied')
  const picture = sessionPicture(homes.a.ledger, 'task')
  expect(picture?.checkpoints).toHaveLength(3)
  expect(picture?.calls).toHaveLength(2)
  expect(sessionPicture(homes.b.ledger, 'task')).toEqual(picture)
})

test('segments that do not follow are refused, and change nothing', async () => {
  await using shared = await sharedSession()
  const { homes, chain, append } = shared
  for (const n of [1, 2, 3]) {
    await append(n)
    ship(homes.a.ledger, chain)
  }
  expect(pullAll(homes.b.ledger, { ...chain, segments: chain.segments.slice(0, 2) })).toBe(
    'applied',
  )
  const picture = sessionPicture(homes.b.ledger, 'task')
  const [, , third, fourth] = chain.segments
  const apply = (segments: typeof chain.segments) => () =>
    pullAll(homes.b.ledger, { ...chain, segments })
  if (third === undefined || fourth === undefined) throw new Error('there are four segments')
  expect(apply([fourth])).toThrow(expect.objectContaining({ code: 'BAD_INPUT' }))
  expect(apply([{ ...third, prev: 'another' }])).toThrow(
    expect.objectContaining({ code: 'REMOTE_WENT_BACK' }),
  )
  expect(apply([third, { ...fourth, prev: 'another' }])).toThrow(
    expect.objectContaining({ code: 'BAD_INPUT' }),
  )
  expect(sessionPicture(homes.b.ledger, 'task')).toEqual(picture)
  expect(pull(homes.b.ledger, chain)).toBe('applied')
  expect(sessionPicture(homes.b.ledger, 'task')).toEqual(sessionPicture(homes.a.ledger, 'task'))
})

test('a host that has collected what a segment builds on applies the whole log again', async () => {
  await using shared = await sharedSession()
  const { homes, chain, session } = shared
  const [a, b] = [homes.a.ledger, homes.b.ledger]
  const old = { messages: [{ text: 'used again later' }] }
  const saved = await session.save({ state: old })
  await session.save({ state: { messages: [{ text: 'something else' }] } })
  ship(a, chain)
  a.transaction(() => a.pruning.drop([parseCheckpointId(saved.id)]))
  ship(a, chain)
  expect(pull(b, chain)).toBe('applied')
  expect(await b.vacuum.collect(async () => undefined)).toMatchObject({ states: 1, elements: 1 })
  // The first host has not collected it yet, and finds it by its hash.
  await session.save({ state: old })
  ship(a, chain)
  expect(chain.segments.at(-1)?.content.elements).toEqual([])
  const before = sessionPicture(b, 'task')
  expect(pull(b, chain)).toBe('incomplete')
  expect(sessionPicture(b, 'task')).toEqual(before)
  expect(pullAll(b, chain)).toBe('applied')
  expect(sessionPicture(b, 'task')).toEqual(sessionPicture(a, 'task'))
  expect(b.rowChecks.stateFaults({ quick: false })).toEqual([])
})

test('a heartbeat is no change, and neither is a store without shared logs', async () => {
  await using shared = await sharedSession()
  const { homes, chain } = shared
  const { ledger } = homes.a
  const owner = { host: 'h', pid: 1, boot: 'b', startedAt: 's' }
  const session = ledger.sessions.byId('task')
  if (session === undefined) throw new Error('the session exists')
  const leased = ledger.transaction(() =>
    ledger.sessions.takeLease(session.key, { owner, expiresAtMs: 1 }),
  )
  ledger.sessions.renewLease(leased, 2)
  ledger.sessions.releaseLease(leased)
  expect(ledger.sharing.get(LOG)?.isDirty).toBe(false)
  const other = await homes.a.store.session('not shared')
  await other.save({ state: {} })
  expect(ledger.sharing.list({ isDirty: true })).toEqual([])
  expect(ledger.sharing.list()).toMatchObject([{ log: LOG, position: chain.position }])
  ledger.sharing.unshare(LOG)
  expect(ledger.sharing.get(LOG)).toBe(undefined)
})

test('a session that was deleted here is not shipped, and nothing is applied to it', async () => {
  await using shared = await sharedSession()
  const { homes, chain, session, append } = shared
  await append(1)
  await session.delete()
  const { sharing } = homes.a.ledger
  expect(sharing.get(LOG)).toMatchObject({ isDeleted: true })
  expect(sharing.prepare(LOG, encode)).toBe(undefined)
  expect(() => pullAll(homes.a.ledger, chain)).toThrow(
    expect.objectContaining({ code: 'SESSION_DELETED' }),
  )
  // Forgotten, it can come back.
  sharing.unshare(LOG)
  expect(pullAll(homes.a.ledger, chain)).toBe('applied')
  expect(sessionPicture(homes.a.ledger, 'task')?.checkpoints).toHaveLength(1)
})
