// Lines of a version that a rewind has merged: neither the version before nor any older one is equal as a whole.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { BlobReader } from '../../../src/snapshot/git/blob-reader.js'
import { SnapshotComparer } from '../../../src/snapshot/compare/compare.js'
import { traceLines } from '../../../src/snapshot/blame/trace-lines.js'
import { type BytePath, parseObjectId } from '../../../src/model/index.js'
import { scratch } from '../../support/scratch.js'

test('merged lines have the origin that they had in older versions, and new ones that of the rewind', async () => {
  await using s = await scratch()
  const store = await s.open()
  const project = await store.project(s.project)
  const save = async (text: string, name = 'a.txt') => {
    writeFileSync(join(s.project, name), text.replaceAll(' ', '\n'))
    const { tree } = await project.show((await project.save()).id)
    return parseObjectId(tree ?? '')
  }
  const trees = [
    await save('base '),
    await save('base one '),
    await save('base one two '),
    await save('base three '),
    await save('base one two three '),
    await save('one two four three marker '),
    await save('one two four three marker last '),
  ].reverse()
  const gitDir = join(s.home, 'objects.git')
  const blobs = new BlobReader(gitDir)
  const sources = { gitDir, blobs, comparer: new SnapshotComparer(gitDir, blobs) }
  // Numbers count from the newest: 1 merged "one two" of 2 into "three", 2 merged "one two" of 4.
  const blamed = await traceLines(
    { trees, restored: [1, 2], path: 'a.txt' as BytePath, from: 1, to: 99 },
    sources,
  )
  blobs.close()
  expect(blamed).toMatchObject({ kind: 'text' })
  const origins = blamed.kind === 'text' ? [...blamed.origins] : []
  // one: 5, two: 4, four and marker: the rewind that wrote them, three: 3, last: 0.
  expect(origins).toEqual([5, 4, 1, 3, 1, 0])
})
