// Several hosts, several processes of one host, and servers that say no.
import { spawn } from 'node:child_process'
import { chmodSync, existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { expect, test } from 'vitest'
import {
  serveFiles,
  serveGit,
  serveHttp,
  type GitServer,
} from '../../support/git-server/git-servers.js'
import {
  bytesOf,
  headOf,
  holder,
  positionOf,
  readPacks,
  session,
  startThread,
  startWriter,
  textsOf,
  thread,
} from '../../support/remote/writer.js'
import { gitHosts } from './git-hosts.js'

const hosts = gitHosts()

/** A hook of the server. */
function addHook(server: GitServer, name: string, script: string): string {
  const path = join(server.repository, 'hooks', name)
  writeFileSync(path, `#!/bin/sh\n${script}\n`)
  chmodSync(path, 0o755)
  return path
}

const ONE_PACK = {
  packs: [{ id: 'p1', parent: null, tree: '1'.repeat(40), project: null, bytes: bytesOf(500, 1) }],
  checkpoints: [{ id: 'c1', step: 1, pack: 'p1' }],
}

test('hosts that push at once lose nothing', async () => {
  const { server, remote } = await hosts.start(serveFiles)
  const others = [await hosts.join(server), await hosts.join(server)]
  const work = [remote, ...others].map(async (client, index) => {
    const writer = await startWriter(client, session(`own ${index}`), { leaseMs: null })
    for (const text of ['one', 'two', 'three']) await writer.commit(text, { leaseMs: null })
    // And all on one thread: the loser of a race reads the head, and encodes again.
    for (let done = 0; done < 2; ) {
      const head = await client.head(thread('common'))
      const position = head === undefined ? undefined : positionOf(head)
      const next = startThread(client, 'common', position)
      const result = await next.send(next.prepare(`${index} ${done}`))
      if (result.kind === 'done') done += 1
    }
  })
  await Promise.all(work)
  const reader = await hosts.join(server)
  for (const index of [0, 1, 2])
    expect(await textsOf(reader, session(`own ${index}`))).toEqual(['one', 'two', 'three'])
  const common = await textsOf(reader, thread('common'))
  expect(common.toSorted()).toEqual(['0 0', '0 1', '1 0', '1 1', '2 0', '2 1'])
  expect(server.git('fsck', '--strict', '--no-dangling')).toBe('')
})

test('processes of one machine share a copy', async () => {
  const folder = hosts.addFolder()
  const { server, remote } = await hosts.start(serveFiles, { folder })
  const clients = [
    remote,
    await hosts.join(server, { folder }),
    await hosts.join(server, { folder }),
  ]
  await Promise.all(
    clients.map(async (client, index) => {
      const writer = await startWriter(client, session(`s${index}`), { leaseMs: null })
      await writer.commit('one', { leaseMs: null })
    }),
  )
  const ids = (await remote.heads()).map(({ log }) => log.id)
  expect(ids.toSorted()).toEqual(['s0', 's1', 's2'])
})

test('a fork that uses the packs of its origin survives it', async () => {
  const { server, remote } = await hosts.start(serveFiles)
  const origin = await startWriter(remote, session('origin'), { leaseMs: null })
  await origin.commit('one', { ...ONE_PACK, leaseMs: null })
  const pack = { id: 'p2', parent: 'p1', tree: '2'.repeat(40), project: null, bytes: bytesOf(9, 2) }
  await origin.commit('two', {
    packs: [pack],
    checkpoints: [{ id: 'c2', step: 2, pack: 'p2' }],
    leaseMs: null,
  })
  const other = await hosts.join(server)
  const fork = await startWriter(other, session('fork'), { leaseMs: null })
  await fork.commit('forked', { checkpoints: [{ id: 'f1', step: 1, pack: 'p2' }], leaseMs: null })
  expect(await remote.deleteLog(origin.log, origin.fence)).toBe(true)
  // The fork still has both.
  expect(await remote.collectPacks()).toEqual({ removed: 0, bytes: 0 })
  const read = await readPacks(await hosts.join(server), 'p2')
  expect(read.map(({ id, length }) => [id, length])).toEqual([
    ['p1', 500],
    ['p2', 9],
  ])
  expect(await other.deleteLog(fork.log, fork.fence)).toBe(true)
  expect(await other.collectPacks()).toMatchObject({ removed: 2 })
})

test('the server can forget what was removed', async () => {
  const { server, remote } = await hosts.start(serveFiles)
  const writer = await startWriter(remote, session('gone'), { leaseMs: null })
  await writer.commit('one', { ...ONE_PACK, leaseMs: null })
  await remote.deleteLog(writer.log, writer.fence)
  await remote.collectPacks()
  server.git('gc', '--quiet', '--prune=now')
  const objects = server.git('cat-file', '--batch-all-objects', '--batch-check=%(objecttype)')
  // The format and the tombstone; no segment and no chunk.
  expect(objects.split('\n').filter((type) => type === 'blob')).toHaveLength(2)
})

test('a shared repository that denies forced updates of branches takes ours', async () => {
  const { server, remote } = await hosts.start(serveFiles)
  // As `git init --shared` sets it.
  server.git('config', 'receive.denyNonFastForwards', 'true')
  const writer = await startWriter(remote, session('kept'), { leaseMs: null })
  for (const text of ['one', 'two', 'three']) await writer.commit(text, { leaseMs: null })
  expect(await textsOf(await hosts.join(server), writer.log)).toEqual(['one', 'two', 'three'])
})

test('a hook of the server that rejects a push is quoted', async () => {
  const { server, remote } = await hosts.start(serveFiles)
  addHook(server, 'pre-receive', 'echo "only on Mondays" >&2; exit 1')
  await expect(startWriter(remote, session('a'))).rejects.toMatchObject({
    code: 'REMOTE_REFUSED',
    message: expect.stringContaining('only on Mondays') as unknown,
  })
  expect(await remote.head(session('a'))).toBe(undefined)
})

test('a server that takes no pushes is refused', async () => {
  const { server, remote } = await hosts.start(serveGit)
  server.git('config', 'daemon.receivepack', 'false')
  await expect(startWriter(remote, session('a'))).rejects.toMatchObject({
    code: 'REMOTE_REFUSED',
  })
})

test('a server that cannot update two refs at once takes no files', async () => {
  const { server, remote } = await hosts.start(serveFiles)
  server.git('config', 'receive.advertiseAtomic', 'false')
  const writer = await startWriter(remote, session('a'), { leaseMs: null })
  await writer.commit('one', { leaseMs: null })
  await expect(writer.commit('two', { ...ONE_PACK, leaseMs: null })).rejects.toMatchObject({
    code: 'REMOTE_REFUSED',
    message: expect.stringContaining('atomic') as unknown,
  })
  expect(await textsOf(remote, writer.log)).toEqual(['one'])
})

test('a repository that does not exist is refused', async () => {
  const { server } = await hosts.start(serveFiles)
  const remote = await hosts.open(server, { url: `${server.url}-other` })
  await expect(remote.init()).rejects.toMatchObject({ code: 'REMOTE_REFUSED' })
})

test('there are no claims', async () => {
  const { remote } = await hosts.start(serveFiles)
  await expect(remote.claim({ holder: holder('a'), leaseMs: 1000 })).rejects.toMatchObject({
    code: 'BAD_INPUT',
    message: expect.stringContaining('has no claims') as unknown,
  })
})

test('a connection that is cut before the push leaves the log as it was', async () => {
  let isUp = true
  const serve = () => serveHttp({ isUp: (path) => isUp || !path.endsWith('/git-receive-pack') })
  const { remote } = await hosts.start(serve)
  const writer = await startWriter(remote, session('cut'), { leaseMs: null })
  isUp = false
  const commit = writer.prepare('one', { leaseMs: null })
  await expect(remote.commit(commit)).rejects.toMatchObject({ code: 'REMOTE_UNREACHABLE' })
  expect(await textsOf(remote, writer.log)).toEqual([])
  isUp = true
  expect(await remote.commit(commit)).toMatchObject({ kind: 'done' })
  expect(await textsOf(remote, writer.log)).toEqual(['one'])
})

test('a lost answer to a push is noticed', async () => {
  let losesAnswers = false
  const serve = () =>
    serveHttp({ losesAnswer: (path) => losesAnswers && path.endsWith('/git-receive-pack') })
  const { remote } = await hosts.start(serve)
  const writer = await startWriter(remote, session('lost answer'), { leaseMs: null })
  losesAnswers = true
  // Without asking the server again, the caller would not know that it has the lease.
  const other = await startWriter(remote, session('lost answer 2'), { leaseMs: null })
  await writer.commit('one', { leaseMs: null })
  losesAnswers = false
  expect((await headOf(remote, other.log)).fence).toBe(other.fence)
  expect(await textsOf(remote, writer.log)).toEqual(['one'])
})

test('a server that does not answer is given up', async () => {
  let isSilent = false
  const serve = () => serveHttp({ isSilent: () => isSilent })
  const { server } = await hosts.start(serve)
  const remote = await hosts.join(server, { timeoutMs: 1000 })
  isSilent = true
  await expect(remote.heads()).rejects.toMatchObject({ code: 'REMOTE_UNREACHABLE' })
})

test('a ref that went back is a conflict, and a reader notices', async () => {
  const { server, remote } = await hosts.start(serveFiles)
  const writer = await startWriter(remote, session('back'), { leaseMs: null })
  await writer.commit('one', { leaseMs: null })
  const ref = server.git('for-each-ref', '--format=%(refname)', 'refs/savestate/session')
  const old = server.git('rev-parse', ref)
  await writer.commit('two', { leaseMs: null })
  const known = { n: 2, hash: writer.position.hash, epoch: 0 }
  // A backup was restored.
  server.git('update-ref', ref, old)
  expect(await headOf(remote, writer.log)).toMatchObject({ nextN: 2, fence: writer.fence })
  const late = writer.prepare('three', { leaseMs: null })
  expect(await remote.commit(late)).toMatchObject({ kind: 'conflict', head: { nextN: 2 } })
  const head = await headOf(remote, writer.log)
  writer.position = positionOf(head)
  await writer.commit('another two', { leaseMs: null })
  await writer.commit('another three', { leaseMs: null })
  const read = async () => {
    for await (const segment of remote.segments(writer.log, known)) expect(segment.n).toBe(3)
  }
  await expect(read()).rejects.toMatchObject({ code: 'REMOTE_WENT_BACK' })
})

test('a process that is killed while it pushes leaves a usable copy', async () => {
  const folder = hosts.addFolder()
  const { server, remote } = await hosts.start(serveFiles, { folder })
  const mark = join(server.repository, 'waiting')
  const hook = addHook(
    server,
    'pre-receive',
    `touch ${mark}\nwhile test -e ${mark}; do sleep 0.05; done\nexit 1`,
  )
  const input = fileURLToPath(new URL('../../../src/remote/index.ts', import.meta.url))
  const checks = { ineffectiveDynamicImport: false }
  const build = await rolldown({ input, platform: 'node', external: ['pg'], checks })
  const code = join(folder, 'code')
  await build.write({ dir: code, format: 'esm' })
  await build.close()
  // Node 20 has no SQLite; the program finds its own above its files.
  symlinkSync(fileURLToPath(new URL('../../../dist', import.meta.url)), join(folder, 'dist'))
  const request = {
    log: session('a'),
    holder: holder('killed'),
    leaseMs: null,
    create: { agent: null, project: null },
  }
  const script = `
    const { openRemote } = await import(${JSON.stringify(join(code, 'index.js'))})
    const remote = await openRemote(${JSON.stringify({ url: server.url, folder })})
    await remote.take(${JSON.stringify(request)})`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'inherit' })
  await expect.poll(() => existsSync(mark)).toBe(true)
  const ended = new Promise((resolve) => child.on('exit', (_code, signal) => resolve(signal)))
  child.kill('SIGKILL')
  expect(await ended).toBe('SIGKILL')
  rmSync(hook)
  rmSync(mark)
  const writer = await startWriter(remote, session('a'), { leaseMs: null })
  await writer.commit('one', { leaseMs: null })
  expect(await textsOf(remote, writer.log)).toEqual(['one'])
  expect(readFileSync(join(server.repository, 'HEAD'), 'utf8')).toContain('ref: ')
})
