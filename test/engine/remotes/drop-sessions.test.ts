// remote drop: sessions are deleted for everyone who shares the remote, and stay deleted.
import { describe, expect, test } from 'vitest'
import { openRemote } from '../../../src/remote/index.js'
import { openStore } from '../../../src/index.js'
import { gitPlace, machine, postgresPlace } from '../../support/sharing/two-machines.js'

const SDK_PLACE = postgresPlace()

describe.each([postgresPlace(), gitPlace()])('through $kind', (place) => {
  test('a session is deleted there, no pull brings it back, and no push sends it again by itself', async () => {
    const url = await place.newUrl()
    using a = machine(url)
    using b = machine(url)
    a.ok('remote', 'init')
    a.saveStep('gone', 'one')
    a.saveStep('stays', 'one')
    a.ok('push')
    b.ok('pull', '--all')

    const wrong = a.run(['remote', 'drop', 'team', 'missing', '-y'])
    expect(wrong.stderr).toContain('The remote team has no session "missing"')
    expect(a.run(['remote', 'drop', 'team']).stderr).toContain('SESSION is missing')
    const dry = a.ok('remote', 'drop', 'team', 'gone', '--dry-run')
    expect(dry).toContain(
      'This deletes 1 session on team, for everyone who shares it:\n  gone (1 step',
    )
    expect(a.run(['remote', 'drop', 'team', 'gone']).stderr).toContain('This needs a yes')
    // Another machine has it.
    const busy = b.run(['remote', 'drop', 'team', 'gone', '-y'])
    expect(busy.stderr).toContain('may still continue the session "gone"')
    expect(busy.stderr).toContain('--take')
    expect(b.ok('sessions', '--remote')).toContain('gone')

    const done: unknown = JSON.parse(a.ok('remote', 'drop', 'team', 'gone', '-y', '--json'))
    expect(done).toMatchObject({ applied: true, sessions: [{ id: 'gone', steps: 1 }] })
    expect(a.ok('sessions', '--remote')).not.toContain('gone')
    expect(a.run(['remote', 'drop', 'team', 'gone', '-y']).stderr).toContain('was deleted')
    // The copies stay.
    expect([a.words('gone'), b.words('gone')]).toEqual(['one', 'one'])
    const pulled = b.run(['pull', 'gone', '--json'])
    expect(pulled.code).toBe(2)
    expect(pulled.stdout + pulled.stderr).toContain('SESSION_DELETED')
    expect(b.ok('pull', '--all')).toBe('Nothing is new on team.\n')

    a.saveStep('gone', 'one two')
    expect(a.ok('push')).toContain('gone was deleted there. To send it again: savestate push gone')
    expect(a.ok('sessions', '--remote')).not.toContain('gone')
    expect(a.ok('push', 'gone')).toContain('1 session sent to team')
    expect(b.ok('pull', 'gone')).toContain('gone is here')
    expect(b.words('gone')).toBe('one two')
    expect(b.ok('remote', 'drop', 'team', 'gone', 'stays', '--take', '-y')).toMatch(
      /^2 sessions deleted on team, and .* of files\.\n$/,
    )
    expect(b.ok('sessions', '--remote')).toContain('The remote has no sessions.')
  })
})

test('the SDK deletes sessions that no one has', async () => {
  const url = await SDK_PLACE.newUrl()
  using a = machine(url)
  a.ok('remote', 'init')
  a.saveStep('fix', 'one')
  a.ok('handoff', 'fix')
  await using store = await openStore({ home: a.home })
  const planned = await store.remotes.drop('fix', { dryRun: true })
  expect(planned).toMatchObject({ applied: false, sessions: [{ id: 'fix', holder: null }] })
  expect(await store.remotes.drop(['fix'])).toMatchObject({ applied: true })
  const remote = await openRemote({ url })
  expect((await remote.head({ kind: 'session', id: 'fix' }))?.isDeleted).toBe(true)
  await remote.close()
})
