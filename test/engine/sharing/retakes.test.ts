// A process takes its session again after a failover, and the answer of one more statement is lost: it recognizes what it has done itself.
import { describe, expect, test } from 'vitest'
import type { Session } from '../../../src/index.js'
import { failoverPlace } from '../../support/sharing/failover.js'

type State = { items: number[] }

const place = failoverPlace()

/** A take that was granted: its UPDATE returns the row. */
const RETAKE = { to: 'AS v SET fence =', saying: 'UPDATE 1' }
const BASE = { to: 'b AS (DELETE FROM', saying: 'SELECT 1' }

async function itemsElsewhere(): Promise<number[] | undefined> {
  const { session, state } = await place().other.resume<State>('task')
  await session.close()
  return state?.items
}

describe('an open session sends everything again', () => {
  test.each([
    { lost: 'the retake', answers: [RETAKE] },
    { lost: 'the base', answers: [BASE] },
    { lost: 'both', answers: [RETAKE, BASE] },
  ])('although the answer of $lost is lost', async ({ answers }) => {
    const { store, proxy, loseCommitsOf } = place()
    const session = await store.session<State>('task')
    await session.save({ state: { items: [0] } })
    await loseCommitsOf(() => session.append('items', [1]))
    proxy.resume()
    const appended = session.append('items', [2])
    for (const answer of answers) await proxy.dropAnswer(answer)
    await appended
    await session.append('items', [3])
    await session.close()
    expect(await itemsElsewhere()).toEqual([0, 1, 2, 3])
  })

  test('although the whole session was lost, and then the answer of the retake', async () => {
    const { store, proxy, loseCommitsOf } = place()
    let session: Session<State> | undefined
    await loseCommitsOf(async () => {
      session = await store.session<State>('task')
      await session.save({ state: { items: [0] } })
    })
    proxy.resume()
    const appended = session?.append('items', [1])
    await proxy.dropAnswer(RETAKE)
    await appended
    await session?.close()
    expect(await itemsElsewhere()).toEqual([0, 1])
  })
})

test('a closed session that was lost is created again, although the answer of its take is lost', async () => {
  const { store, proxy, loseCommitsOf } = place()
  await loseCommitsOf(async () => {
    const session = await store.session<State>('task')
    await session.save({ state: { items: [0] } })
    await session.close()
  })
  proxy.resume()
  const resumed = store.resume<State>('task')
  await proxy.dropAnswer(RETAKE)
  const { session, state } = await resumed
  expect(state).toEqual({ items: [0] })
  await session.append('items', [1])
  await session.close()
  expect(await itemsElsewhere()).toEqual([0, 1])
})
