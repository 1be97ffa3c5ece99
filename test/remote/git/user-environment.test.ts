// Only what reaches the server comes from the user's git: credential helpers and URLs, but no hooks, no other repository, no password
// where others can read it.
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { serveFiles, serveHttp } from '../../support/git-server/git-servers.js'
import { GIT_ENVIRONMENT } from '../../support/scratch.js'
import { session, startWriter, textsOf } from '../../support/remote/writer.js'
import { gitHosts } from './git-hosts.js'

const hosts = gitHosts()
const SECRET = 'hunter2 & more'

let home: string
let changed: Map<string, string | undefined>
beforeEach(() => {
  changed = new Map()
  home = hosts.addFolder()
  setVariable('HOME', home)
  setVariable('XDG_CONFIG_HOME', undefined)
})
afterEach(() => {
  for (const [name, value] of changed) setVariable(name, value)
})

function setVariable(name: string, value: string | undefined): void {
  if (!changed.has(name)) changed.set(name, process.env[name])
  if (value === undefined) Reflect.deleteProperty(process.env, name)
  else process.env[name] = value
}

function configure(lines: string): void {
  writeFileSync(join(home, '.gitconfig'), lines)
}

/** A program that leaves a mark if it runs. */
function addProgram(folder: string, name: string): { readonly path: string; hasRun(): boolean } {
  mkdirSync(folder, { recursive: true })
  const path = join(folder, name)
  writeFileSync(path, `#!/bin/sh\ntouch ${path}.has-run\n`)
  chmodSync(path, 0o755)
  return { path, hasRun: () => existsSync(`${path}.has-run`) }
}

/** Returns the texts that another host reads. */
async function writeAndRead(start: () => ReturnType<typeof hosts.start>): Promise<string[]> {
  const { server, remote } = await start()
  const writer = await startWriter(remote, session('a'), { leaseMs: null })
  await writer.commit('one', { leaseMs: null })
  return textsOf(await hosts.join(server), writer.log)
}

test('no program of the configuration runs but those that reach the server', async () => {
  const hooks = ['pre-push', 'reference-transaction', 'post-index-change', 'fsmonitor', 'gpg']
  const folder = join(home, 'programs')
  const programs = hooks.map((name) => addProgram(folder, name))
  configure(`
[core]
  hooksPath = ${folder}
  fsmonitor = ${folder}/fsmonitor
[push]
  gpgSign = if-asked
  followTags = true
[gpg]
  program = ${folder}/gpg
[init]
  templateDir = ${folder}
`)
  // A server on this machine, by file://, would run its own hooks with this configuration, as for any push.
  expect(await writeAndRead(() => hosts.start(() => serveHttp()))).toEqual(['one'])
  expect(programs.filter((program) => program.hasRun())).toEqual([])
})

test("variables that name another repository are not git's business here", async () => {
  const other = join(home, 'other')
  execFileSync('git', ['init', '--quiet', other], { env: GIT_ENVIRONMENT })
  const before = readdirSync(join(other, '.git'), { recursive: true }).length
  setVariable('GIT_DIR', join(other, '.git'))
  setVariable('GIT_WORK_TREE', other)
  setVariable('GIT_INDEX_FILE', join(other, 'index'))
  setVariable('GIT_OBJECT_DIRECTORY', join(other, '.git/objects'))
  setVariable('GIT_CONFIG_PARAMETERS', "'remote.origin.url=file:///nowhere'")
  setVariable('GIT_TRACE', join(home, 'trace'))
  expect(await writeAndRead(() => hosts.start(serveFiles))).toEqual(['one'])
  expect(readdirSync(join(other, '.git'), { recursive: true })).toHaveLength(before)
  expect(existsSync(join(home, 'trace'))).toBe(false)
})

test('a URL of the configuration cannot run a program', async () => {
  const program = addProgram(home, 'program')
  configure(
    `[protocol]\n  allow = always\n[url "ext::${program.path} "]\n  insteadOf = https://team\n`,
  )
  const remote = await hosts.open({ url: 'https://team/repository' })
  await expect(remote.heads()).rejects.toMatchObject({ code: 'REMOTE_REFUSED' })
  expect(program.hasRun()).toBe(false)
})

test('a credential helper of the user logs in', async () => {
  configure(
    `[credential]\n  helper = "!f() { test $1 = get && printf 'username=user\\\\npassword=right\\\\n'; }; f"\n`,
  )
  expect(await writeAndRead(() => hosts.start(() => serveHttp({ login: 'user:right' })))).toEqual([
    'one',
  ])
})

test('without credentials the hint says what to do, and no question is asked', async () => {
  const start = hosts.start(() => serveHttp({ login: 'user:right' }))
  await expect(start).rejects.toMatchObject({
    code: 'REMOTE_REFUSED',
    hint: expect.stringContaining('credential helper') as unknown,
  })
})

function withLogin(url: string, password: string): string {
  return url.replace('://', `://user:${encodeURIComponent(password)}@`)
}

test('a password in the URL works, and is written nowhere', async () => {
  // A helper of the user would store it.
  const store = join(home, 'credentials')
  configure(`[credential]\n  helper = store --file ${store}\n`)
  const folder = hosts.addFolder()
  const server = await hosts.serve(() => serveHttp({ login: `user:${SECRET}` }))
  const remote = await hosts.open(server, { url: withLogin(server.url, SECRET), folder })
  await remote.init()
  const writer = await startWriter(remote, session('a'), { leaseMs: null })
  await writer.commit('one', { leaseMs: null })
  expect(remote.label).toBe(server.url)
  await remote.close()
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
  const isLeaking = (text: string) =>
    text.includes('hunter2') || text.includes(Buffer.from(`user:${SECRET}`).toString('base64'))
  expect(files.filter((path) => isLeaking(readFileSync(path, 'latin1') + path))).toEqual([])
  expect(existsSync(store)).toBe(false)
})

test('no message has the password', async () => {
  const { server } = await hosts.start(() => serveHttp())
  const locked = await hosts.serve(() => serveHttp({ login: 'user:right' }))
  const reports: unknown[] = []
  const urls = [
    // The wrong one; a server that is not there; no repository.
    withLogin(locked.url, SECRET),
    withLogin('http://127.0.0.1:1/team.git', SECRET),
    withLogin(`${server.url}-other`, SECRET),
  ]
  for (const url of urls) {
    const remote = await hosts.open(server, { url })
    const error: unknown = await remote.init().catch((reason: unknown) => reason)
    reports.push(error)
    expect(error).toMatchObject({ name: 'SavestateError' })
  }
  const text = JSON.stringify(
    reports.map((error) => [error, String(error), (error as Error).stack]),
  )
  expect(text).not.toContain('hunter2')
  expect(reports.map((error) => (error as { code: string }).code)).toEqual([
    'REMOTE_REFUSED',
    'REMOTE_UNREACHABLE',
    'REMOTE_REFUSED',
  ])
})
