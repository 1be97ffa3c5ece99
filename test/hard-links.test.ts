// One file under several names: what is done to one of them shows at the others. A rewind is not to take its own
// doings for somebody else's, and not to change what the other names show.
import { linkSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type Scratch, scratch } from './scratch.js'

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f']

/** All of them names of one new file. */
function linkTogether(s: Scratch, content: string): void {
  const [first = '', ...others] = NAMES.map((name) => join(s.project, name))
  for (const path of [first, ...others]) rmSync(path, { force: true })
  writeFileSync(first, content)
  for (const path of others) linkSync(first, path)
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
    await project.rewind({ to: id })
    expect(s.snapshotOf()).toEqual(then)
    await project.undo()
    expect(s.snapshotOf()).toEqual(now)
    // The save, what was there before, the rewind, the undo: nothing that came meanwhile.
    expect((await project.list()).checkpoints).toHaveLength(4)
  })
})
