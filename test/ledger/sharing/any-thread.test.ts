// Threads of LangGraph: their segments give the same thread elsewhere, and two hosts that write to one thread end with the same rows.
import type { RunnableConfig } from '@langchain/core/runnables'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { SavestateSaver } from '../../../src/langgraph/saver.js'
import { compactSegments, type LogName } from '../../../src/model/index.js'
import { at, put } from '../../langgraph/saver.js'
import { type Chain, newChain, pull, pullAll, receive, REMOTE, encode, ship } from './chain.js'
import { threadPicture } from './pictures.js'
import { type Home, type HomeKeys, twoHomes } from './two-homes.js'

const KEYS: readonly HomeKeys[] = [
  {},
  { a: 'a'.repeat(64) },
  { a: 'a'.repeat(64), b: 'b'.repeat(64) },
]
const RUNS = process.env['SAVESTATE_LONG'] === undefined ? 6 : 200
const THREAD: LogName = { kind: 'thread', id: 'thread' }

const KINDS = ['put', 'put', 'put', 'put-again', 'writes', 'prune', 'delete', 'collect'] as const
const operations = fc.array(
  fc.record({ kind: fc.constantFrom(...KINDS), n: fc.nat(1000), cut: fc.nat(9) }),
  { minLength: 8, maxLength: 30, size: 'max' },
)

type Step = { readonly kind: (typeof KINDS)[number]; readonly n: number }

class RandomThread {
  readonly saver: SavestateSaver
  readonly #home: Home
  #made: RunnableConfig[] = []

  constructor(home: Home) {
    this.#home = home
    this.saver = new SavestateSaver({ store: home.store })
  }

  async do({ kind, n }: Step): Promise<void> {
    const parent = this.#made[n % Math.max(1, this.#made.length)] ?? at(THREAD.id)
    switch (kind) {
      case 'put': {
        const messages = Array.from({ length: n % 60 }, (_, index) => ({
          text: `message ${index}`,
        }))
        const values = { messages, bytes: new Uint8Array([n % 256]), n }
        this.#made.push(await put(this.saver, parent, { values, metadata: { step: n } }))
        return
      }
      case 'put-again': {
        const tuple = await this.saver.getTuple(parent)
        if (tuple === undefined) return
        const checkpoint = {
          ...tuple.checkpoint,
          channel_values: { n },
          channel_versions: { n: 2 },
        }
        await this.saver.put(
          tuple.parentConfig ?? at(THREAD.id),
          checkpoint,
          { source: 'update', step: n, parents: {} },
          { n: 2 },
        )
        return
      }
      case 'writes':
        if (this.#made.length === 0) return
        await this.saver.putWrites(
          parent,
          [
            ['messages', { n }],
            ['__error__', 'failed'],
          ],
          `task ${n % 3}`,
        )
        return
      case 'prune':
        await this.saver.prune([THREAD.id], 'keep_latest')
        this.#made = []
        return
      case 'delete':
        await this.saver.deleteThread(THREAD.id)
        this.#made = []
        return
      case 'collect':
        await this.#home.ledger.vacuum.collect(async () => undefined)
    }
  }
}

function pullOrAll(home: Home, chain: Chain): void {
  if (pull(home.ledger, chain) === 'applied') return
  expect(pullAll(home.ledger, chain)).toBe('applied')
}

test.each(KEYS)('any operations, with keys %o', { timeout: 1_800_000 }, async (keys) => {
  await fc.assert(
    fc.asyncProperty(operations, async (steps) => {
      await using homes = await twoHomes(keys)
      const { a, b } = homes
      const chain = newChain(THREAD)
      const random = new RandomThread(a)
      await random.do({ kind: 'put', n: 1 })
      a.ledger.sharing.share(THREAD, { remote: REMOTE })
      for (const { cut, ...step } of steps) {
        await random.do(step)
        if (cut < 5) ship(a.ledger, chain)
        if (cut < 2) pullOrAll(b, chain)
      }
      ship(a.ledger, chain)
      pullOrAll(b, chain)
      const expected = threadPicture(a.ledger, THREAD.id)
      expect(threadPicture(b.ledger, THREAD.id)).toEqual(expected)
      expect(pullAll(b.ledger, chain)).toBe('applied')
      expect(threadPicture(b.ledger, THREAD.id)).toEqual(expected)

      const contents = chain.segments.map(({ content }) => content)
      const content = compactSegments(contents, { kind: 'thread' })
      const { nextN, epoch } = chain.position
      chain.segments = [{ n: nextN, prev: null, hash: 'base', content }]
      chain.position = { nextN: nextN + 1, epoch: epoch + 1, hash: 'base' }
      expect(pull(b.ledger, chain)).toBe('applied')
      expect(threadPicture(b.ledger, THREAD.id)).toEqual(expected)
      expect(b.ledger.rowChecks.stateFaults({ quick: false })).toEqual([])
    }),
    { numRuns: RUNS, seed: 1 },
  )
})

test('two hosts that write to one thread apply what is new, encode again, and end with the same rows', async () => {
  await using homes = await twoHomes()
  const chain = newChain(THREAD)
  const [a, b] = [new RandomThread(homes.a), new RandomThread(homes.b)]
  // Both begin the thread before they know of each other.
  await a.do({ kind: 'put', n: 3 })
  await b.do({ kind: 'put', n: 4 })
  for (const { ledger } of [homes.a, homes.b]) ledger.sharing.share(THREAD, { remote: REMOTE })
  expect(ship(homes.a.ledger, chain)).toBe(true)
  // The base of the second host finds another position, so it was certainly not committed.
  const lost = homes.b.ledger.sharing.prepare(THREAD, encode)
  expect(lost?.before).not.toEqual(chain.position)
  homes.b.ledger.sharing.retract(THREAD)
  expect(pull(homes.b.ledger, chain)).toBe('applied')
  expect(homes.b.ledger.sharing.get(THREAD)).toMatchObject({
    isDirty: true,
    position: chain.position,
  })
  expect(ship(homes.b.ledger, chain)).toBe(true)
  expect(chain.segments.map(({ content }) => content.isBase)).toEqual([true, false])

  await a.do({ kind: 'put', n: 5 })
  await a.do({ kind: 'writes', n: 0 })
  const stale = homes.a.ledger.sharing.prepare(THREAD, encode)
  expect(stale?.before).not.toEqual(chain.position)
  homes.a.ledger.sharing.retract(THREAD)
  expect(pull(homes.a.ledger, chain)).toBe('applied')
  const fresh = homes.a.ledger.sharing.prepare(THREAD, encode)
  expect(fresh).toBeDefined()
  if (fresh !== undefined) receive(chain, fresh)
  homes.a.ledger.sharing.acknowledge(THREAD, chain.position)
  expect(pull(homes.b.ledger, chain)).toBe('applied')
  const picture = threadPicture(homes.a.ledger, THREAD.id)
  expect(picture).toHaveLength(3)
  expect(threadPicture(homes.b.ledger, THREAD.id)).toEqual(picture)
})
