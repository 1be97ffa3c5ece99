// The daemon pushes after a turn to the remotes that ask for it, offline too, and never from a project that was not pushed by hand.
import { appendFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openRemote, type Remote } from '../../src/remote/index.js'
import type { StatusResult } from '../../src/index.js'
import { createDatabase } from '../support/postgres/index.js'
import { startProxy } from '../support/remote/tcp-proxy.js'
import { type DaemonScratch, daemonScratch, until } from './daemon-helpers.js'

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
  expect(text).toContain('lacks steps of 1 of 1 session')
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
