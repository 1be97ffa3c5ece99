// prune --remote: what it reads, whole sessions, and sessions that others take or continue before it sends the removal.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { openStore } from '../../../src/index.js'
import { openRemote } from '../../../src/remote/index.js'
import { createDatabase, type TestDatabase } from '../../support/postgres/index.js'
import {
  gitPlace,
  type Machine,
  machine,
  postgresPlace,
  type RemotePlace,
} from '../../support/sharing/two-machines.js'

type HeadOf = (id: string) => Promise<'deleted' | 'held' | 'free'>

/** The state of a session on a remote. */
function headsOn(url: string, folder: string): HeadOf {
  return async (id) => {
    const remote = await openRemote({ url, folder })
    try {
      const head = await remote.head({ kind: 'session', id })
      if (head?.isDeleted === true) return 'deleted'
      return head?.holder === null ? 'free' : 'held'
    } finally {
      await remote.close()
    }
  }
}

/** By a process that lives on another machine. */
async function takeElsewhere(
  url: string,
  { id, folder }: { readonly id: string; readonly folder: string },
): Promise<void> {
  const remote = await openRemote({ url, folder })
  const owner = { host: 'laptop', pid: 12, boot: 'x', startedAt: '1', namespace: 'n' }
  const holder = { owner, sinceMs: Date.now() }
  const log = { kind: 'session', id } as const
  expect((await remote.take({ log, holder, leaseMs: 3_600_000 })).taken).toBe(true)
  await remote.close()
}

/** Nothing is kept but the last checkpoint of each session, or with `days`, nothing at all. */
function keepNothing(one: Machine, { days = 0 }: { readonly days?: number } = {}): void {
  const settings = { keepAllHours: 0, keepPromptsDays: 0, keepDailyDays: days }
  // By hand, as a user may: each command would be a process.
  writeFileSync(join(one.home, 'config.json'), JSON.stringify(settings))
}

/** Completed: retention keeps everything of a session in progress for some days. */
async function saveSteps(one: Machine, id: string, name?: string): Promise<void> {
  await using store = await openStore({ home: one.home })
  const session = await store.session(id, { project: await store.project(one.project) })
  for (const n of [1, 2, 3]) {
    one.write({ 'f.txt': `${n}\n` })
    await session.save({
      state: { n },
      files: true,
      ...(n === 1 && name !== undefined && { name }),
    })
  }
  await session.save({ state: { n: 4 }, status: 'completed' })
  await session.close()
}

const places: readonly RemotePlace[] = [postgresPlace(), gitPlace()]

describe.each(places)('through $kind', (place) => {
  test('a session that was not used for long enough is deleted there, and a dry run shows it', async () => {
    const url = await place.newUrl()
    using a = machine(url)
    using b = machine(url)
    a.ok('remote', 'init')
    await saveSteps(a, 'old')
    a.ok('handoff', 'old')
    const stateOf = headsOn(url, b.home)
    keepNothing(b)
    expect(b.ok('prune', '--remote', '--dry-run')).toContain('4 checkpoints to remove')
    expect(await stateOf('old')).toBe('free')
    expect(b.ok('prune', '--remote', '-y')).toMatch(
      /^team: 4 checkpoints removed, 1 session deleted, .* of files removed that no checkpoint needs\.\n$/,
    )
    expect(await stateOf('old')).toBe('deleted')
    expect(b.run(['pull', 'old']).stderr).toContain('was deleted on the remote team')
    expect(b.ok('pull', '--all')).toContain('Nothing is shared with team yet.')
    expect(b.ok('prune', '--remote', '-y')).toBe('team: nothing to remove.\n')
  })

  test('a session that another machine takes meanwhile stays as it is', async () => {
    const url = await place.newUrl()
    using a = machine(url)
    using b = machine(url)
    a.ok('remote', 'init')
    await saveSteps(a, 'taken')
    a.ok('handoff', 'taken')
    keepNothing(b)
    await using store = await openStore({ home: b.home })
    const result = await store.remotes.prune({
      async confirm() {
        await takeElsewhere(url, { id: 'taken', folder: b.home })
        return true
      },
    })
    expect(result).toMatchObject({ checkpoints: 0, deletedSessions: 0, skipped: 1 })
    expect(await headsOn(url, b.home)('taken')).toBe('held')
  })

  test('a session that was continued meanwhile stays as it is, and is given up again', async () => {
    const url = await place.newUrl()
    using a = machine(url)
    using b = machine(url)
    a.ok('remote', 'init')
    await saveSteps(a, 'continued')
    a.ok('handoff', 'continued')
    keepNothing(b)
    await using store = await openStore({ home: b.home })
    const result = await store.remotes.prune({
      confirm: () => {
        a.saveStep('continued', 'five')
        a.ok('handoff', 'continued')
        return true
      },
    })
    expect(result).toMatchObject({ checkpoints: 0, deletedSessions: 0, skipped: 1 })
    expect(await headsOn(url, b.home)('continued')).toBe('free')
    // It is read again, although nothing else has changed.
    expect(b.ok('prune', '--remote', '-y')).toContain('1 session deleted')
  })
})

describe('what is read', () => {
  let database: TestDatabase
  afterEach(() => database.dispose())

  const damage = `UPDATE savestate.segments SET body = set_byte(body, 30, get_byte(body, 30) # 1)`
  const age = `UPDATE savestate.live SET updated_at = clock_timestamp() - interval '2 hours'`

  test('a session stays unread until a limit has passed, and after a prune until it changes', async () => {
    database = await createDatabase()
    using a = machine(database.url)
    using b = machine(database.url)
    a.ok('remote', 'init')
    // A named checkpoint stays beside the last one.
    await saveSteps(a, 'fix', 'kept')
    a.ok('handoff', 'fix')
    keepNothing(b, { days: 300 })
    expect(b.ok('prune', '--remote', '-y')).toContain('checkpoints removed')
    await database.sql(age)
    await database.sql(damage)
    expect(b.ok('prune', '--remote', '-y')).toBe('team: nothing to remove.\n')
    await database.sql(`UPDATE savestate.live SET updated_at = clock_timestamp()`)
    expect(b.run(['prune', '--remote', '-y']).stderr).toContain('is damaged')
    await database.sql(age)
    // Other limits.
    b.ok('config', 'set', 'keepDailyDays', '200')
    expect(b.run(['prune', '--remote', '-y']).stderr).toContain('is damaged')
    // Nothing is that old.
    b.ok('config', 'set', 'keepAllHours', '48')
    expect(b.ok('prune', '--remote', '-y')).toBe('team: nothing to remove.\n')
  })
})

describe('in a git repository, where a lease does not expire', () => {
  const place = gitPlace()

  test('the machine that has a session prunes it, and keeps it; others leave it alone', async () => {
    const url = await place.newUrl()
    using a = machine(url)
    using b = machine(url)
    a.ok('remote', 'init')
    await saveSteps(a, 'mine')
    a.ok('push')
    const stateOf = headsOn(url, b.home)
    for (const one of [a, b]) keepNothing(one, { days: 300 })
    expect(b.ok('prune', '--remote', '-y')).toBe(
      'team: nothing to remove. 1 session in use stayed as they are.\n',
    )
    expect(a.ok('prune', '--remote', '-y')).toMatch(/^team: 3 checkpoints removed, .*\.\n$/)
    expect(await stateOf('mine')).toBe('held')
    expect(b.run(['pull', 'mine']).code).toBe(0)
    expect(JSON.parse(b.ok('export', '--session', 'mine'))).toHaveLength(1)
    // It still is the one that may continue it.
    a.saveStep('mine', 'five')
    expect(a.ok('push')).toContain('1 session sent')
    expect(a.words('mine')).toBe('five')
  })
})
