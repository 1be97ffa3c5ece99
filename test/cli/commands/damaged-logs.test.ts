// Logs of a remote that a teammate has damaged: they are reported, and the other sessions of the remote are as usable as before.
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { describe, expect, test } from 'vitest'
import { replaceFile } from '../../support/git-server/replace-file.js'
import { runGit } from '../../support/scratch.js'
import { gitPlace, machine, postgresPlace } from '../../support/sharing/two-machines.js'

/** Damages one session: its card becomes too long, its segments get another content, or nothing of it remains. */
type Vandal = Readonly<Record<'breakHead' | 'breakSegment' | 'remove', (id: string) => unknown>>

async function inDatabase(url: string, work: (vandal: Vandal) => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const log = `(SELECT key FROM savestate.logs WHERE id = $1)`
  const card = `convert_to(repeat('x', 1 << 20), 'UTF8')`
  const run = (sql: string) => (id: string) => client.query(sql, [id])
  const vandal: Vandal = {
    breakHead: run(`UPDATE savestate.live SET card = ${card} WHERE log = ${log}`),
    breakSegment: run(`UPDATE savestate.segments SET body = 'x' WHERE log = ${log}`),
    remove: run('DELETE FROM savestate.logs WHERE id = $1'),
  }
  try {
    await work(vandal)
  } finally {
    await client.end()
  }
}

async function inRepository(url: string, work: (vandal: Vandal) => Promise<void>): Promise<void> {
  const cwd = fileURLToPath(url)
  const ref = (id: string) => `refs/savestate/session/${id}/log`
  const head = (id: string) =>
    JSON.parse(runGit(['cat-file', 'blob', `${ref(id)}:head.json`], { cwd })) as object
  const replace = (id: string, path: string, content: string) =>
    replaceFile(cwd, ref(id), { path, content })
  await work({
    breakHead: (id) =>
      replace(id, 'head.json', JSON.stringify({ ...head(id), card: 'x'.repeat(1 << 20) })),
    breakSegment: (id) => replace(id, 'segments/1', 'x'),
    remove: (id) => runGit(['update-ref', '-d', ref(id)], { cwd }),
  })
}

describe.each([
  { ...postgresPlace(), vandalize: inDatabase },
  { ...gitPlace(), vandalize: inRepository },
])('through $kind', (place) => {
  test('sessions --remote, pull, verify and prune report a damaged log, and continue with the others', async () => {
    const url = await place.newUrl()
    using a = machine(url)
    using b = machine(url)
    a.ok('remote', 'init')
    for (const id of ['good', 'torn', 'bad']) a.saveStep(id, 'one')
    a.ok('push')
    await place.vandalize(url, async ({ breakHead, breakSegment, remove }) => {
      await breakHead('bad')
      await breakSegment('torn')
      const listed = b.run(['sessions', '--remote'])
      expect(listed.stdout).toContain('good')
      expect(listed.stdout).not.toContain('bad')
      expect(listed.stderr).toContain('The session "bad" of the remote cannot be read.')
      expect(listed.code).toBe(0)

      const pulled = JSON.parse(b.run(['pull', '--all', '--json']).stdout) as {
        pulled: { id: string; error: { code: string } | null }[]
      }
      expect(Object.fromEntries(pulled.pulled.map(({ id, error }) => [id, error?.code]))).toEqual({
        bad: 'STORE_DAMAGED',
        torn: 'STORE_DAMAGED',
        good: undefined,
      })
      expect(b.words('good')).toBe('one')

      const verified = JSON.parse(b.run(['verify', '--remote', '--json']).stdout) as object
      expect(verified).toMatchObject({
        sessions: 3,
        problems: ['bad', 'torn'].map((id) => ({ id, checkpoint: null, code: 'STORE_DAMAGED' })),
      })
      await remove('torn')
      expect(b.run(['prune', '--remote', 'team', '--yes']).code).toBe(0)
    })
  })
})
