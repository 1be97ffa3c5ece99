// One host deletes a thread, and another one continues it, in both orders: the thread stays deleted, and both hosts have the same rows.
import { expect, test } from 'vitest'
import { SavestateSaver } from '../../../src/langgraph/saver.js'
import type { Ledger } from '../../../src/ledger/index.js'
import type { LogName } from '../../../src/model/index.js'
import { at, idIn, listIds, putChain, steps } from '../../langgraph/saver.js'
import { type Chain, newChain, pull, REMOTE, ship } from './chain.js'
import { twoHomes } from './two-homes.js'

const THREAD: LogName = { kind: 'thread', id: 'thread' }

/** Two hosts that have the first two checkpoints of a thread. */
async function sharedThread() {
  const homes = await twoHomes()
  const chain = newChain(THREAD)
  const savers = [homes.a, homes.b].map(({ store }) => new SavestateSaver({ store }))
  const [first, second] = savers
  if (first === undefined || second === undefined) throw new Error('no savers')
  const [, last] = await putChain(first, at(THREAD.id), steps(2))
  if (last === undefined) throw new Error('nothing was put')
  homes.a.ledger.sharing.share(THREAD, { remote: REMOTE })
  ship(homes.a.ledger, chain)
  pull(homes.b.ledger, chain)
  return {
    homes,
    chain,
    first,
    second,
    last,
    [Symbol.asyncDispose]: () => homes[Symbol.asyncDispose](),
  }
}

/** As a writer that finds a newer head. */
function pullThenShip(ledger: Ledger, chain: Chain): void {
  ledger.sharing.retract(THREAD)
  expect(pull(ledger, chain)).toBe('applied')
  ship(ledger, chain)
}

const expectGone = async (...savers: readonly SavestateSaver[]) => {
  for (const saver of savers) {
    expect(await saver.getTuple(at(THREAD.id))).toBeUndefined()
    await expect(putChain(saver, at(THREAD.id, { id: '0' }), steps(1))).rejects.toMatchObject({
      code: 'SESSION_DELETED',
    })
  }
}

test('deleted there, and continued here before that was known', async () => {
  await using it = await sharedThread()
  const { homes, chain, first, second, last } = it
  await first.deleteThread(THREAD.id)
  ship(homes.a.ledger, chain)
  const [late] = await putChain(second, last, steps(3))
  await second.putWrites(late ?? last, [['n', 1]], 'task')
  pullThenShip(homes.b.ledger, chain)
  pull(homes.a.ledger, chain)
  await expectGone(first, second)
  expect(
    homes.b.ledger.threads.writes({ thread: THREAD.id, ns: '', id: idIn(late ?? last) }),
  ).toEqual([])
})

test('deleted here, and continued there before that was known', async () => {
  await using it = await sharedThread()
  const { homes, chain, first, second, last } = it
  const [other] = await putChain(second, last, steps(3))
  await second.putWrites(other ?? last, [['n', 1]], 'task')
  ship(homes.b.ledger, chain)
  await first.deleteThread(THREAD.id)
  pullThenShip(homes.a.ledger, chain)
  expect(pull(homes.b.ledger, chain)).toBe('applied')
  await expectGone(first, second)
})

test('deleted and begun again here, and continued there', async () => {
  await using it = await sharedThread()
  const { homes, chain, first, second, last } = it
  await putChain(second, last, steps(2))
  ship(homes.b.ledger, chain)
  await first.deleteThread(THREAD.id)
  const [begun] = await putChain(first, at(THREAD.id), steps(1))
  pullThenShip(homes.a.ledger, chain)
  pull(homes.b.ledger, chain)
  for (const saver of [first, second])
    expect(await listIds(saver, at(THREAD.id))).toEqual([idIn(begun ?? last)])
})

test('deleted there, and begun again here before that was known', async () => {
  await using it = await sharedThread()
  const { homes, chain, first, second, last } = it
  await first.deleteThread(THREAD.id)
  ship(homes.a.ledger, chain)
  await putChain(second, last, steps(1))
  const [begun] = await putChain(second, at(THREAD.id), steps(1))
  pullThenShip(homes.b.ledger, chain)
  pull(homes.a.ledger, chain)
  for (const saver of [first, second])
    expect(await listIds(saver, at(THREAD.id))).toEqual([idIn(begun ?? last)])
})
