// `--json` of the commands for remotes, if they succeed: whole values.
import { afterAll, expect, test } from 'vitest'
import { gitPlace, keyFile, machine, removeKeyFiles } from '../../support/sharing/two-machines.js'

afterAll(removeKeyFiles)

const place = gitPlace()
const some = {
  number: expect.any(Number) as unknown,
  text: expect.any(String) as unknown,
  time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as unknown,
  sql: expect.stringMatching(
    /^BEGIN;\nCREATE SCHEMA IF NOT EXISTS "blue";\n[^]*\nCOMMIT;\n$/,
  ) as unknown,
}

test('each command prints one value of a known shape', async () => {
  const url = await place.newUrl()
  const key = keyFile()
  using a = machine(url, { key })
  using b = machine(url, { key })
  a.ok('remote', 'add', 'blue', 'postgres://127.0.0.1:1/none', '--plain', '--schema', 'blue')
  a.saveStep('fix', 'one')
  const remote = {
    name: 'team',
    kind: 'git',
    label: url,
    keyFile: key,
    schema: null,
    autoPush: false,
  }
  const session = {
    id: 'fix',
    agent: null,
    project: 'project',
    status: 'in_progress',
    steps: 1,
    reason: 'one',
    updatedAt: some.time,
    holder: null,
    isHere: false,
  }
  const holder = { host: some.text, pid: some.number, since: some.time, until: null }
  const sent = { segments: 1, bytes: some.number, checkpoints: 1, fork: null }
  const nothing = { segments: 0, bytes: 0, checkpoints: 0, fork: null }
  const pulled = {
    kind: 'session',
    id: 'fix',
    segments: 1,
    fork: null,
    holder: null,
    error: null,
    files: 1,
    missingFiles: 0,
    project: b.project,
  }
  const pruned = {
    declined: false,
    checkpoints: 0,
    deletedSessions: 0,
    skipped: 0,
    compacted: 0,
    packs: 0,
    packBytes: 0,
  }
  const pushed = [{ kind: 'session', id: 'fix', ...sent, isDeleted: false, error: null }]
  const team = ['--remote', 'team']
  // In this order: each builds on those before it.
  const rows = [
    [a, ['remote', 'init', 'team'], remote],
    [a, ['remote', 'init', 'blue', '--print-sql'], { sql: some.sql }],
    [a, ['push', ...team], { remote, pushed }],
    [b, ['sessions', '--remote'], { sessions: [{ ...session, holder }] }],
    [a, ['handoff', ...team], { remote, session: 'fix', ...nothing }],
    [b, ['sessions', ...team], { sessions: [session] }],
    [b, ['pull', 'fix'], { remote, pulled: [pulled], restored: null }],
    [b, ['prune', '--remote', '-y'], { remote, ...pruned }],
    [b, ['prune', '--remote', '--dry-run'], { remote, ...pruned }],
    [b, ['remote', 'remove', 'team'], { removed: remote }],
  ] as const
  for (const [on, args, value] of rows) expect([args, on.json(args)]).toEqual([args, value])
})
