// docs/guide/store.md#states and #pages: a prune releases the disk space of removed sessions, and keeps content that others share.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import type { Session } from '../../../src/index.js'
import { DAY_MS, HandClock, setStore } from '../../engine/prune/prune-helpers.js'
import { type Scratch, scratch } from '../../support/scratch.js'
import { at, toCheckpoint, decodeMetadata, SavestateSaver } from '../../langgraph/saver.js'

type State = { messages: { role: string; content: string }[]; step: number }

const message = (n: number, of: string) => ({
  role: 'user',
  content: `${of} ${n} ${'x'.repeat(400)}`,
})

/** Like an agent: each step adds one message, which all later states share. */
async function talk(
  session: Session<State>,
  { from, steps, of }: { readonly from: State; readonly steps: number; readonly of: string },
): Promise<State> {
  let state = from
  for (let n = 0; n < steps; n += 1) {
    state = { messages: [...state.messages, message(n, of)], step: state.step + 1 }
    await session.save({ state })
  }
  return state
}

const ledgerBytes = (s: Scratch) => statSync(join(s.home, 'ledger.db')).size
const walBytes = (s: Scratch) =>
  statSync(join(s.home, 'ledger.db-wal'), { throwIfNoEntry: false })?.size ?? 0

test.each(['deleted', 'aged out'])(
  'a session of 300 steps that is %s leaves on disk only what a fork shares',
  async (how) => {
    await using s = await scratch()
    setStore(s, { retention: 'hermes' })
    const clock = new HandClock()
    const store = await s.open({ clock })
    const long = await store.session<State>('long')
    const empty: State = { messages: [], step: 0 }
    const early = await talk(long, { from: empty, steps: 10, of: 'long' })
    const { id } = (await long.list({ limit: 1 }))[0] ?? { id: '' }
    await talk(long, { from: early, steps: 290, of: 'long' })
    await long.complete()
    await long.close()
    clock.pass(2 * DAY_MS)
    const fork = await store.fork<State>(id, { session: 'fork' })
    const forked = await talk(fork, { from: early, steps: 5, of: 'fork' })
    const other = await store.session<State>('other')
    const others = await talk(other, { from: empty, steps: 5, of: 'long' })
    if (how === 'deleted') await store.deleteSession('long')
    const result = await store.prune()
    expect(result.deletedSessions).toBe(how === 'deleted' ? 0 : 1)
    // One page may remain for the time of the prune.
    expect(walBytes(s)).toBeLessThan(10_000)
    // 300 messages took 130 kB and more.
    expect(ledgerBytes(s)).toBeLessThan(260_000)
    expect(result.bytesReclaimed).toBeGreaterThan(130_000)
    for (const [session, last] of [
      [fork, forked],
      [other, others],
    ] as const) {
      const points = await session.list({ limit: 100 })
      expect(await session.stateAt()).toEqual(last)
      for (const point of points) {
        const { messages, step } = (await session.stateAt(point.id)) ?? empty
        expect({ messages, step }).toEqual({ messages: last.messages.slice(0, step), step })
      }
      // The session is open, and discards its view of what is stored.
      const next = await talk(session, { from: last, steps: 3, of: 'later' })
      expect(await session.stateAt()).toEqual(next)
    }
    expect((await store.verify()).problems).toEqual([])
  },
)

test('a live session in another process continues after the collection', async () => {
  await using s = await scratch()
  await using agent = startAgent(s)
  const empty: State = { messages: [], step: 0 }
  await agent.tell('save 20')
  const store = await s.open()
  const gone = await store.session<State>('gone')
  // The same contents, so that they share elements.
  await talk(gone, { from: empty, steps: 40, of: 'agent' })
  await gone.close()
  for (let round = 0; round < 4; round += 1) {
    if (round === 0) await store.deleteSession('gone')
    await agent.tell('drop')
    await store.prune()
    expect(await agent.tell('save 3')).toBe('as it should be')
  }
  expect((await store.verify()).problems).toEqual([])
})

test('states of graph threads are kept, and removed with their threads', async () => {
  await using s = await scratch()
  const store = await s.open()
  const saver = new SavestateSaver({ store })
  const values = { messages: Array.from({ length: 50 }, (_, n) => message(n, 'graph')), n: 1 }
  const config = await saver.put(at('thread'), toCheckpoint(values), decodeMetadata(), {
    messages: 1,
    n: 1,
  })
  const session = await store.session<State>('shares')
  await talk(session, { from: { messages: [], step: 0 }, steps: 50, of: 'graph' })
  await session.close()
  await store.deleteSession('shares')
  await store.prune()
  const found = await saver.getTuple(config)
  expect(found?.checkpoint.channel_values).toEqual(values)
  await saver.deleteThread('thread')
  const before = ledgerBytes(s)
  await store.prune()
  expect(ledgerBytes(s)).toBeLessThan(before)
  expect(await saver.getTuple(config)).toBeUndefined()
})

type Agent = AsyncDisposable & { tell(what: string): Promise<string> }

/** Saves a growing state, drops old checkpoints, and returns whether all remaining ones read back. */
function startAgent(s: Scratch): Agent {
  const dist = fileURLToPath(new URL('../../../dist/index.js', import.meta.url))
  const script = `
    import { createInterface } from 'node:readline'
    import { isDeepStrictEqual } from 'node:util'
    const { openStore } = await import(${JSON.stringify(dist)})
    const store = await openStore({ home: ${JSON.stringify(s.home)}, durability: 'process' })
    const session = await store.session('agent')
    const state = { messages: [], step: 0 }
    const copies = new Map()
    async function save(count) {
      for (let n = 0; n < count; n += 1) {
        const content = 'agent ' + state.step + ' ' + 'x'.repeat(400)
        state.messages.push({ role: 'user', content })
        state.step += 1
        const { id } = await session.save({ state })
        copies.set(id, structuredClone(state))
      }
      for (const { id } of await session.list({ limit: 1000 }))
        if (!isDeepStrictEqual(await session.stateAt(id), copies.get(id))) return 'wrong: ' + id
      return 'as it should be'
    }
    for await (const line of createInterface({ input: process.stdin })) {
      const [what, count] = line.split(' ')
      if (what === 'drop') {
        // Changes most elements in place, so that the old ones are unreferenced.
        state.messages.splice(1, 12)
        await session.prune()
      }
      console.log(what === 'save' ? await save(Number(count)) : 'dropped')
    }
    await store.close()`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return {
    async tell(what) {
      child.stdin.write(`${what}\n`)
      return String((await lines.next()).value)
    },
    async [Symbol.asyncDispose]() {
      child.stdin.end()
      await once(child, 'close')
    },
  }
}
