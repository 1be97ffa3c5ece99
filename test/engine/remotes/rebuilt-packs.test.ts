// A pack that a store builds on was collected on the remote: the push sends a full pack instead.
import { expect, test } from 'vitest'
import { createDatabase } from '../../support/postgres/index.js'
import { machine } from '../../support/sharing/two-machines.js'

test('steps that build on a collected pack are sent in full', async () => {
  await using database = await createDatabase()
  using a = machine(database.url)
  using b = machine(database.url)
  a.ok('remote', 'init')
  a.write({ 'keep.txt': 'kept\n', 'secret.txt': 'secret\n' })
  a.saveStep('fix', 'one')
  a.ok('handoff', 'fix')
  a.saveStep('fix', 'one two')
  // The pack of the second step is planned on that of the first one, and not sent.
  const killed = a.run(['push'], { env: { SAVESTATE_FAILPOINT: 'share:packed' } })
  expect(killed.code).toBe(null)
  const [first] = await database.sql('SELECT id FROM savestate.packs')

  b.ok('pull', 'fix', '--into', '.', '--take', '-y')
  b.saveStep('fix', 'one elsewhere')
  b.ok('forget', 'secret.txt', '-y')
  b.ok('push')
  b.ok('prune', '--remote', '-y')
  expect(
    await database.sql('SELECT id FROM savestate.packs WHERE id = $1', [first?.['id']]),
  ).toEqual([])

  const [, fork = ''] = /are now the session (fix~\S+); nothing is lost/.exec(a.ok('push')) ?? []
  expect(a.words(fork)).toBe('one two')
  expect(a.ok('push')).toBe('Nothing to send: team has everything.\n')
  expect(b.ok('verify', '--remote')).toContain('all is intact.')
  b.ok('pull', fork)
  expect(b.words(fork)).toBe('one two')
})
