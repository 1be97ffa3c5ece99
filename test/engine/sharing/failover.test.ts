// A server that loses confirmed commits in a failover, after which another host continues: both histories stay, whichever host writes next.
import { beforeEach, describe, expect, test } from 'vitest'
import type { Session, Store } from '../../../src/index.js'
import { compactSegments } from '../../../src/model/index.js'
import type { Remote } from '../../../src/remote/index.js'
import type { TcpProxy } from '../../support/remote/tcp-proxy.js'
import { type FailoverPlace, failoverPlace } from '../../support/sharing/failover.js'

type State = { items: number[] }

const LOG = { kind: 'session', id: 'task' } as const

const place = failoverPlace()

let proxy: TcpProxy
let remote: Remote
let store: Store
let other: Store
let loseCommitsOf: FailoverPlace['loseCommitsOf']
let expireLeases: FailoverPlace['expireLeases']

beforeEach(async () => {
  ;({ proxy, remote, store, other, loseCommitsOf, expireLeases } = place())
  await addHere([0])
})

async function append(to: Session<State>, items: readonly number[]): Promise<void> {
  for (const item of items) await to.append('items', [item])
}

async function addHere(items: readonly number[]): Promise<void> {
  const session = await store.session<State>('task')
  if ((await session.head()) === undefined) await session.save({ state: { items: [] } })
  await append(session, items)
  await session.close()
}

async function addElsewhere(items: readonly number[]): Promise<void> {
  const { session } = await other.resume<State>('task')
  await append(session, items)
  await session.close()
}

async function compact(): Promise<void> {
  expect(await remote.compact(LOG, (contents) => compactSegments(contents, LOG))).toBe(true)
}

/** The items of each session by now: `task`, and the fork on the first host if there is one. */
async function items(): Promise<{ here: number[]; fork: number[] | undefined; there: number[] }> {
  const itemsOf = async (from: Store, id: string) => {
    const { session, state } = await from.resume<State>(id)
    await session.close()
    return state?.items ?? []
  }
  const here = await itemsOf(store, 'task')
  const forks = (await store.sessions()).filter(({ id }) => id.startsWith('task~'))
  expect(forks.length).toBeLessThan(2)
  // The fork is on the remote, so that it does not end with its host.
  const fork = forks[0] === undefined ? undefined : await itemsOf(other, forks[0].id)
  return { here, fork, there: await itemsOf(other, 'task') }
}

describe('a log that was continued by another host and compacted', () => {
  test('and that has less than this host had confirmed: both histories stay', async () => {
    await loseCommitsOf(() => addHere([1, 2, 3, 4]))
    await addElsewhere([7, 8])
    await compact()
    proxy.resume()
    const { session } = await store.resume<State>('task')
    await append(session, [9])
    await session.close()
    expect(await items()).toEqual({
      here: [0, 7, 8, 9],
      fork: [0, 1, 2, 3, 4],
      there: [0, 7, 8, 9],
    })
  })

  test('and that has as many segments as this host had confirmed', async () => {
    await loseCommitsOf(() => addHere([1, 2]))
    await addElsewhere([7])
    await compact()
    proxy.resume()
    expect(await items()).toEqual({ here: [0, 7], fork: [0, 1, 2], there: [0, 7] })
  })

  test('and that has more than this host had confirmed', async () => {
    await loseCommitsOf(() => addHere([1, 2]))
    await addElsewhere([7, 8, 9, 10])
    await compact()
    await addElsewhere([11])
    await compact()
    proxy.resume()
    expect(await items()).toEqual({
      here: [0, 7, 8, 9, 10, 11],
      fork: [0, 1, 2],
      there: [0, 7, 8, 9, 10, 11],
    })
  })
})

describe('a session that is open', () => {
  let session: Session<State>
  const open = async () => {
    session = (await store.resume<State>('task')).session
  }

  test('and whose lease was lost too: the next holder has another fence, so its steps stay', async () => {
    await loseCommitsOf(open)
    const taken = (await other.resume<State>('task')).session
    await append(taken, [7, 8])
    await compact()
    proxy.resume()
    await expect(append(session, [1])).rejects.toMatchObject({ code: 'SESSION_FENCED' })
    await session.close()
    await append(taken, [9])
    await taken.close()
    expect(await items()).toEqual({ here: [0, 7, 8, 9], fork: [0, 1], there: [0, 7, 8, 9] })
  })

  test('and that another host took after the loss', async () => {
    await open()
    await loseCommitsOf(() => append(session, [1, 2]))
    await expireLeases()
    await addElsewhere([7])
    proxy.resume()
    await expect(append(session, [3])).rejects.toMatchObject({ code: 'REMOTE_WENT_BACK' })
    await session.close()
    expect(await items()).toEqual({ here: [0, 7], fork: [0, 1, 2, 3], there: [0, 7] })
  })

  test('and that its former holder continued, because the loss made it the holder again', async () => {
    await open()
    let taken: Session<State> | undefined
    await loseCommitsOf(async () => {
      proxy.cut()
      await expireLeases()
      taken = (await other.resume<State>('task')).session
      await append(taken, [7, 8])
    })
    proxy.resume()
    await append(session, [1])
    if (taken === undefined) throw new Error('the session was not taken')
    await expect(append(taken, [9])).rejects.toMatchObject({ code: 'REMOTE_WENT_BACK' })
    await taken.close()
    await session.close()
    const { state, notices } = await other.resume<State>('task')
    expect({ state, notices }).toEqual({
      state: { items: [0, 1] },
      notices: [expect.stringContaining('task~') as unknown],
    })
  })

  test('and that its former holder continued before this one wrote anything', async () => {
    await open()
    let taken: Session<State> | undefined
    await loseCommitsOf(async () => {
      proxy.cut()
      await expireLeases()
      taken = (await other.resume<State>('task')).session
    })
    proxy.resume()
    await append(session, [1])
    if (taken === undefined) throw new Error('the session was not taken')
    await expect(append(taken, [9])).rejects.toMatchObject({ code: 'SESSION_FENCED' })
  })
})
