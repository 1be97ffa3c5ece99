// A pending confirmation does not lock the project: other processes can save, and only a plan that was shown is applied.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { PlanDetails, PlanView } from '../../../src/index.js'
import { type Scratch, scratch } from '../../support/scratch.js'

/** Saves two checkpoints; the folder has the second one. */
async function history(s: Scratch) {
  const store = await s.open()
  const project = await store.project(s.project)
  const { id } = await project.save()
  s.write({ 'a.txt': 'two' })
  await project.save()
  return { store, project, id }
}

const content = (s: Scratch, name: string) => readFileSync(join(s.project, name), 'utf8')
const paths = ({ write, remove }: PlanView) => ({
  write: write.map(({ path }) => path),
  remove: remove.map(({ path }) => path),
})

test.each(['rewind', 'undo', 'redo', 'session'] as const)(
  'while %s asks, another store can save; the changed plan is shown before it is applied',
  async (kind) => {
    await using s = await scratch({ files: { 'a.txt': 'one' } })
    const { store, project, id } = await history(s)
    const session = await store.session('task', { project })
    const first = await session.save({ state: { n: 1 }, files: true })
    if (kind === 'undo' || kind === 'redo') await project.rewind(id)
    if (kind === 'redo') await project.undo()
    if (kind === 'session') s.write({ 'a.txt': 'three' })
    const other = await (await s.open()).project(s.project)
    const asked: PlanView[] = []
    const saved: string[] = []
    const confirm = async (plan: PlanView, { mark }: PlanDetails) => {
      asked.push(plan)
      expect(mark).toMatch(/^[0-9a-f]{64}$/)
      // Another process changes the files of the plan and does not wait for the answer.
      if (asked.length === 1) s.write({ 'a.txt': 'hours of work', 'b.txt': 'new' })
      saved.push((await other.save({ reason: 'meanwhile' })).id)
      return true
    }
    const hooks = { confirm }
    const done =
      kind === 'session'
        ? await session.rewind(first.id, { restore: 'both', ...hooks })
        : kind === 'rewind'
          ? await project.rewind(id, hooks)
          : await project[kind](hooks)
    expect(done.applied).toBe(true)
    const removed = kind === 'rewind' || kind === 'session' ? ['b.txt'] : []
    expect(asked.map(paths)).toEqual([
      { write: ['a.txt'], remove: [] },
      { write: ['a.txt'], remove: removed },
    ])
    expect(content(s, 'a.txt')).toBe(kind === 'rewind' || kind === 'redo' ? 'one' : 'two')
    const checkpoints = await project.list()
    expect(checkpoints.map((row) => row.id)).toEqual(expect.arrayContaining(saved))
    await project.rewind(saved[0] ?? '')
    expect(content(s, 'a.txt')).toBe('hours of work')
  },
)

test('a change outside the plan does not cause a second question', async () => {
  await using s = await scratch({ files: { 'a.txt': 'one', 'b.txt': 'one' } })
  const { project, id } = await history(s)
  let count = 0
  const confirm = async () => {
    count += 1
    s.write({ 'b.txt': `work ${count}` })
    return true
  }
  expect(await project.rewind(id, { paths: ['a.txt'], confirm })).toMatchObject({
    applied: true,
  })
  expect([count, content(s, 'a.txt'), content(s, 'b.txt')]).toEqual([1, 'one', 'work 1'])
})

test('a plan with nothing left to do needs no second confirmation', async () => {
  await using s = await scratch({ files: { 'a.txt': 'one' } })
  const { project, id } = await history(s)
  let count = 0
  const confirm = async () => {
    count += 1
    s.write({ 'a.txt': 'one' })
    return true
  }
  expect(await project.rewind(id, { confirm })).toMatchObject({
    applied: false,
    declined: false,
  })
  expect(count).toBe(1)
})

test('an undo asks again if another rewind was made meanwhile, because it would undo that one', async () => {
  await using s = await scratch({ files: { 'a.txt': 'one' } })
  const { project, id } = await history(s)
  await project.rewind(id)
  const other = await (await s.open()).project(s.project)
  const asked: (string | undefined)[] = []
  const confirm = async (_plan: PlanView, { to }: PlanDetails) => {
    asked.push(to?.id)
    if (asked.length > 1) return false
    s.write({ 'a.txt': 'three' })
    const { id: three } = await other.save()
    s.write({ 'a.txt': 'four' })
    await other.rewind(three)
    return true
  }
  expect(await project.undo({ confirm })).toMatchObject({ declined: true })
  expect(asked.length).toBe(2)
  expect(asked[1]).not.toBe(asked[0])
  expect(content(s, 'a.txt')).toBe('three')
})
