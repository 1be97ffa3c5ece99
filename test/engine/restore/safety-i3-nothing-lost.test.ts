// I3: a rewind loses no change that happens between its plan and its first write.
import { readFileSync, renameSync, statSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { isSaved, openProject, rewindWhile } from '../../support/safety-project.js'
import { hashTree, type Scratch, scratch } from '../../support/scratch.js'

const IN_THE_WAY = 'a folder with a file appears where a file is about to be restored'

describe('I3: a change between plan and apply is not lost', () => {
  type Written = { readonly path: string; readonly content: string }
  const CHANGES: Readonly<Record<string, (s: Scratch) => Written>> = {
    'a file that is about to be overwritten is edited': (s) => {
      s.write({ 'changed.txt': 'edited meanwhile' })
      return { path: 'changed.txt', content: 'edited meanwhile' }
    },
    'it is edited to the same size, with its old modification time': (s) => {
      const path = join(s.project, 'changed.txt')
      const { atime, mtime } = statSync(path)
      s.write({ 'changed.txt': 'TWO' })
      utimesSync(path, atime, mtime)
      return { path: 'changed.txt', content: 'TWO' }
    },
    'it is replaced by another file': (s) => {
      s.write({ 'changed.txt.new': 'replaced' })
      renameSync(join(s.project, 'changed.txt.new'), join(s.project, 'changed.txt'))
      return { path: 'changed.txt', content: 'replaced' }
    },
    'a file that is about to be removed is edited': (s) => {
      s.write({ 'made.txt': 'edited meanwhile' })
      return { path: 'made.txt', content: 'edited meanwhile' }
    },
    'a file appears where a deleted one is about to be restored': (s) => {
      s.write({ 'deleted.txt': 'written meanwhile' })
      return { path: 'deleted.txt', content: 'written meanwhile' }
    },
    'a file appears in a folder that is about to be removed': (s) => {
      s.write({ 'later/meanwhile.txt': 'written meanwhile' })
      return { path: 'later/meanwhile.txt', content: 'written meanwhile' }
    },
    [IN_THE_WAY]: (s) => {
      s.write({ 'deleted.txt/inside': 'written meanwhile' })
      return { path: 'deleted.txt/inside', content: 'written meanwhile' }
    },
    'a new file appears elsewhere': (s) => {
      s.write({ 'brand-new.txt': 'written meanwhile' })
      return { path: 'brand-new.txt', content: 'written meanwhile' }
    },
  }

  test.each(Object.keys(CHANGES))('%s', async (name) => {
    await using s = await scratch({ files: { 'changed.txt': 'one', 'deleted.txt': 'one' } })
    const project = await openProject(s)
    const { id } = await project.save({})
    s.write({ 'changed.txt': 'two', 'deleted.txt': null, 'made.txt': 'm', 'later/made.txt': 'm' })
    let made: Written = { path: '', content: '' }
    const rewound = await rewindWhile(project, id, () => {
      made = CHANGES[name]?.(s) ?? made
    })
    const expected =
      name === IN_THE_WAY ? { applied: false, code: 'REWIND_DISTURBED' } : { applied: true }
    expect(rewound).toEqual(expected)
    const seen = s.snapshotOf().get(made.path)
    const exists =
      seen?.type === 'file' && readFileSync(join(s.project, made.path), 'utf8') === made.content
    expect(exists || (await isSaved(s, project, made))).toBe(true)
    // The content from before the rewind is in a checkpoint in any case.
    expect(await isSaved(s, project, { path: 'changed.txt', content: 'two' })).toBe(true)
  })

  test('a declined rewind changes nothing and makes no checkpoint', async () => {
    await using s = await scratch({ files: { 'x.txt': 'one' } })
    const project = await openProject(s)
    const { id } = await project.save({})
    s.write({ 'x.txt': 'two', 'made.txt': 'made later' })
    const before = hashTree(s.project)
    const declined = await project.rewind(id, { confirm: async () => false })
    expect(declined).toEqual({
      to: expect.objectContaining({ id, number: 1, kind: 'save', moment: null }),
      notRestored: [],
      outside: [],
      target: id,
      plan: {
        write: [{ path: 'x.txt', reason: 'content differs', type: 'file', change: 'modified' }],
        remove: [
          { path: 'made.txt', reason: 'file created later', type: 'file', change: 'removed' },
        ],
        keep: [],
        conflict: [],
      },
      applied: false,
      declined: true,
      safety: null,
      checkpoint: null,
    })
    expect(hashTree(s.project)).toEqual(before)
    expect(await project.list()).toHaveLength(1)
  })

  test('a dry run changes nothing and returns the plan that a rewind then applies', async () => {
    await using s = await scratch({
      files: { 'x.txt': 'one', 'd/y': { content: 'y', mode: 0o600 } },
    })
    const project = await openProject(s)
    const { id } = await project.save({})
    s.write({ 'x.txt': 'two', d: null, 'made/z': 'made later', 'made/z.log': 'ignored' })
    const before = hashTree(s.project)
    const dry = await project.rewind(id, { dryRun: true })
    expect(hashTree(s.project)).toEqual(before)
    expect(await project.list()).toHaveLength(1)
    const done = await project.rewind(id)
    expect(done.plan).toEqual(dry.plan)
    expect(done).toMatchObject({ applied: true, declined: false })
  })
})
