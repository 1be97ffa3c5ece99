// After a failover another host writes, and adds neither a step nor a call: its acknowledged write stays when the first host returns.
import { describe, expect, test } from 'vitest'
import type { SavestateError, Session, Store } from '../../../src/index.js'
import { failoverPlace } from '../../support/sharing/failover.js'

type State = { items: number[] }
type Work = (session: Session<State>) => Promise<unknown>

const CALL = { id: 'c', name: 'effect' }

const place = failoverPlace()

async function resume(store: Store, work: Work): Promise<void> {
  const { session } = await store.resume<State>('task')
  await work(session)
  await session.close()
}

/** The first host shares an intent, then a failover loses its `work`. The other host does `elsewhere`, and the first one returns. */
async function continueAfterLoss(work: Work, elsewhere: Work): Promise<void> {
  const { store, other, proxy, loseCommitsOf, expireLeases } = place()
  const session = await store.session<State>('task')
  await session.save({ state: { items: [0] } })
  // Its process never learns how it ended.
  const started = new Promise<void>((resolve) => {
    void session.tool(CALL, (call) => {
      call.partial('half')
      resolve()
      return new Promise(() => undefined)
    })
  })
  await started
  await loseCommitsOf(async () => {
    await work(session)
    await session.close()
  })
  await expireLeases()
  await resume(other, elsewhere)
  proxy.resume()
}

/** The session and its forks in order, as the first host opens them. `call`: its result, or why it is not known. */
async function histories() {
  const { store } = place()
  await resume(store, () => Promise.resolve())
  const found = []
  for (const { id, status } of [...(await store.sessions())].reverse()) {
    const { session, state } = await store.resume<State>(id)
    const call = await session
      .tool(CALL, () => 'ran twice')
      .catch((error: SavestateError) => error.code)
    await session.close()
    found.push({ id: id.replace(/~.*/, '~'), status, items: state?.items, call })
  }
  return found.sort((a, b) => a.id.length - b.id.length)
}

const append =
  (item: number): Work =>
  (session) =>
    session.append('items', [item])
const confirm =
  (result: string): Work =>
  (session) =>
    session.resolveToolCall('c', { as: 'confirmed', result })

describe('what another host wrote after a failover stays:', () => {
  test('the outcome of a call that is in flight here', async () => {
    await continueAfterLoss(append(1), confirm('done'))
    expect(await histories()).toEqual([
      { id: 'task', status: 'in_progress', items: [0], call: 'done' },
      { id: 'task~', status: 'in_progress', items: [0, 1], call: 'TOOL_UNVERIFIED' },
    ])
  })

  test('another outcome than the one here', async () => {
    await continueAfterLoss(confirm('here'), confirm('there'))
    expect(await histories()).toEqual([
      { id: 'task', status: 'in_progress', items: [0], call: 'there' },
      { id: 'task~', status: 'in_progress', items: [0], call: 'here' },
    ])
  })

  test('the end of the session', async () => {
    await continueAfterLoss(append(1), (it) => it.complete())
    expect(await histories()).toEqual([
      { id: 'task', status: 'completed', items: [0], call: 'TOOL_UNVERIFIED' },
      { id: 'task~', status: 'in_progress', items: [0, 1], call: 'TOOL_UNVERIFIED' },
    ])
  })

  test('nothing: then the first host sends everything again, and there is no fork', async () => {
    await continueAfterLoss(
      async (it) => {
        await it.append('items', [1])
        await confirm('done')(it)
        await it.newTurn()
        await it.complete()
      },
      () => Promise.resolve(),
    )
    expect(await histories()).toEqual([
      { id: 'task', status: 'completed', items: [0, 1], call: 'done' },
    ])
  })
})
