// Setgid belongs to the members of a group. From anybody else the kernel takes it away when a mode is set, and says
// nothing: a rewind brings back what it can, tells the rest, and does not give up.
import { chmodSync, chownSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { inChild } from '../../snapshot/capture/capture-helpers.js'
import { type Scratch, scratch } from '../../support/scratch.js'

const [NOBODY, A_GROUP] = [65534, 50]

/** What the kernel does, done by hand: for machines where nobody can make a folder of a foreign group. */
const WITHOUT_SETGID = `
  const plain = (await import('node:fs')).default
  const { fchmodSync, chmodSync } = plain
  plain.fchmodSync = (fd, mode) => fchmodSync(fd, mode & ~0o2000)
  plain.chmodSync = (path, mode) => chmodSync(path, mode & ~0o2000)
  ;(await import('node:module')).syncBuiltinESMExports()
`

/** By the kernel itself where we can be somebody else. */
const WAYS = [
  { way: 'answers given to it', before: WITHOUT_SETGID, asOrdinaryUser: false },
  ...(process.getuid?.() === 0 ? [{ way: 'kernel', before: '', asOrdinaryUser: true }] : []),
]

/** The folder is of a group that who rewinds is not in, and its bit is handed down. */
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
    const start = { asOrdinaryUser, inProcess: true }
    // The child gives everything to the ordinary user, group and all, so the first comes only to be given away.
    await inChild(s, '', start)
    own(s, { asOrdinaryUser })
    return inChild(s, body, { ...start, keepsOwners: true })
  }

  test('a folder keeps the bit it inherits, a file that cannot have it is told, and the rest comes back', async () => {
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

  test('a folder whose mode has to be changed loses the bit, which is told', async () => {
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
