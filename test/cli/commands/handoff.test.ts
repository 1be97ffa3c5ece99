// push, pull and handoff between two machines, through PostgreSQL and through a git repository.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { openStore } from '../../../src/index.js'
import { openRemote } from '../../../src/remote/index.js'
import {
  gitPlace,
  keyFile,
  type Machine,
  machine,
  postgresPlace,
  removeKeyFiles,
} from '../../support/sharing/two-machines.js'

afterAll(removeKeyFiles)

const postgres = postgresPlace()

describe.each([postgres, gitPlace()])('through $kind', (place) => {
  test('a session continues on another machine, with its state, history and files', async () => {
    const url = await place.newUrl()
    using a = machine(url)
    expect(a.run(['push']).stderr).toContain('savestate remote init')
    a.ok('remote', 'init')
    a.ok('remote', 'init', 'team')
    a.saveStep('fix', 'one')
    a.saveStep('fix', 'one two')
    expect(a.ok('handoff')).toContain('any machine can continue it:\n  savestate pull fix')
    using b = machine(url)
    expect(b.ok('sessions', '--remote')).toMatch(/^fix +in_progress +2 steps .*project\n$/)
    expect(b.ok('pull', 'fix')).toContain(`fix is here, in ${b.project}`)
    expect(existsSync(join(b.project, 'f.txt'))).toBe(false)
    expect(b.words('fix')).toBe('one two')
    expect(b.ok('resume', 'fix')).toContain(
      `This session has continued on another machine, and its folder is ${b.project} here.`,
    )
    writeFileSync(join(b.project, 'f.txt'), 'mine\n')
    const dry = b.ok('pull', 'fix', '--into', '.', '--dry-run')
    expect(dry).toContain('A dry run: nothing has been changed.')
    expect(b.run(['pull', 'fix', '--into', '.']).stderr).toContain('This needs a yes')
    expect(readFileSync(join(b.project, 'f.txt'), 'utf8')).toBe('mine\n')
    b.ok('pull', 'fix', '--into', '.', '-y')
    expect(readFileSync(join(b.project, 'f.txt'), 'utf8')).toBe('two\n')
    b.ok('undo', '-y')
    expect(readFileSync(join(b.project, 'f.txt'), 'utf8')).toBe('mine\n')
    b.saveStep('fix', 'one two three')
    expect(b.ok('handoff', 'fix')).toContain('any machine can continue it')
    expect(a.ok('pull')).toContain('1 session and the files of 1 checkpoint came from team')
    expect(a.words('fix')).toBe('one two three')
    expect(exported(a, 'fix')).toEqual(exported(b, 'fix'))
    expect(a.ok('pull')).toBe('Nothing is new on team.\n')
    expect(a.ok('push')).toBe('Nothing to send: team has everything.\n')
    expect(a.ok('verify', '--remote')).toMatch(/1 session, .* all is intact\.\n$/)
    for (const one of [a, b]) expect(one.run(['verify']).code).toBe(0)
  })

  test('if both have continued, the second to push gets a session of its own', async () => {
    const url = await place.newUrl()
    using a = machine(url)
    using b = machine(url)
    a.ok('remote', 'init')
    a.saveStep('fix', 'one')
    a.ok('handoff')
    b.ok('pull', 'fix')
    a.saveStep('fix', 'one A')
    b.saveStep('fix', 'one B')
    expect(a.ok('handoff')).not.toContain('Another machine')
    expect(b.ok('status')).toContain('Remote team:  lacks steps of 1 of 1 session')
    const said = b.ok('push')
    const [, fork = ''] = /are now the session (fix~\S+); nothing is lost/.exec(said) ?? []
    expect([b.words('fix'), b.words(fork)]).toEqual(['one A', 'one B'])
    a.ok('pull', fork)
    expect([a.words('fix'), a.words(fork)]).toEqual(['one A', 'one B'])
    expect(b.ok('status')).toContain('Remote team:  has all of 2 sessions')
  })

  test('pull --all brings everything back into an empty store', async () => {
    const url = await place.newUrl()
    const key = keyFile()
    using a = machine(url, { key })
    a.ok('remote', 'init')
    a.saveStep('first', 'one')
    a.saveStep('first', 'one two')
    a.saveStep('second', 'three')
    expect(a.ok('push', '--all')).toContain('2 sessions sent to team')
    using c = machine(url, { key })
    expect(c.ok('pull', '--all')).toContain('2 sessions and the files of 3 checkpoints came')
    for (const id of ['first', 'second']) expect(exported(c, id)).toEqual(exported(a, id))
    // No folder of this machine is a clone of the project.
    const gone = join(`${c.home}-pulled`, 'project')
    expect(c.ok('status')).toContain(gone)
    expect(c.ok('verify')).toContain('3 checkpoints checked: the store is intact')
    // No prune takes the project for one that was deleted.
    expect(c.ok('prune', '--dry-run')).toContain('not treated as removed')
    const home = join(c.folder, 'app')
    mkdirSync(home)
    c.ok('move', gone, home)
    c.ok('-C', home, 'rewind', '1', '-y')
    expect(readFileSync(join(home, 'f.txt'), 'utf8')).toBe('three\n')
    expect(c.ok('pull', '--all')).toBe('Nothing is new on team.\n')
    using plain = machine(url)
    expect(plain.run(['pull', '--all']).stderr).toContain('is encrypted')
  })

  test('a session that another machine has is busy, and can be taken', async () => {
    const url = await place.newUrl()
    using a = machine(url)
    a.ok('remote', 'init')
    a.saveStep('fix', 'one')
    a.ok('handoff')
    const remote = await openRemote({ url, folder: join(a.folder, 'user', 'copies') })
    const owner = { host: 'laptop', pid: 12, boot: 'x', startedAt: '1', namespace: 'n' }
    const log = { kind: 'session', id: 'fix' } as const
    const taken = await remote.take({ log, holder: { owner, sinceMs: Date.now() }, leaseMs: null })
    expect(taken.taken).toBe(true)
    a.saveStep('fix', 'one two')
    const busy = a.run(['push'])
    expect([busy.code, busy.stdout]).toEqual([2, expect.stringContaining('Process 12 on laptop')])
    expect(busy.stdout).toContain(
      'Give it up there with `savestate handoff fix`, or take it from there with `savestate pull fix --take`',
    )
    expect(a.ok('sessions', '--remote')).toContain('on laptop')
    expect(a.ok('pull', 'fix')).toContain('To take it: savestate pull fix --take')
    a.ok('pull', 'fix', '--take')
    expect(a.ok('push')).toContain('1 session sent to team')
    await remote.close()
  })
})

test('a fork is in status although the push that made it was killed', async () => {
  const url = await postgres.newUrl()
  using a = machine(url)
  using b = machine(url)
  a.ok('remote', 'init')
  a.saveStep('fix', 'one')
  a.ok('handoff')
  b.ok('pull', 'fix')
  a.saveStep('fix', 'one A')
  b.saveStep('fix', 'one B')
  a.ok('handoff')
  b.run(['push'], { env: { SAVESTATE_FAILPOINT: 'share:packed' } })
  const [, fork = ''] = /are now the session (fix~\S+); nothing is lost/.exec(b.ok('status')) ?? []
  expect([b.words('fix'), b.words(fork)]).toEqual(['one A', 'one B'])
  expect(b.ok('push')).toContain(`1 session sent to team`)
})

test('a push that was killed before it had its answer is not reported as another machine', async () => {
  const url = await postgres.newUrl()
  using a = machine(url)
  a.ok('remote', 'init')
  a.saveStep('fix', 'one')
  a.ok('push')
  a.saveStep('fix', 'one two')
  a.run(['push'], { env: { SAVESTATE_FAILPOINT: 'share:sent' } })
  expect(a.ok('status')).toContain('lacks steps of 1 of 1 session')
  expect(a.ok('push')).toBe('Nothing to send: team has everything.\n')
  expect(a.ok('resume', 'fix')).not.toContain('another machine')
})

test('a session that another process of this store has pushed is not busy for the program', async () => {
  const url = await postgres.newUrl()
  using a = machine(url)
  a.ok('remote', 'init')
  a.saveStep('fix', 'one')
  // Its process lives on, and has the session for 12 hours.
  const store = await openStore({ home: a.home })
  await store.remotes.push()
  a.saveStep('fix', 'one two')
  expect(a.ok('handoff')).toContain('any machine can continue it')
  using b = machine(url)
  b.ok('pull', 'fix')
  expect(b.words('fix')).toBe('one two')
  await store.close()
})

test('status contacts nothing, and says how far behind each remote is', () => {
  using s = machine('postgres://127.0.0.1:1/nothing')
  s.saveStep('fix', 'one')
  expect(s.ok('status')).toContain('Remote team:  nothing pushed yet')
  const failed = s.run(['push', '--json'])
  expect(JSON.parse(failed.stderr)).toMatchObject({ error: { code: 'REMOTE_UNREACHABLE' } })
  expect(s.json(['status'])).toMatchObject({
    remotes: [{ name: 'team', shared: 0, behind: 0, lastPush: null, failure: null }],
  })
})

test('wrong arguments are refused', () => {
  using s = machine('postgres://127.0.0.1:1/nothing')
  s.ok('remote', 'add', 'other', '/nowhere.git', '--plain')
  const wrong: readonly (readonly [readonly string[], string])[] = [
    [['push', 'nosuch', '--remote', 'team'], 'There is no session "nosuch"'],
    [['push'], 'There are several remotes'],
    [['push', '--remote', 'third'], 'There is no remote third'],
    [['push', '--remote'], '--remote needs a value'],
    [['pull', '--into', '.', '--remote', 'team'], 'Name the session'],
    [['pull', 'a', '--all', '--remote', 'team'], 'Name a session, or pull all'],
    [['pull', '--take', '--all'], 'cannot be given together'],
    [['pull', 'a', '--dry-run'], '--dry-run needs --into too'],
    [['pull', 'a', '--into', 'nowhere', '--remote', 'team'], 'nowhere'],
    [['handoff', '--remote', 'team'], 'This project has no sessions'],
    [['sessions', '--remote', 'third'], 'There is no remote third'],
    [['sessions', '--remote', '--here'], 'cannot be given together'],
    [['verify', '--remote', '--quick'], 'cannot be given together'],
    [['prune', '--remote', 'team', '--max-size-mb', '1'], 'cannot be given together'],
  ]
  for (const [args, message] of wrong) {
    const { code, stderr } = s.run(args)
    expect([args, code, stderr]).toEqual([args, 2, expect.stringContaining(message)])
  }
})

function exported(on: Machine, id: string): unknown {
  return JSON.parse(on.ok('export', '--session', id))
}
