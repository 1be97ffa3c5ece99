// Deeply nested folders neither stop a save nor are damaged by a rewind.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openProject, saved, skippedFor } from './capture-helpers.js'
import { scratch } from '../../support/scratch.js'

const levels = (count: number) => Array.from({ length: count }, () => 'd').join('/')

/** More than our stack allows, but still a valid path for the system. */
const VERY_DEEP = 1500

test('paths below 500 levels are listed as skipped, and survive a save and a rewind', async () => {
  await using s = await scratch({ files: { a: 'one' } })
  const { project } = await openProject(s)
  const { id } = await saved(project)
  const deepest = join(s.project, levels(VERY_DEEP))
  mkdirSync(deepest, { recursive: true })
  writeFileSync(join(deepest, 'file'), 'the only copy')
  s.write({ a: 'two', [`${levels(499)}/b`]: 'made later' })

  const details = await saved(project)
  expect(skippedFor(details, 'unreadable')).toEqual([levels(501)])
  expect(details.fileCount).toBe(2)
  expect(await project.save()).toMatchObject({ created: false })

  expect(await project.rewind(id)).toMatchObject({ applied: true })
  expect(readFileSync(join(s.project, 'a'), 'utf8')).toBe('one')
  expect(existsSync(join(s.project, levels(499), 'b'))).toBe(false)
  expect(readFileSync(join(deepest, 'file'), 'utf8')).toBe('the only copy')
})

test('500 nested folders are removed and restored', async () => {
  await using s = await scratch({ files: { a: 'one' } })
  const { project } = await openProject(s)
  for (let count = 1; count <= 500; count += 1) s.write({ [`${levels(count)}/file`]: `${count}` })
  const { id, skipped } = await saved(project)
  expect(skipped).toBe(0)
  const before = s.snapshotOf()
  rmSync(join(s.project, 'd'), { recursive: true })
  expect(await project.rewind(id)).toMatchObject({ applied: true })
  expect(s.snapshotOf()).toEqual(before)
  expect(await project.undo()).toMatchObject({ applied: true })
  expect([...s.snapshotOf().keys()]).toEqual(['', 'a'])
})
