// Files and folders of somebody else in a project of ours, as a container leaves them that runs as root: what we may
// replace comes back, and what we may write in need not be ours.
import { chmodSync, chownSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { inChild } from './capture-helpers.js'
import { scratch } from './scratch.js'

const [ROOT, NOBODY] = [0, 65534]
const isRoot = process.getuid?.() === 0

/** By the kernel itself where we can be somebody else; elsewhere we only take ourselves for another. */
const WAYS = [
  { way: 'somebody else by name', before: 'process.geteuid = () => 4711', asOrdinaryUser: false },
  ...(isRoot ? [{ way: 'somebody else', before: '', asOrdinaryUser: true }] : []),
]

describe.each(WAYS)('$way:', ({ before, asOrdinaryUser }) => {
  test('a file whose mode alone is another comes back', async () => {
    await using s = await scratch({ files: { tool: { content: 'one', mode: 0o755 }, b: 'one' } })
    const start = { asOrdinaryUser, mayBlock: true }
    await inChild(s, "await project.save({ name: 'first' })", start)
    chmodSync(join(s.project, 'tool'), 0o644)
    if (asOrdinaryUser) chownSync(join(s.project, 'tool'), ROOT, ROOT)
    const answer = await inChild(
      s,
      `
      ${before}
      fs.writeFileSync(scratch.project + '/b', 'two')
      const code = await codeOf(project.rewind({ to: 'first' }))
      return [code, (fs.statSync(scratch.project + '/tool').mode & 0o7777).toString(8)]
      `,
      { ...start, keepsOwners: true },
    )
    expect(answer).toEqual(['none', '755'])
  })

  test('a folder that only its group may write to is written in', async () => {
    await using s = await scratch({ files: { 'shared/a': 'one', 'shared/b': 'one' } })
    const start = { asOrdinaryUser, mayBlock: true }
    chmodSync(join(s.project, 'shared'), asOrdinaryUser ? 0o570 : 0o770)
    await inChild(s, '', start)
    if (asOrdinaryUser) chownSync(join(s.project, 'shared'), ROOT, NOBODY)
    const answer = await inChild(
      s,
      `
      ${before}
      const { id } = await project.save()
      fs.writeFileSync(scratch.project + '/shared/a', 'two')
      fs.writeFileSync(scratch.project + '/shared/new', 'two')
      const code = await codeOf(project.rewind({ to: id }))
      return [code, fs.readFileSync(scratch.project + '/shared/a', 'utf8'), fs.readdirSync(scratch.project + '/shared')]
      `,
      { ...start, keepsOwners: true },
    )
    expect(answer).toEqual(['none', 'one', ['a', 'b']])
  })
})
