// Mode behind on a bad network: a call that gets no answer reports it, and the same call of the same store succeeds later.
import { describe, expect, test } from 'vitest'
import type { SavestateError, Store } from '../../../src/index.js'
import { startProxy, type TcpProxy } from '../../support/remote/tcp-proxy.js'
import { type Scratch, scratch } from '../../support/scratch.js'
import { sharedPlace } from '../../support/sharing/fleet.js'

const place = sharedPlace()

const TAKE = { to: 'AS v SET fence =', saying: 'UPDATE 1' }
const COMMIT = 'INTO "savestate".segments'
const RELEASE = 'SET holder = NULL'
const READ = 'FROM "savestate".segments AS s WHERE log ='

type Machine = Scratch & { readonly store: Store }

async function machine(url: string): Promise<Machine> {
  const folder = await scratch()
  const store = await folder.open()
  await store.remotes.add('team', { url, plain: true })
  return { ...folder, store }
}

async function addItems(store: Store, id: string, items: readonly number[]): Promise<void> {
  const session = await store.session<{ items: number[] }>(id)
  if ((await session.head()) === undefined) await session.save({ state: { items: [] } })
  for (const item of items) await session.append('items', [item])
  await session.close()
}

async function itemsOf(store: Store, id: string): Promise<readonly number[] | undefined> {
  const { session, state } = await store.resume<{ items: number[] }>(id)
  await session.close()
  return state?.items
}

type Call = (store: Store, id: string) => Promise<unknown>

const push: Call = async (store, id) => {
  const { pushed } = await store.remotes.push({ sessions: [id] })
  const error = pushed[0]?.error ?? null
  if (error !== null) throw Object.assign(new Error(), error)
}
const pull: Call = (store, id) => store.remotes.pull({ session: id })
const handoff: Call = (store, id) => store.remotes.handoff(id)

async function codeOf(call: Promise<unknown>): Promise<string> {
  return call.then(
    () => 'it succeeded',
    (error: SavestateError) => error.code,
  )
}

/** The first machine is behind a proxy; both have the session, and it has continued at the other one for a pull. */
async function twoMachines(id: string) {
  const { hostname, port } = new URL(place().url)
  const proxy = await startProxy({ host: hostname, port: Number(port) })
  const a = await machine(place().database.urlWith({ port: proxy.port }))
  const b = await machine(place().url)
  await addItems(a.store, id, [0])
  await handoff(a.store, id)
  await pull(b.store, id)
  const dispose = async () => {
    proxy.resume()
    await a.dispose()
    await b.dispose()
    await proxy.dispose()
  }
  return { proxy, a, b, [Symbol.asyncDispose]: dispose }
}

const FAULTS: Readonly<Record<string, (proxy: TcpProxy, to: string) => void>> = {
  stalled: (proxy, to) => proxy.before(to, () => proxy.stall()),
  'half-open': (proxy, to) => proxy.before(to, () => proxy.halfOpen()),
  'answer-losing': (proxy, to) => void proxy.dropAnswer({ to }),
}
/** Not the segments of a pull: their answer may be long, and has minutes on a slow line. */
const HEAD = 'WHERE l.kind = $1 AND l.id = $2'
const CALLS = [
  { name: 'push', call: push, to: COMMIT },
  { name: 'handoff', call: handoff, to: RELEASE },
  { name: 'pull', call: pull, to: HEAD },
]

describe.each(Object.keys(FAULTS))('over a connection that is %s', (fault) => {
  test.concurrent.for(CALLS)(
    '$name reports it, and succeeds later',
    // Tests that run at once each have an `expect` of their own.
    async ({ name, call, to }, { expect }) => {
      const id = `${fault} ${name}`
      await using machines = await twoMachines(id)
      const { proxy, a, b } = machines
      const [from, other] = call === pull ? [b, a] : [a, b]
      await addItems(from.store, id, [1])
      if (call === pull) await handoff(b.store, id)
      FAULTS[fault]?.(proxy, to)
      expect(await codeOf(call(a.store, id))).toBe('REMOTE_UNREACHABLE')
      proxy.resume()
      await expect.poll(() => codeOf(call(a.store, id)), { timeout: 60_000 }).toBe('it succeeded')
      if (call !== pull) await pull(b.store, id)
      expect(await itemsOf(other.store, id)).toEqual([0, 1])
      expect(await other.store.sessions()).toHaveLength(1)
    },
  )
})

describe('a push whose lease was granted', () => {
  test('and whose answer is lost: the next one of this process has the lease', async () => {
    await using machines = await twoMachines('granted')
    const { proxy, a, b } = machines
    await addItems(a.store, 'granted', [1])
    const dropped = proxy.dropAnswer(TAKE)
    expect(await codeOf(push(a.store, 'granted'))).toBe('REMOTE_UNREACHABLE')
    await dropped
    await push(a.store, 'granted')
    await pull(b.store, 'granted')
    expect(await itemsOf(b.store, 'granted')).toEqual([0, 1])
  })

  test('of a session that is new there, and whose answer is lost', async () => {
    await using machines = await twoMachines('known')
    const { proxy, a, b } = machines
    await addItems(a.store, 'new', [1])
    const dropped = proxy.dropAnswer(TAKE)
    expect(await codeOf(push(a.store, 'new'))).toBe('REMOTE_UNREACHABLE')
    await dropped
    await push(a.store, 'new')
    await pull(b.store, 'new')
    expect(await itemsOf(b.store, 'new')).toEqual([1])
  })

  test('and that then cannot read what is new: the next one has the lease, from another store object too', async () => {
    await using machines = await twoMachines('unread')
    const { proxy, a, b } = machines
    await addItems(b.store, 'unread', [1])
    await handoff(b.store, 'unread')
    const dropped = proxy.dropAnswer({ to: READ })
    expect(await codeOf(push(a.store, 'unread'))).toBe('REMOTE_UNREACHABLE')
    await dropped
    await push(await a.open(), 'unread')
    expect(await itemsOf(a.store, 'unread')).toEqual([0, 1])
  })

  test('stays busy for another store of the same process', async () => {
    await using machines = await twoMachines('busy')
    const { a, b } = machines
    await push(a.store, 'busy')
    await addItems(b.store, 'busy', [1])
    expect(await codeOf(push(b.store, 'busy'))).toBe('SESSION_BUSY')
  })
})
