// `project.reversals`: the rewinds that undo and redo would act on.
import { expect, test } from 'vitest'
import { scratch } from '../../support/scratch.js'

test('reversals follow rewinds, undos and redos', async () => {
  await using s = await scratch({ files: { a: '1' } })
  const project = await (await s.open()).project(s.project)
  expect(await project.reversals()).toEqual({ undo: null, redo: null })
  const { id } = await project.save({ name: 'first' })
  expect(await project.reversals()).toEqual({ undo: null, redo: null })
  s.write({ a: '2' })
  await project.save()
  const startMs = Date.now()
  await project.rewind(id)

  const { undo, redo } = await project.reversals()
  expect([undo?.to?.id, undo?.to?.name, redo]).toEqual([id, 'first', null])
  expect(undo?.rewoundAt.getTime()).toBeGreaterThanOrEqual(startMs)
  expect(undo?.to).toEqual((await project.list()).find((each) => each.id === id))

  await project.undo()
  expect(await project.reversals()).toEqual({ undo: null, redo: undo })
  await project.redo()
  expect(await project.reversals()).toEqual({ undo, redo: null })
})

test('a reversal whose target was removed has none', async () => {
  await using s = await scratch({ files: { a: '1' } })
  const project = await (await s.open()).project(s.project)
  const { id } = await project.save()
  s.write({ a: '2' })
  await project.save()
  await project.rewind(id)
  await project.drop([id])
  expect((await project.reversals()).undo).toMatchObject({ to: null })
})
