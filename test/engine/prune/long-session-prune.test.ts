// Pruning a long session: the cost is linear in the number of steps, other work runs meanwhile, and a kill leaves an intact session.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { DatabaseSync } from '../../support/own-sqlite.js'
import { expect, test } from 'vitest'
import { inChild } from '../../snapshot/capture/capture-helpers.js'
import { type Scratch, scratch } from '../../support/scratch.js'
import { SLICE_POINTS } from '../../support/failpoints/slice.js'

const SDK = new URL('../../../dist/index.js', import.meta.url).href

/** A store with a session `long` of that many steps. All but the first are copied by SQL, which is faster. */
async function withSteps(s: Scratch, count: number): Promise<void> {
  const store = await s.open()
  const session = await store.session<unknown>('long')
  await session.save({ state: { n: 0 } })
  await store.close()
  const ledger = new DatabaseSync(join(s.home, 'ledger.db'))
  ledger.exec('BEGIN')
  const copy = ledger.prepare(
    `INSERT INTO checkpoints (id, kind, created_at, session, parent, step, status, turn, state)
     SELECT ?, kind, created_at, session, ?, ?, status, turn, state FROM checkpoints WHERE step = 0`,
  )
  let head = String(ledger.prepare('SELECT id FROM checkpoints').get()?.['id'])
  for (let step = 1; step < count; step += 1) {
    const id = idOf(step)
    copy.run(id, head, step)
    head = id
  }
  ledger.prepare('UPDATE sessions SET head = ?, next_step = ?').run(head, count)
  ledger.exec('COMMIT')
  ledger.close()
}

function idOf(n: number): string {
  const digits = n
    .toString(16)
    .replace(/./g, (digit) => 'bcdfghjklmnpqrst'[parseInt(digit, 16)] ?? '')
  return digits.padStart(18, 'z')
}

const lastSteps = (count: number) => Array.from({ length: 20 }, (_, at) => count - 1 - at)

/** The remaining steps have consistent parents, and there are no others. */
async function expectPruned(s: Scratch, count: number): Promise<void> {
  const store = await s.open()
  const session = await store.session<unknown>('long')
  const kept = await session.list()
  expect(kept.map(({ step }) => step)).toEqual([...lastSteps(count), 0])
  const parents = await Promise.all(
    kept.map(async ({ id }) => (await session.show(id)).agent?.parent),
  )
  expect(parents).toEqual([...kept.slice(1).map(({ id }) => id), null])
  expect(await session.stateAt()).toEqual({ n: 0 })
  expect(await store.verify()).toMatchObject({ problems: [] })
  await store.close()
}

test('four times as many steps do not take sixteen times as long', async () => {
  const costs: number[] = []
  for (const count of [3000, 12_000]) {
    await using s = await scratch()
    await withSteps(s, count)
    const store = await s.open()
    const session = await store.session<unknown>('long')
    const before = process.cpuUsage()
    expect((await session.prune()).dropped).toHaveLength(count - 21)
    const { user, system } = process.cpuUsage(before)
    costs.push(user + system)
    await store.close()
  }
  const [few = 0, many = 0] = costs
  expect(many / few).toBeLessThan(9)
})

test('the event loop and other writers run during a prune of a session', async () => {
  await using s = await scratch()
  await withSteps(s, 5000)
  const store = await s.open()
  const session = await store.session<unknown>('long')
  const child = spawn(process.execPath, [
    '--input-type=module',
    '-e',
    `const { openStore } = await import(${JSON.stringify(SDK)})
     const store = await openStore({ home: ${JSON.stringify(s.home)}, durability: 'process' })
     const session = await store.session('other')
     let isOver = false
     process.stdin.on('end', () => { isOver = true }).resume()
     for (let n = 0; !isOver; n += 1) {
       await session.save({ state: { n } })
       process.stdout.write(n + '\\n')
       await new Promise(setImmediate)
     }
     await store.close()`,
  ])
  let saved = 0
  createInterface({ input: child.stdout }).on('line', () => (saved += 1))
  const exit = once(child, 'exit')
  await once(child.stdout, 'data')
  const savedBefore = saved
  let [ticks, isOver] = [0, false]
  const tick = () => {
    ticks += 1
    if (!isOver) setImmediate(tick)
  }
  setImmediate(tick)
  await session.prune()
  isOver = true
  const savedMeanwhile = saved - savedBefore
  child.stdin.end()
  expect(await exit).toEqual([0, null])
  expect([ticks > 10, savedMeanwhile > 0]).toEqual([true, true])
  await store.close()
  await expectPruned(s, 5000)
})

test.each([1, SLICE_POINTS['prune:slice-removed']])(
  'a prune killed after slice %i leaves an intact session',
  async (slice) => {
    await using s = await scratch()
    await withSteps(s, 2000)
    const env = { SAVESTATE_FAILPOINT: `prune:slice-removed@${slice}` }
    const body = `await (await store.session('long')).prune()`
    await expect(inChild(s, body, { env })).rejects.toMatchObject({ signal: 'SIGKILL' })
    const store = await s.open()
    const { session } = await store.resume<unknown>('long')
    const steps = (await session.list()).map(({ step }) => step)
    // The newest are removed first, so the start of the session and its end remain.
    const lastLeft = steps[20] ?? 0
    expect(lastLeft).toBeGreaterThan(0)
    expect(steps).toEqual([
      ...lastSteps(2000),
      ...Array.from({ length: lastLeft + 1 }, (_, at) => lastLeft - at),
    ])
    expect((await session.show('20')).agent?.parent).toBe(idOf(lastLeft))
    expect(await store.verify()).toMatchObject({ problems: [] })
    await session.prune()
    await store.close()
    await expectPruned(s, 2000)
  },
)

test('a checkpoint that is pinned during a prune is kept', async () => {
  await using s = await scratch()
  await withSteps(s, 3000)
  const store = await s.open()
  const session = await store.session<unknown>('long')
  const plan = await session.prune({ dryRun: true })
  const ledger = new DatabaseSync(join(s.home, 'ledger.db'))
  const pin = () => ledger.prepare('UPDATE checkpoints SET pinned = 1 WHERE step = 1').run()
  const pruned = session.prune()
  // The oldest is removed last, after pauses for other work.
  const timer = setImmediate(function wait() {
    const { count } = ledger.prepare('SELECT count(*) AS count FROM checkpoints').get() ?? {}
    if (Number(count) < 3000) pin()
    else setImmediate(wait)
  })
  const { dropped } = await pruned
  clearImmediate(timer)
  expect(dropped).toEqual(plan.dropped.filter((id) => id !== idOf(1)))
  expect((await session.list()).map(({ step }) => step)).toEqual([...lastSteps(3000), 1, 0])
  ledger.close()
  await store.close()
})
