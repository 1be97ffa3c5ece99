// Only members of a group may set setgid. For other users the kernel silently clears the bit when a mode is set: a rewind
// restores what it can, reports the rest, and continues.
import { chmodSync, chownSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { inChild } from '../../snapshot/capture/capture-helpers.js'
import { type Scratch, scratch } from '../../support/scratch.js'

const [NOBODY, A_GROUP] = [65534, 50]

/** Simulates the kernel, for machines on which the test cannot create a folder of a foreign group. */
const WITHOUT_SETGID = `
  const plain = (await import('node:fs')).default
  const { fchmodSync, chmodSync } = plain
  plain.fchmodSync = (fd, mode) => fchmodSync(fd, mode & ~0o2000)
  plain.chmodSync = (path, mode) => chmodSync(path, mode & ~0o2000)
  ;(await import('node:module')).syncBuiltinESMExports()
`

/** As root the kernel itself clears the bit; otherwise the simulation does. */
const WAYS = [
  { way: 'answers given to it', before: WITHOUT_SETGID, asOrdinaryUser: false },
  ...(process.getuid?.() === 0 ? [{ way: 'kernel', before: '', asOrdinaryUser: true }] : []),
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

describe.each(WAYS)('$way:', ({ before, asOrdinaryUser }) => {
  async function rewound(s: Scratch, body: string): Promise<unknown> {
    const start = { asOrdinaryUser, mayBlock: true }
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
      const { applied, plan } = await project.rewind({ to: id }, { onNotice: (text) => notices.push(text) })
      const again = await project.rewind({ to: id })
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
      const { applied, plan } = await project.rewind({ to: id })
      return { applied, kept: plan.keep.map((item) => item.path), mode: modeOf('sub') }
      `,
    )
    expect(answer).toEqual({ applied: true, kept: ['sub'], mode: '755' })
  })
})
