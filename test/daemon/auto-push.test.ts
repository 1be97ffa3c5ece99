// The daemon pushes after a turn to the remotes that ask for it, offline too, and never from a project that was not pushed by hand.
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { openRemote, type Remote } from '../../src/remote/index.js'
import type { StatusResult } from '../../src/index.js'
import { createDatabase } from '../support/postgres/index.js'
import { startProxy } from '../support/remote/tcp-proxy.js'
import { machine } from '../support/sharing/two-machines.js'
import { type DaemonScratch, daemonScratch, isAlive, until } from './daemon-helpers.js'

const FILES = { 'package.json': '{}\n', 'a.txt': 'one\n' }

/** One turn of an agent that changes a file. */
function turn(s: DaemonScratch, n: number): void {
  const transcript = join(s.folder, 'user', 'transcript.jsonl')
  const hook = (event: string, fields: object) => {
    const payload = { session_id: 'abc', cwd: s.project, transcript_path: transcript, ...fields }
    const input = JSON.stringify({ hook_event_name: event, ...payload })
    expect(s.run(['hook', 'claude', event], { input })).toMatchObject({ code: 0, stderr: '' })
  }
  if (n === 1) writeFileSync(transcript, '')
  hook('UserPromptSubmit', { prompt: `Change it ${n}` })
  appendFileSync(transcript, `${JSON.stringify({ type: 'user', uuid: `u${n}` })}\n`)
  s.write({ 'a.txt': `${n}\n` })
  hook('Stop', { stop_hook_active: false })
}

/** A line of a sample output in docs/guide/handoff.md. */
function inGuide(line: RegExp): string {
  const path = fileURLToPath(new URL('../../docs/guide/handoff.md', import.meta.url))
  const samples = [...readFileSync(path, 'utf8').matchAll(/^ {4}(.*)$/gm)].map(([, text]) => text)
  return line.exec(samples.join('\n'))?.[0] ?? ''
}

/** Counts, times and addresses differ. */
function loosely(text: string): string {
  return text
    .replace(/\d+ (?:s|min|h) ago|just now/g, '<ago>')
    .replace(/\d+ of \d+ sessions?/, '<count>')
    .replace(/: \S+: (?:connect|read) E[A-Z]+.*$/, ': <label>: <error>')
}

/** The proxy is in this process, so a command that contacts the remote must not block it. */
async function ok(s: DaemonScratch, ...args: readonly string[]): Promise<void> {
  expect(await s.start(args).ended).toMatchObject({ code: 0, stderr: '' })
}

function remoteStatus(s: DaemonScratch): StatusResult['remotes'][number] | undefined {
  return (s.json(['status']) as StatusResult).remotes[0]
}

async function stepsThere(remote: Remote): Promise<number> {
  const heads = await remote.heads()
  return heads.reduce((sum, { card }) => sum + (card?.steps ?? 0), 0)
}

test('after a turn the daemon pushes, without the user and also after the network was gone', async () => {
  await using database = await createDatabase()
  const { hostname: host, port } = new URL(database.url)
  await using proxy = await startProxy({ host, port: Number(port) })
  using s = daemonScratch(FILES)
  const url = database.urlWith({ port: proxy.port })
  s.json(['remote', 'add', 'team', url, '--plain', '--auto-push'])
  await ok(s, 'remote', 'init')
  const remote = await openRemote({ url: database.url })
  s.daemon('start')
  turn(s, 1)
  // Nothing of a project leaves the machine before the user has pushed from it.
  turn(s, 2)
  expect(await stepsThere(remote)).toBe(0)
  await ok(s, 'push')
  const first = await stepsThere(remote)
  expect(first).toBeGreaterThan(1)

  turn(s, 3)
  await until(async () => (await stepsThere(remote)) > first, 'a push after a turn')
  expect(remoteStatus(s)).toMatchObject({ behind: 0, failure: null })

  proxy.cut()
  const before = await stepsThere(remote)
  turn(s, 4)
  await until(() => remoteStatus(s)?.failure !== null, 'a failure in status')
  expect(remoteStatus(s)).toMatchObject({ behind: 1, failure: { code: 'REMOTE_UNREACHABLE' } })
  const text = s.run(['status']).stdout
  const shown = /^Remote team:.*\n.*$/m.exec(text)?.[0] ?? ''
  expect(shown).toContain('lacks steps of 1 of 1 session, last push')
  expect(loosely(shown)).toBe(loosely(inGuide(/^Remote team:.*\n.*$/m)))
  expect(text.match(/Pushing fails since/g)).toHaveLength(1)
  turn(s, 5)
  expect(s.run(['status']).stdout.match(/Pushing fails since/g)).toHaveLength(1)

  proxy.resume()
  await until(async () => (await stepsThere(remote)) > before, 'a push once the network is back')
  await until(() => remoteStatus(s)?.behind === 0, 'everything is there')
  expect(remoteStatus(s)?.failure).toBe(null)
  await remote.close()
})

test('without auto-push, and without a remote, the daemon contacts nothing', async () => {
  await using database = await createDatabase()
  const { hostname: host, port } = new URL(database.url)
  await using proxy = await startProxy({ host, port: Number(port) })
  using s = daemonScratch(FILES)
  s.json(['remote', 'add', 'team', database.urlWith({ port: proxy.port }), '--plain'])
  await ok(s, 'remote', 'init')
  turn(s, 1)
  await ok(s, 'push')
  const { sentBytes } = proxy
  s.daemon('start')
  turn(s, 2)
  expect(s.daemon('stop')).toMatchObject({ stopped: true })
  expect(proxy.sentBytes).toBe(sentBytes)
  expect(remoteStatus(s)).toMatchObject({ behind: 1 })
})

test('a fork by the daemon is in status and in the brief of the next agent, and a new session is counted', async () => {
  await using database = await createDatabase()
  const { hostname: host, port } = new URL(database.url)
  await using proxy = await startProxy({ host, port: Number(port) })
  using s = daemonScratch(FILES)
  s.json([
    'remote',
    'add',
    'team',
    database.urlWith({ port: proxy.port }),
    '--plain',
    '--auto-push',
  ])
  await ok(s, 'remote', 'init')
  turn(s, 1)
  await ok(s, 'handoff')
  const [session] = (s.json(['sessions']) as { sessions: readonly { id: string }[] }).sessions
  const id = session?.id ?? ''
  expect(s.run(['status']).stdout).toMatch(/^Remote team: {2}has all of 1 session, last push/m)
  using other = machine(database.url)
  other.ok('pull', id, '--into', '.', '-y')
  // A pull makes no other session of the project public.
  other.saveStep('private', 'mine')
  expect(other.ok('status')).toContain('Remote team:  has all of 1 session\n')
  other.saveStep(id, 'elsewhere')
  other.ok('handoff', id)

  s.daemon('start')
  turn(s, 2)
  await until(() => remoteStatus(s)?.forks.length === 1, 'a fork in status')
  const [fork] = remoteStatus(s)?.forks ?? []
  expect(fork).toEqual({
    session: id,
    fork: expect.stringMatching(/^abc~.+-\d{8}T\d{9}$/) as unknown,
    at: expect.any(String) as unknown,
  })
  await until(() => remoteStatus(s)?.behind === 0, 'the fork is pushed too')
  expect(s.run(['status']).stdout.replace(/\d+ s ago/g, 'just now')).toContain(
    `\n  just now: ${inGuide(/^Another machine has continued.*$/m)
      .replace(/fix-login~[\w-]+/, fork?.fork ?? '')
      .replace('fix-login', id)}\n`,
  )
  expect(s.run(['resume', id]).stdout).toContain(`they are in the session "${fork?.fork}".`)

  proxy.cut()
  s.write({ 'a.txt': 'fresh\n' })
  expect(s.run(['save', '--session', 'fresh', '--state', '-'], { input: '{}' }).code).toBe(0)
  expect(remoteStatus(s)).toMatchObject({ shared: 3, behind: 1 })
})

test('an idle daemon waits for the network, pushes, and ends', async () => {
  await using database = await createDatabase()
  const { hostname: host, port } = new URL(database.url)
  await using proxy = await startProxy({ host, port: Number(port) })
  using s = daemonScratch(FILES)
  const url = database.urlWith({ port: proxy.port })
  s.json(['remote', 'add', 'team', url, '--plain', '--auto-push'])
  await ok(s, 'remote', 'init')
  turn(s, 1)
  await ok(s, 'push')
  const remote = await openRemote({ url: database.url })
  const before = await stepsThere(remote)
  const { pid } = s.daemon('start')
  proxy.cut()
  turn(s, 2)
  await until(() => remoteStatus(s)?.failure !== null, 'a failure in status')
  // It tries again after ten seconds, and is idle long before.
  writeFileSync(join(s.home, 'config.json'), '{"daemonIdleMinutes": 0.01}')
  proxy.resume()
  await until(async () => (await stepsThere(remote)) > before, 'a push once the network is back')
  await until(() => !isAlive(pid), 'the end of the daemon')
  expect(remoteStatus(s)).toMatchObject({ behind: 0, failure: null })
  await remote.close()
})
