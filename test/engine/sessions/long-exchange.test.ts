// The export and the import of a long session: memory stays bounded, the output grows with what the session holds, and every
// state comes back.
import { spawnSync } from 'node:child_process'
import { closeSync, openSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import type { ExchangedCheckpoint } from '../../../src/index.js'
import { inChild } from '../../snapshot/capture/capture-helpers.js'
import { exportOf } from '../../support/export-of.js'
import { scratch } from '../../support/scratch.js'
import { SLICE_POINTS } from '../../support/failpoints/slice.js'

const PROGRAM = fileURLToPath(new URL('../../../dist/cli/bin.js', import.meta.url))
/** The states of so many steps are 5 GB if each is whole. */
const STEPS = 8000
const CONTENT = 'x'.repeat(90)

type State = { step: number; messages: unknown[] }

/** Mostly appended to; now and then something else changes. */
function* manySteps(count: number): Generator<unknown> {
  const timestamp = '2026-11-18T00:00:00.000Z'
  yield { id: 'step 0', timestamp, data: { step: 0, messages: [] }, metadata: {} }
  for (let n = 1; n < count; n += 1) {
    const added = { path: ['messages'], append: [{ n, content: CONTENT }] }
    const set = { path: ['step'], set: n }
    yield { id: `step ${n}`, timestamp, changes: n % 500 === 0 ? [set, added] : [added] }
  }
}

function stateOf(step: number): State {
  const messages = Array.from({ length: step }, (_, at) => ({ n: at + 1, content: CONTENT }))
  return { step: step - (step % 500), messages }
}

/** Counts the turns of the event loop until it is stopped. */
function countTurns(): () => number {
  let [turns, isOver] = [0, false]
  const turn = () => {
    turns += 1
    if (!isOver) setImmediate(turn)
  }
  setImmediate(turn)
  return () => {
    isOver = true
    return turns
  }
}

test('a long session is exported and imported unchanged, with little memory', async () => {
  await using s = await scratch()
  const store = await s.open()
  const session = await store.session<State>('long')
  const turnsOfImport = countTurns()
  expect(await session.import(manySteps(STEPS))).toEqual({ imported: STEPS, known: 0 })
  expect(turnsOfImport()).toBeGreaterThan(STEPS / 64)
  await session.close()

  const run = (args: readonly string[], file: number | 'pipe') =>
    spawnSync(process.execPath, ['--max-old-space-size=128', PROGRAM, ...args], {
      cwd: s.project,
      env: { ...process.env, SAVESTATE_HOME: s.home },
      stdio: ['ignore', file, 'pipe'],
      encoding: 'utf8',
    })
  const path = join(s.folder, 'long.json')
  const file = openSync(path, 'w')
  expect(run(['export', '--session', 'long'], file)).toMatchObject({ status: 0, stderr: '' })
  closeSync(file)
  expect(statSync(path).size).toBeLessThan(STEPS * 600)
  expect(run(['import', 'json', path, '--session', 'copy'], 'pipe')).toMatchObject({
    status: 0,
    stdout: 'Imported 8,000 checkpoints into copy.\n',
    stderr: '',
  })

  const reading = { create: false, lease: false } as const
  const copy = await store.session<State>('copy', reading)
  const turnsOfExport = countTurns()
  const exported = await exportOf(await store.session<State>('long', reading))
  expect(turnsOfExport()).toBeGreaterThan(STEPS / 100)
  expect(await exportOf(copy)).toEqual(exported)
  for (const step of [0, 1, 499, 500, 777, STEPS - 1]) {
    const [id] = (await copy.list({ limit: STEPS })).flatMap((it) =>
      it.step === step ? it.id : [],
    )
    expect(await copy.stateAt(id)).toEqual(stateOf(step))
  }
  await store.close()
}, 120_000)

test('an import killed between two slices keeps the first items; the same import adds the rest', async () => {
  await using s = await scratch()
  const items = [...manySteps(600)]
  const point = 'import:slice-added'
  const env = { SAVESTATE_FAILPOINT: `${point}@${SLICE_POINTS[point]}` }
  const body = `await (await store.session('copy')).import(${JSON.stringify(items)})`
  await expect(inChild(s, body, { env })).rejects.toMatchObject({ signal: 'SIGKILL' })
  const store = await s.open()
  const { session, state } = await store.resume<State>('copy')
  const steps = (await session.list()).length
  expect(state).toEqual(stateOf(steps - 1))
  expect([steps > 0, steps < 600]).toEqual([true, true])
  expect(await store.verify()).toMatchObject({ problems: [] })
  expect(await session.import(items)).toEqual({ imported: 600 - steps, known: steps })
  expect(await session.stateAt()).toEqual(stateOf(599))
  expect(await session.stateAt('100')).toEqual(stateOf(500))
})

test('a list with an invalid item adds nothing, a stream adds the items before it', async () => {
  await using s = await scratch()
  const store = await s.open()
  const session = await store.session<State>('copy')
  const misfit = { id: 'x', timestamp: '2026-11-18', changes: [{ path: ['none'], append: [1] }] }
  const items = [...manySteps(5), misfit]
  const refused = {
    code: 'BAD_INPUT',
    message:
      'import: checkpoints.5: A change of ["none"] does not fit the state before it: there is no such key',
  }
  await expect(session.import(items)).rejects.toMatchObject(refused)
  expect(await session.list()).toEqual([])
  await expect(session.import([misfit])).rejects.toMatchObject({
    message: expect.stringContaining('there is no state before it'),
  })
  const faults: readonly (readonly [change: unknown, fault: string])[] = [
    [{}, ' cannot be used'],
    [{ path: ['a'] }, ' cannot be used'],
    [{ path: [], set: 1 }, '.path must not be empty'],
    [{ path: ['a'], remove: false }, ' cannot be used'],
    [{ path: ['a'], append: [], keep: -1 }, '.keep must be 0 or more'],
  ]
  for (const [change, fault] of faults)
    await expect(session.import([{ ...misfit, changes: [change] }])).rejects.toMatchObject({
      message: `import: checkpoints.0.changes.0${fault}`,
    })
  const stream = (function* stream() {
    for (let n = 0; n < 64; n += 1) yield { ...misfit, id: `${n}`, changes: undefined, data: { n } }
    yield misfit
  })()
  await expect(session.import(stream)).rejects.toMatchObject({ code: 'BAD_INPUT' })
  expect((await session.list()).map(({ step }) => step)).toEqual(
    Array.from({ length: 64 }, (_, at) => 63 - at),
  )
})

test('an export continues at its position when checkpoints are removed meanwhile', async () => {
  await using s = await scratch()
  const store = await s.open()
  const session = await store.session<State>('long')
  await session.import(manySteps(250))
  const copy = await store.session<State>('copy')
  const items: ExchangedCheckpoint[] = []
  for await (const item of session.export()) {
    items.push(item)
    if (items.length === 100) {
      await session.prune()
      await store.prune()
    }
  }
  // The next page starts with the first remaining checkpoint, with its whole state: the one before it is gone.
  const whole = items.filter((item) => 'data' in item)
  expect(whole.map(({ id }) => id)).toEqual(['step 0', 'step 230'])
  expect(items.slice(-20).map(({ id }) => id)).toEqual(
    Array.from({ length: 20 }, (_, at) => `step ${230 + at}`),
  )
  await copy.import(items)
  expect(await copy.stateAt()).toEqual(stateOf(249))
  expect(await store.verify()).toMatchObject({ problems: [] })
})
