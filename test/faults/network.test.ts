// No layer except the daemon and the server of the page uses a network, and git cannot be made to.
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { openProject, storedTree } from '../snapshot/capture/capture-helpers.js'
import { scratch } from '../support/scratch.js'

const SOURCE = fileURLToPath(new URL('../../src/', import.meta.url))

/**
 * The daemon uses a Unix socket and the loopback interface only, the page the loopback interface: test/daemon/daemon-http.test.ts
 * and test/ui/server check that.
 */
const ALLOWED: readonly string[] = ['daemon', 'ui/server']

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
  // Git commands that use a network.
  /['"`](?:clone|fetch|pull|push|ls-remote|fetch-pack|send-pack|http-fetch)['"`]/,
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
