// Nothing is contacted unless the user has set a remote. No layer except the daemon, the server of the page and the remotes uses a
// network, and git cannot be made to.
import { execFileSync, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { scratch as programScratch } from '../cli/program.js'
import { openProject, storedTree } from '../snapshot/capture/capture-helpers.js'
import { scratch } from '../support/scratch.js'

const SOURCE = fileURLToPath(new URL('../../src/', import.meta.url))

/**
 * The daemon uses a Unix socket and the loopback interface only, the page the loopback interface: test/daemon/daemon-http.test.ts
 * and test/ui/server check that. A remote is opened only if one is set: see below.
 */
const ALLOWED: readonly string[] = [
  'daemon',
  'ui/server',
  'remote',
  // Names the kinds of commands that agents ran, among them `push` and `http`.
  'base/outside/outside-command.ts',
]

const MODULES = 'http|https|http2|net|dns|tls|dgram|inspector|quic'
const WAYS: readonly RegExp[] = [
  // The full name anywhere; the short name, which is an ordinary word, only in imports.
  new RegExp(`['"\`]node:(?:${MODULES})(?:/[a-z]+)?['"\`]`),
  new RegExp(
    `(?:from|import|require|getBuiltinModule)\\s*\\(?\\s*['"\`](?:${MODULES})(?:/[a-z]+)?['"\`]`,
  ),
  /\b(?:fetch|XMLHttpRequest|EventSource|WebSocket|WebTransport)\s*\(/,
  /\bnew\s+(?:XMLHttpRequest|EventSource|WebSocket|WebTransport)\b/,
  /\bglobalThis\s*(?:\.\s*fetch|\[)/,
  // Git commands that use a network, in a list of arguments.
  /[[,(]\s*['"`](?:clone|fetch|pull|push|ls-remote|fetch-pack|send-pack|http-fetch)['"`]/,
]

test('no source file imports a network module, fetches, or has git do so', () => {
  const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' }).filter(
    (path) => path.endsWith('.ts') && !path.endsWith('.test.ts'),
  )
  expect(files.length).toBeGreaterThan(100)
  const speaking = files.filter((path) => {
    if (ALLOWED.some((allowed) => path === allowed || path.startsWith(`${allowed}/`))) return false
    const text = readFileSync(join(SOURCE, path), 'utf8').replaceAll(
      /^\s*(?:\/\/|\*|\/\*).*$/gm,
      '',
    )
    return WAYS.some((way) => way.test(text))
  })
  expect(speaking).toEqual([])
})

test('the patterns match their examples', () => {
  for (const line of [
    "import { get } from 'node:https'",
    "const net = await import('net')",
    "process.getBuiltinModule('http')",
    "createRequire(file)('node:net')",
    "import { lookup } from 'dns/promises'",
    'await fetch(url)',
    "new WebSocket('ws://x')",
    "runGit(gitDir, ['fetch', url])",
  ])
    expect({ line, isFound: WAYS.some((way) => way.test(line)) }).toEqual({ line, isFound: true })
})

test('only the code of remotes loads a driver, and it is loaded only for a remote that is set', () => {
  const opening = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' }).filter(
    (path) =>
      path.endsWith('.ts') &&
      !path.startsWith('remote/') &&
      /\bopenRemote\(\s*\{/.test(readFileSync(join(SOURCE, path), 'utf8')),
  )
  // The named remotes of remotes.json, and the remote that a store is opened with.
  expect(opening).toEqual(['engine/remotes/named-remote.ts', 'sdk/opening/open-remote.ts'])
})

test('without a remote no command contacts anything, whatever the environment offers', async () => {
  await using trap = await startTrap()
  using s = programScratch({ 'a.txt': 'one\n' })
  // Where PostgreSQL, git and HTTP clients would go by themselves.
  const env = {
    PGHOST: '127.0.0.1',
    PGPORT: String(trap.port),
    DATABASE_URL: `postgres://127.0.0.1:${trap.port}/x`,
    http_proxy: `http://127.0.0.1:${trap.port}`,
    https_proxy: `http://127.0.0.1:${trap.port}`,
    ALL_PROXY: `http://127.0.0.1:${trap.port}`,
    GIT_PROXY_COMMAND: `/bin/false`,
  }
  execFileSync('git', ['init', '-q', s.project], { env: { PATH: process.env['PATH'] } })
  const origin = `http://127.0.0.1:${trap.port}/x.git`
  execFileSync('git', ['-C', s.project, 'remote', 'add', 'origin', origin], {
    env: { PATH: process.env['PATH'] },
  })
  const input = '{"messages":[]}'
  const commands: readonly (readonly string[])[] = [
    ['save', '--session', 'a', '--state', '-', '-m', 'x'],
    ['list'],
    ['resume', 'a'],
    ['fork', '1'],
    ['rewind', '1', '-y'],
    ['sessions'],
    ['status'],
    ['verify'],
    ['prune', '-y'],
    ['doctor'],
    ['remote'],
    ['push'],
    ['pull', '--all'],
    ['handoff'],
    ['sessions', '--remote'],
    ['verify', '--remote'],
    ['prune', '--remote', '-y'],
    ['hook', 'claude', 'Stop'],
  ]
  for (const args of commands) await s.start(args, { env, input }).ended
  const without = await s.start(['push', '--json'], { env }).ended
  expect(JSON.parse(without.stderr)).toMatchObject({ error: { code: 'REMOTE_UNKNOWN' } })
  expect(trap.connections).toBe(0)
  // The trap works: with a remote, a command that is asked to does contact it.
  const url = `postgres://127.0.0.1:${trap.port}/x`
  await s.start(['remote', 'add', 'team', url, '--plain'], { env }).ended
  await s.start(['status'], { env }).ended
  expect(trap.connections).toBe(0)
  expect((await s.start(['push'], { env }).ended).code).toBe(2)
  expect(trap.connections).toBeGreaterThan(0)
})

/** Counts who comes, and answers nothing. */
async function startTrap() {
  const state = { connections: 0 }
  const server = createServer((socket) => {
    state.connections += 1
    socket.destroy()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  return {
    port,
    get connections() {
      return state.connections
    },
    async [Symbol.asyncDispose]() {
      server.close()
      await once(server, 'close')
    },
  }
}

test('git does not fetch missing objects for a store with a promisor remote', async () => {
  await using s = await scratch({ files: { 'a.txt': 'one\n' } })
  const { store, project } = await openProject(s)
  const { id } = await project.save()
  const { ref } = await project.show(id)
  await store.close()
  s.allowDamage()
  const blob = storedTree(s, ref).get('a.txt')?.id ?? ''
  rmSync(join(s.home, 'objects.git/objects', blob.slice(0, 2), blob.slice(2)))
  const mark = join(s.folder, 'mark')
  const config = join(s.home, 'objects.git/config')
  writeFileSync(
    config,
    `${readFileSync(config, 'utf8').replace('repositoryformatversion = 0', 'repositoryformatversion = 1')}
[extensions]
	partialClone = far
[remote "far"]
	url = ext::sh -c "touch% ${mark}"
	promisor = true
	fetch = +refs/*:refs/*
[protocol]
	allow = always
[protocol "ext"]
	allow = always
`,
  )
  s.write({ 'a.txt': 'two\n' })
  const again = await openProject(s)
  const either = expect.stringMatching(/^(?:STORE_DAMAGED|GIT_FAILED)$/)
  await expect(again.project.diff(id)).rejects.toMatchObject({ code: either })
  // An older git has no option against fetching: it tries, has no transport, and fails.
  const { stderr } = spawnSync('git', ['cat-file', '-e', blob], {
    env: {
      PATH: process.env['PATH'],
      GIT_DIR: join(s.home, 'objects.git'),
      GIT_NO_LAZY_FETCH: '1',
      GIT_ALLOW_PROTOCOL: 'none',
    },
    encoding: 'utf8',
  })
  const code = stderr.includes("transport 'ext' not allowed") ? either : 'STORE_DAMAGED'
  await expect(again.project.rewind(id)).rejects.toMatchObject({ code })
  expect(readdirSync(s.folder)).not.toContain('mark')
  expect(readFileSync(join(s.project, 'a.txt'), 'utf8')).toBe('two\n')
})
