// The segments of a session give the same session elsewhere, after any operations, however they are cut, compacted, repeated and encrypted.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compactSegments } from '../../../src/model/index.js'
import { type Chain, newChain, pull, pullAll, REMOTE, sessionLog, ship } from './chain.js'
import { sessionPicture } from './pictures.js'
import { operations, RandomSession } from './random-session.js'
import { type HomeKeys, type TwoHomes, twoHomes } from './two-homes.js'

const KEYS: readonly HomeKeys[] = [
  {},
  { a: 'a'.repeat(64) },
  { b: 'b'.repeat(64) },
  { a: 'a'.repeat(64), b: 'b'.repeat(64) },
]
const RUNS = process.env['SAVESTATE_LONG'] === undefined ? 6 : 200

test.each(KEYS)('any operations, with keys %o', { timeout: 1_800_000 }, async (keys) => {
  await fc.assert(
    fc.asyncProperty(operations, fc.infiniteStream(fc.nat(9)), async (steps, cuts) => {
      await using homes = await twoHomes(keys)
      const { a, b } = homes
      const log = sessionLog('task')
      const chain = newChain(log)
      const random = new RandomSession(
        a,
        await a.store.session('task', { agent: 'coder', metadata: { for: 'tests' } }),
      )
      a.ledger.sharing.share(log, { remote: REMOTE })
      for (const step of steps) {
        await random.do(step)
        const cut = cuts.next().value
        if (cut < 5) ship(a.ledger, chain)
        if (cut < 2) pullOrAll(homes, chain)
        if (cut === 0) await b.ledger.vacuum.collect(async () => undefined)
      }
      ship(a.ledger, chain)
      pullOrAll(homes, chain)
      const expected = sessionPicture(a.ledger, 'task')
      expect(sessionPicture(b.ledger, 'task')).toEqual(expected)
      expect(b.ledger.sharing.get(log)).toMatchObject({ position: chain.position, isDirty: false })
      expect(b.ledger.rowChecks.dangling()).toEqual([])
      expect(b.ledger.rowChecks.stateFaults({ quick: false })).toEqual([])

      // The same again, and everything again.
      expect(pull(b.ledger, chain)).toBe('applied')
      expect(pullAll(b.ledger, chain)).toBe('applied')
      expect(sessionPicture(b.ledger, 'task')).toEqual(expected)

      await continueElsewhere(homes, chain)
    }),
    { numRuns: RUNS, seed: 1 },
  )
})

/** The other host may have collected what a segment builds on. */
function pullOrAll({ b }: TwoHomes, chain: Chain): void {
  if (pull(b.ledger, chain) === 'applied') return
  expect(pullAll(b.ledger, chain)).toBe('applied')
}

/** The other host continues after a compaction, and the first one takes that over. */
async function continueElsewhere({ a, b }: TwoHomes, chain: Chain): Promise<void> {
  const contents = chain.segments.map(({ content }) => content)
  const compacted = compactSegments(contents, { kind: 'session' })
  const last = chain.segments.at(-1)
  expect(last).toBeDefined()
  const { nextN, epoch } = chain.position
  chain.segments = [{ n: nextN, prev: null, hash: 'base', content: compacted }]
  chain.position = { nextN: nextN + 1, epoch: epoch + 1, hash: 'base' }
  const before = sessionPicture(a.ledger, 'task')
  expect(pull(b.ledger, chain)).toBe('applied')
  expect(sessionPicture(b.ledger, 'task')).toEqual(before)

  const session = await b.store.session('task')
  await session.append('messages', [{ role: 'user', content: 'from the other host' }])
  await session.tool({ id: 'there', name: 'run', args: {} }, () => 'done')
  expect(ship(b.ledger, chain)).toBe(true)
  expect(chain.segments.at(-1)?.content.isBase).toBe(false)
  expect(pull(a.ledger, chain)).toBe('applied')
  expect(sessionPicture(a.ledger, 'task')).toEqual(sessionPicture(b.ledger, 'task'))
}
