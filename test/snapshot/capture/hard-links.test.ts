// Hard links: a change through one name shows at the others. A rewind must not mistake its own changes for those of another
// process, and must not change files outside the project through another name.
import { linkSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type Scratch, scratch } from '../../support/scratch.js'

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f']

/** Creates one file with all these names. */
function linkTogether(s: Scratch, content: string): void {
  const [first = '', ...others] = NAMES.map((name) => join(s.project, name))
  for (const path of [first, ...others]) rmSync(path, { force: true })
  writeFileSync(first, content)
  for (const path of others) linkSync(first, path)
}

function modeOf(path: string): number {
  return statSync(path).mode & 0o7777
}

describe('a rewind of more names than it makes rounds', () => {
  test.each([
    { way: 'writes them', files: Object.fromEntries(NAMES.map((name) => [name, `old ${name}`])) },
    { way: 'removes them', files: { other: 'old' } },
  ])('$way', async ({ files }) => {
    await using s = await scratch({ files })
    const project = await (await s.open()).project(s.project)
    const { id } = await project.save({})
    const then = s.snapshotOf()
    linkTogether(s, 'new')
    const now = s.snapshotOf()
    await project.rewind(id)
    expect(s.snapshotOf()).toEqual(then)
    await project.undo()
    expect(s.snapshotOf()).toEqual(now)
    // The save, the safety checkpoint, the rewind, the undo, and no others.
    expect(await project.list()).toHaveLength(4)
  })
})

describe('a mode', () => {
  const files = {
    a: { content: 'same', mode: 0o644 },
    b: { content: 'same', mode: 0o755 },
    c: { content: 'same', mode: 0o600 },
  }

  test.each([{ names: ['b'] }, { names: ['b', 'c'] }])(
    'is restored although $names became hard links since',
    async ({ names }) => {
      await using s = await scratch({ files })
      const project = await (await s.open()).project(s.project)
      const { id } = await project.save({})
      const then = s.snapshotOf()
      for (const name of names) {
        rmSync(join(s.project, name))
        linkSync(join(s.project, 'a'), join(s.project, name))
      }
      const now = s.snapshotOf()
      await project.rewind(id)
      expect(s.snapshotOf()).toEqual(then)
      await project.undo()
      expect(s.snapshotOf()).toEqual(now)
    },
  )

  test('of a hard link that is not captured stays unchanged', async () => {
    await using s = await scratch({ files: { ...files, '.savestateignore': 'ignored/' } })
    const project = await (await s.open()).project(s.project)
    const { id } = await project.save({})
    s.write({ a: { content: 'same', mode: 0o755 } })
    mkdirSync(join(s.project, 'ignored'))
    const others = [join(s.project, 'ignored/a'), join(s.folder, 'outside')]
    for (const path of others) linkSync(join(s.project, 'a'), path)
    await project.rewind(id)
    expect(modeOf(join(s.project, 'a'))).toBe(0o644)
    expect(others.map(modeOf)).toEqual([0o755, 0o755])
  })
})
