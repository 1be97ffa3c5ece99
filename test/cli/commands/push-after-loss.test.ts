// push and pull when the lease of this machine has ended, or the server has lost what it had confirmed.
import { expect, test } from 'vitest'
import { createDatabase, startServer } from '../../support/postgres/index.js'
import { openRemote } from '../../../src/remote/index.js'
import { headOf, holder } from '../../support/remote/writer.js'
import { LONG_LEASE_MS } from '../../../src/model/index.js'
import { machine, type Machine } from '../../support/sharing/two-machines.js'

const FORK = /are now the session (fix~\S+); nothing is lost/

function pushFork(from: Machine): string {
  const [, fork] = FORK.exec(from.ok('push')) ?? []
  if (fork === undefined) throw new Error('there is no fork')
  return fork
}

/** The holder is a process of another host: whether it is dead cannot be proven from here. */
async function moveLease(url: string): Promise<void> {
  const remote = await openRemote({ url })
  const log = { kind: 'session', id: 'fix' } as const
  const { fence: ifFence } = await headOf(remote, log)
  await remote.take({ log, holder: holder('asleep'), leaseMs: LONG_LEASE_MS, ifFence })
  await remote.close()
}

test('a machine that slept longer than its lease: its steps become a fork if another one has taken the session', async () => {
  await using database = await createDatabase()
  using a = machine(database.url)
  using b = machine(database.url)
  a.ok('remote', 'init')
  a.saveStep('fix', 'one')
  a.ok('push')
  const [lease] = await database.sql(
    `SELECT extract(epoch FROM expires_at - clock_timestamp())::float8 * 1000 AS ms FROM savestate.live`,
  )
  expect(lease).toEqual({ ms: expect.closeTo(LONG_LEASE_MS, -6) as unknown })
  b.ok('pull', 'fix')
  b.saveStep('fix', 'one B')
  await moveLease(database.url)
  expect(b.run(['push']).stdout).toContain('is writing to the session "fix"')
  await database.sql(
    `UPDATE savestate.live SET expires_at = expires_at - interval '13 hours' WHERE holder IS NOT NULL`,
  )
  b.ok('push')
  a.saveStep('fix', 'one A')
  b.ok('handoff', 'fix')
  const fork = pushFork(a)
  expect([a.words('fix'), a.words(fork)]).toEqual(['one B', 'one A'])
})

test('after a failover that lost a push, and another machine continued, both histories stay', async () => {
  await using server = await startServer()
  await using database = await createDatabase(server.url)
  using a = machine(database.url)
  using b = machine(database.url)
  a.ok('remote', 'init')
  a.saveStep('fix', 'one')
  a.ok('handoff', 'fix')
  await server.stop()
  const goBack = server.keepCopy()
  await server.start()
  a.saveStep('fix', 'one A')
  a.ok('handoff', 'fix')
  await server.stop('immediate')
  goBack()
  await server.start()
  b.ok('pull', 'fix')
  b.saveStep('fix', 'one B')
  b.ok('handoff', 'fix')
  const [, fork = ''] = /(fix~\S+?)[.;,\s]/.exec(a.ok('pull', 'fix')) ?? []
  expect([a.words('fix'), a.words(fork)]).toEqual(['one B', 'one A'])
  a.ok('push')
  b.ok('pull', fork)
  expect([b.words('fix'), b.words(fork)]).toEqual(['one B', 'one A'])
})
