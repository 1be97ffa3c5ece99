// Files and folders of another user in the project, such as a container running as root leaves behind. A rewind restores
// the files that it may replace, and writes into folders that it does not own.
import { chmodSync, chownSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { inChild } from '../../snapshot/capture/capture-helpers.js'
import { type Scratch, scratch } from '../../support/scratch.js'

const [ROOT, NOBODY, A_GROUP] = [0, 65534, 50]
const isRoot = process.getuid?.() === 0

/** Simulates the kernel's checks, for machines on which the test cannot create a folder of another user. */
const REFUSES_MODES = `
  const plain = (await import('node:fs')).default
  const { fchmodSync, fstatSync } = plain
  plain.fchmodSync = (fd, mode) => {
    if (!fstatSync(fd).isDirectory()) return fchmodSync(fd, mode)
    throw Object.assign(new Error('EPERM: operation not permitted, fchmod'), { code: 'EPERM' })
  }
  ;(await import('node:module')).syncBuiltinESMExports()
`

/** As root the kernel does the checks; otherwise the simulation does. */
const WAYS = [
  {
    way: 'another user (simulated)',
    before: 'process.geteuid = () => 4711',
    asOrdinaryUser: false,
  },
  ...(isRoot ? [{ way: 'another user', before: '', asOrdinaryUser: true }] : []),
]

describe.each(WAYS)('$way:', ({ before, asOrdinaryUser }) => {
  test('a file of which only the mode changed is restored', async () => {
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

  test('a folder of which only the mode changed stays, is reported, and does not stop the rewind', async () => {
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

  test('a rewind writes into a folder that is writable only for its group', async () => {
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

// Only members of a group may set setgid. For other users the kernel silently clears the bit when a mode is set: a rewind
// restores what it can, reports the rest, and continues.

/** Simulates the kernel, for machines on which the test cannot create a folder of a foreign group. */
const WITHOUT_SETGID = `
  const plain = (await import('node:fs')).default
  const { fchmodSync, chmodSync } = plain
  plain.fchmodSync = (fd, mode) => fchmodSync(fd, mode & ~0o2000)
  plain.chmodSync = (path, mode) => chmodSync(path, mode & ~0o2000)
  ;(await import('node:module')).syncBuiltinESMExports()
`

/** As root the kernel itself clears the bit; otherwise the simulation does. */
const SETGID_WAYS = [
  { way: 'setgid (simulated kernel)', before: WITHOUT_SETGID, asOrdinaryUser: false },
  ...(isRoot ? [{ way: 'setgid', before: '', asOrdinaryUser: true }] : []),
]

/** The folder belongs to a group that the rewinding user is not in, and new entries inherit its bit. */
function own(s: Scratch, { asOrdinaryUser }: { readonly asOrdinaryUser: boolean }): void {
  for (const [path, mode] of [
    ['.', 0o2777],
    ['sub', 0o2755],
    ['tool', 0o2755],
  ] as const) {
    const at = join(s.project, path)
    if (asOrdinaryUser) chownSync(at, NOBODY, A_GROUP)
    chmodSync(at, mode)
  }
}

const MODES = `
  const modeOf = (name) => (fs.statSync(scratch.project + '/' + name).mode & 0o7777).toString(8)
`

describe.each(SETGID_WAYS)('$way:', ({ before, asOrdinaryUser }) => {
  async function rewound(s: Scratch, body: string): Promise<unknown> {
    const start = { asOrdinaryUser, inProcess: true }
    // The child process gives everything to the ordinary user, including the group, so the first run only does that.
    await inChild(s, '', start)
    own(s, { asOrdinaryUser })
    return inChild(s, body, { ...start, keepsOwners: true })
  }

  test('a folder keeps its inherited bit, a file that cannot have it is reported, and the rest is restored', async () => {
    await using s = await scratch({ files: { 'sub/a': 'one', tool: 'one', b: 'one' } })
    const answer = await rewound(
      s,
      `
      process.umask(0o022)
      ${before}
      ${MODES}
      const { id } = await project.save({})
      fs.rmSync(scratch.project + '/sub', { recursive: true })
      fs.rmSync(scratch.project + '/tool')
      fs.writeFileSync(scratch.project + '/b', 'two')
      const notices = []
      const { applied, plan } = await project.rewind(id, { onWarning: (text) => notices.push(text) })
      const again = await project.rewind(id)
      const text = (name) => fs.readFileSync(scratch.project + '/' + name, 'utf8')
      return {
        applied, keep: plan.keep, notices, again: again.plan.keep,
        modes: ['sub', 'tool'].map(modeOf), texts: ['sub/a', 'tool', 'b'].map(text),
      }
      `,
    )
    const reason = 'mode is 0755, was 2755; the system does not let you set it'
    expect(answer).toEqual({
      applied: true,
      keep: [{ path: 'tool', reason }],
      notices: [`tool: ${reason}.`],
      again: [{ path: 'tool', reason }],
      modes: ['2755', '755'],
      texts: ['one', 'one', 'one'],
    })
  })

  test('a folder whose mode must be changed loses the bit, and the rewind reports it', async () => {
    await using s = await scratch({ files: { 'sub/a': 'one', tool: 'one' } })
    const answer = await rewound(
      s,
      `
      process.umask(0o077)
      ${before}
      ${MODES}
      const { id } = await project.save({})
      fs.rmSync(scratch.project + '/sub', { recursive: true })
      const { applied, plan } = await project.rewind(id)
      return { applied, kept: plan.keep.map((item) => item.path), mode: modeOf('sub') }
      `,
    )
    expect(answer).toEqual({ applied: true, kept: ['sub'], mode: '755' })
  })
})
