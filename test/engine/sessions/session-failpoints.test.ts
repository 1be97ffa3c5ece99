// Killed at any failpoint, an operation of a session has happened or not; files and state never part ways
// (docs/internals/sessions.md#what-can-go-wrong). The killing is real.
/* oxlint-disable vitest/no-conditional-expect -- what is certain depends on where it was killed */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { inChild } from '../../snapshot/capture/capture-helpers.js'
import { saveScratch, restoreScratch } from '../../support/saved-scratch.js'
import { type Scratch, scratch } from '../../support/scratch.js'
import { SESSION_POINTS, type SessionOperation } from './session-failpoints.js'

const BODY: Readonly<Record<SessionOperation, string>> = {
  save: `await session.save({ state: { at: 3 }, files: true })`,
  both: `await session.rewind('first', { restore: 'both' })`,
  state: `await session.rewind('first', { restore: 'state' })`,
  tool: `await session.tool({ id: 'c', name: 'c' }, () => 'result')`,
}

type World = { readonly at: number; readonly text: string }
const BEFORE: World = { at: 2, text: 'two' }
const AFTER: Readonly<Record<SessionOperation, World>> = {
  save: { at: 3, text: 'two' },
  both: { at: 1, text: 'one' },
  state: { at: 1, text: 'two' },
  tool: BEFORE,
}

const cases = Object.entries(SESSION_POINTS).flatMap(([operation, points]) =>
  Object.keys(points).flatMap((point) =>
    // The next process may be the agent, or a user who only reads.
    (['resume', 'list'] as const).map((next) => ({ operation, point, next })),
  ),
)

let s: Scratch

beforeAll(async () => {
  s = await scratch({ files: { 'a.txt': 'one' } })
  await begin()
  saveScratch(s, 'begun')
})

afterAll(() => s.dispose())

describe('an operation killed at a failpoint has happened completely or not at all', () => {
  test.each(cases)('$operation at $point, then $next', async ({ operation, point, next }) => {
    restoreScratch(s, 'begun')
    // One with a capture thread, as in a program; the other without, as in a command.
    const inProcess = next === 'list'
    const name = operation as SessionOperation
    const body = `const session = await store.session('task'); ${BODY[name]}`
    const env = { SAVESTATE_FAILPOINT: point }
    await expect(inChild(s, body, { env, inProcess })).rejects.toMatchObject({ signal: 'SIGKILL' })

    const store = await s.open()
    if (next === 'list') await (await store.project(s.project)).list()
    const { session, state, inFlight } = await store.resume<{ at: number }>('task')
    const world = { at: state?.at, text: readFileSync(join(s.project, 'a.txt'), 'utf8') }
    expect([BEFORE, AFTER[name]]).toContainEqual(world)
    const isOver = point.endsWith('after-row') || point === 'restore:done'
    if (isOver) expect(world).toEqual(AFTER[name])
    if (name === 'tool') {
      expect(inFlight.map(({ id }) => id)).toEqual(point === 'tool:confirmed' ? [] : ['c'])
    }
    // The session continues.
    const { step } = await session.save({ state: { at: 9 }, files: true })
    expect((await session.stateAt())?.at).toBe(9)
    expect((await session.list()).map((one) => one.step)).toEqual(
      Array.from({ length: (step ?? 0) + 1 }, (_, n) => (step ?? 0) - n),
    )
    // Verify runs git too.
    const { problems } = await store.verify()
    expect(problems.filter(({ severity }) => severity === 'damage')).toEqual([])
    await store.close()
  })
})

async function begin(): Promise<void> {
  const store = await s.open()
  const session = await store.session('task', { project: await store.project(s.project) })
  await session.save({ name: 'first', state: { at: 1 }, files: true })
  s.write({ 'a.txt': 'two' })
  await session.save({ state: { at: 2 }, files: false })
  await store.close()
}
