// `onPlan`: the caller sees each plan under the lock, and can stop it.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { SavestateError, type PlanDetails } from '../../src/index.js'
import { scratch } from '../support/scratch.js'

test('a dry run and the rewind itself report the same plan', async () => {
  await using s = await scratch({ files: { 'a.txt': 'one\n' } })
  const project = await (await s.open()).project(s.project)
  const { id } = await project.save()
  s.write({ 'a.txt': 'two\n' })
  const seen: PlanDetails[] = []
  const onPlan = (_plan: unknown, details: PlanDetails) => void seen.push(details)
  const { applied } = await project.rewind(id, { dryRun: true, onPlan })
  expect([applied, (await project.rewind(id, { onPlan })).applied]).toEqual([false, true])
  const [planned, done] = seen
  expect(planned).toMatchObject({ target: id, to: { id } })
  expect(done).toEqual({ ...planned, to: expect.objectContaining({ id }) })
  seen.length = 0
  await project.undo({ dryRun: true, onPlan })
  expect(seen).toMatchObject([{ to: { id } }])
})

test('an error of the caller stops the rewind before anything has changed', async () => {
  await using s = await scratch({ files: { 'a.txt': 'one\n' } })
  const store = await s.open()
  const project = await store.project(s.project)
  const { id } = await project.save()
  s.write({ 'a.txt': 'two\n' })
  const stale = new SavestateError('PLAN_STALE', 'Nothing was changed')
  const onPlan = () => {
    throw stale
  }
  await expect(project.rewind(id, { onPlan })).rejects.toBe(stale)
  expect(readFileSync(join(s.project, 'a.txt'), 'utf8')).toBe('two\n')
  expect(await project.count()).toBe(1)
  expect((await store.status()).failures).toEqual([])
})

test('only calls that restore files take it', async () => {
  await using s = await scratch()
  const project = await (await s.open()).project(s.project)
  const given = { onPlan: () => undefined } as never
  await expect(project.save(given)).rejects.toMatchObject({ code: 'BAD_INPUT' })
  await expect(project.rewind('x', { onPlan: 1 as never })).rejects.toMatchObject({
    code: 'BAD_INPUT',
  })
})
