// Files and folders of somebody else in a project of ours, as a container leaves them that runs as root: what we may
// replace comes back, and what we may write in need not be ours.
import { chmodSync, chownSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { inChild } from '../../snapshot/capture/capture-helpers.js'
import { scratch } from '../../support/scratch.js'

const [ROOT, NOBODY] = [0, 65534]
const isRoot = process.getuid?.() === 0

/** What the kernel does, done by hand: for machines where nobody can make a folder of somebody else. */
const REFUSES_MODES = `
  const plain = (await import('node:fs')).default
  const { fchmodSync, fstatSync } = plain
  plain.fchmodSync = (fd, mode) => {
    if (!fstatSync(fd).isDirectory()) return fchmodSync(fd, mode)
    throw Object.assign(new Error('EPERM: operation not permitted, fchmod'), { code: 'EPERM' })
  }
  ;(await import('node:module')).syncBuiltinESMExports()
`

/** By the kernel itself where we can be somebody else; elsewhere we only take ourselves for another. */
const WAYS = [
  { way: 'somebody else by name', before: 'process.geteuid = () => 4711', asOrdinaryUser: false },
  ...(isRoot ? [{ way: 'somebody else', before: '', asOrdinaryUser: true }] : []),
]

describe.each(WAYS)('$way:', ({ before, asOrdinaryUser }) => {
  test('a file whose mode alone is another comes back', async () => {
    await using s = await scratch({ files: { tool: { content: 'one', mode: 0o755 }, b: 'one' } })
    const start = { asOrdinaryUser, inProcess: true }
    await inChild(s, "await project.save({ name: 'first' })", start)
    chmodSync(join(s.project, 'tool'), 0o644)
    if (asOrdinaryUser) chownSync(join(s.project, 'tool'), ROOT, ROOT)
    const answer = await inChild(
      s,
      `
      ${before}
      fs.writeFileSync(scratch.project + '/b', 'two')
      const code = await codeOf(project.rewind('first'))
      return [code, (fs.statSync(scratch.project + '/tool').mode & 0o7777).toString(8)]
      `,
      { ...start, keepsOwners: true },
    )
    expect(answer).toEqual(['none', '755'])
  })

  test('a folder whose mode alone is another stays so, is told, and stops nothing', async () => {
    await using s = await scratch({ files: { 'shared/a': 'one', b: 'one' } })
    const start = { asOrdinaryUser, inProcess: true }
    chmodSync(join(s.project, 'shared'), 0o775)
    await inChild(s, "await project.save({ name: 'first' })", start)
    chmodSync(join(s.project, 'shared'), 0o777)
    if (asOrdinaryUser) chownSync(join(s.project, 'shared'), ROOT, ROOT)
    const answer = await inChild(
      s,
      `
      ${before === '' ? '' : REFUSES_MODES}
      fs.writeFileSync(scratch.project + '/b', 'two')
      fs.writeFileSync(scratch.project + '/shared/a', 'two')
      const { plan } = await project.rewind('first')
      const read = (path) => fs.readFileSync(scratch.project + path, 'utf8')
      return [plan.keep, read('/b'), read('/shared/a'), (fs.statSync(scratch.project + '/shared').mode & 0o7777).toString(8)]
      `,
      { ...start, keepsOwners: true },
    )
    const reason = 'mode is 0777, was 0775; the system does not let you set it'
    expect(answer).toEqual([[{ path: 'shared', reason }], 'one', 'one', '777'])
  })

  test('a folder that only its group may write to is written in', async () => {
    await using s = await scratch({ files: { 'shared/a': 'one', 'shared/b': 'one' } })
    const start = { asOrdinaryUser, inProcess: true }
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
      const code = await codeOf(project.rewind(id))
      return [code, fs.readFileSync(scratch.project + '/shared/a', 'utf8'), fs.readdirSync(scratch.project + '/shared')]
      `,
      { ...start, keepsOwners: true },
    )
    expect(answer).toEqual(['none', 'one', ['a', 'b']])
  })
})
