// Data that another host has pushed: heads of any shape, refs to anything, missing files.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  decodeManifest,
  emptyManifest,
  encodeManifest,
  type LogManifest,
} from '../../../src/remote/git/log-manifest.js'
import { escapeId } from '../../../src/remote/git/ref-names.js'
import { type GitServer, serveFiles } from '../../support/git-server/git-servers.js'
import { runGit } from '../../support/scratch.js'
import { bytesOf, readAll, readPacks, session, startWriter } from '../../support/remote/writer.js'
import { gitHosts } from './git-hosts.js'

const hosts = gitHosts()
const REF = 'refs/savestate/session/a/log'
const PACKS = 'refs/savestate/session/a/packs'
const PACK = { id: 'p', parent: null, tree: '1'.repeat(40), project: null, bytes: bytesOf(500, 1) }

/** A remote with a session of two segments and a pack. */
async function start() {
  const { server, remote } = await hosts.start(serveFiles)
  const writer = await startWriter(remote, session('a'), { leaseMs: null })
  await writer.commit('one', { leaseMs: null })
  await writer.commit('two', {
    packs: [PACK],
    checkpoints: [{ id: 'c', step: 1, pack: 'p' }],
    leaseMs: null,
  })
  return { server, writer, reader: await hosts.join(server) }
}

/** Replaces one file in the tree of a ref; null removes it. */
function replace(server: GitServer, ref: string, change: { path: string; content: string | null }) {
  const { path, content } = change
  const env = { GIT_INDEX_FILE: `${server.repository}/index` }
  const git = (args: readonly string[], input = '') =>
    runGit(args, { cwd: server.repository, env, input })
  git(['read-tree', ref])
  if (content === null) git(['rm', '--cached', '--quiet', path])
  else {
    const blob = git(['hash-object', '-w', '--stdin'], content)
    git(['update-index', '--add', '--cacheinfo', `100644,${blob},${path}`])
  }
  git(['update-ref', ref, git(['commit-tree', '-m', 'x', git(['write-tree'])])])
}

function headText(server: GitServer): Record<string, unknown> {
  return JSON.parse(server.git('cat-file', 'blob', `${REF}:head.json`)) as Record<string, unknown>
}

const HEADS: Readonly<Record<string, (head: Record<string, unknown>) => unknown>> = {
  'no JSON': () => undefined,
  'a list': () => [],
  'another log': (head) => ({ ...head, id: 'b' }),
  'another kind': (head) => ({ ...head, kind: 'thread' }),
  'a position that is no number': (head) => ({ ...head, nextN: '3' }),
  'a position below nothing': (head) => ({ ...head, nextN: -1 }),
  'a hash that is none': (head) => ({ ...head, hash: 'x' }),
  'an unknown status': (head) => ({ ...head, status: 'asleep' }),
  'segments that are none': (head) => ({ ...head, segments: [[1, null, 'x', 1]] }),
  'checkpoints that are none': (head) => ({ ...head, checkpoints: [['c']] }),
  'packs that are none': (head) => ({ ...head, packs: [['p', null, 1]] }),
}

test('heads of any shape are refused', async () => {
  const { server, reader } = await start()
  const [ref, head] = [server.git('rev-parse', REF), headText(server)]
  const codes: Record<string, unknown> = {}
  for (const [name, change] of Object.entries(HEADS)) {
    const content = JSON.stringify(change(head)) ?? '{'
    replace(server, REF, { path: 'head.json', content })
    const failures = [reader.head(session('a')), reader.heads()].map((call) =>
      call.then(
        () => 'accepted',
        (error: unknown) => (error as { code: string }).code,
      ),
    )
    codes[name] = await Promise.all(failures)
    server.git('update-ref', REF, ref)
  }
  const refused = Object.keys(HEADS).map((name) => [name, ['STORE_DAMAGED', 'STORE_DAMAGED']])
  expect(codes).toEqual(Object.fromEntries(refused))
  expect(await reader.head(session('a'))).toMatchObject({ nextN: 3 })
})

test('a head or a format of a newer version', async () => {
  const { server, reader, writer } = await start()
  replace(server, REF, { path: 'head.json', content: '{"version":2}' })
  await expect(reader.head(writer.log)).rejects.toMatchObject({ code: 'STORE_NEWER' })
  const format = server.git('cat-file', 'blob', 'refs/savestate/format:format.json')
  const newer = format.replace('"version":1', '"version":2')
  replace(server, 'refs/savestate/format', { path: 'format.json', content: newer })
  // Also for a client that had opened the remote before (I8).
  await expect(reader.head(session('b'))).rejects.toMatchObject({ code: 'STORE_NEWER' })
  await expect(startWriter(reader, session('b'))).rejects.toMatchObject({ code: 'STORE_NEWER' })
  await expect(hosts.join(server)).rejects.toMatchObject({ code: 'STORE_NEWER' })
})

test('a format that is none', async () => {
  const { server } = await start()
  replace(server, 'refs/savestate/format', { path: 'format.json', content: '{"version":1}' })
  await expect(hosts.join(server)).rejects.toMatchObject({ code: 'STORE_DAMAGED' })
})

test('a ref to something else than a commit', async () => {
  const { server, reader, writer } = await start()
  server.git('update-ref', REF, server.git('rev-parse', `${REF}:head.json`))
  await expect(reader.head(writer.log)).rejects.toMatchObject({ code: 'STORE_DAMAGED' })
})

test('a ref without a head', async () => {
  const { server, reader, writer } = await start()
  replace(server, REF, { path: 'head.json', content: null })
  await expect(reader.head(writer.log)).rejects.toMatchObject({ code: 'STORE_DAMAGED' })
})

test('a missing segment, and one of another content', async () => {
  const { server, reader, writer } = await start()
  replace(server, REF, { path: 'segments/1', content: 'other' })
  await expect(readAll(reader, writer.log)).rejects.toMatchObject({ code: 'STORE_DAMAGED' })
  replace(server, REF, { path: 'segments/1', content: null })
  await expect(readAll(reader, writer.log)).rejects.toMatchObject({ code: 'STORE_DAMAGED' })
})

test('a missing chunk of a pack, and one of another size', async () => {
  const { server, reader } = await start()
  replace(server, PACKS, { path: 'p/0', content: 'other' })
  await expect(readPacks(reader, 'p')).rejects.toMatchObject({ code: 'STORE_DAMAGED' })
  replace(server, PACKS, { path: 'q/0', content: 'x' })
  replace(server, PACKS, { path: 'p/0', content: null })
  await expect(readPacks(reader, 'p')).rejects.toMatchObject({ code: 'STORE_DAMAGED' })
  server.git('update-ref', '-d', PACKS)
  await expect(readPacks(reader, 'p')).rejects.toMatchObject({ code: 'STORE_DAMAGED' })
})

test('a circle of packs', async () => {
  const { server, reader } = await start()
  const packs = [['p', 'p', '1'.repeat(40), null, 1, 500]]
  const content = JSON.stringify({ ...headText(server), packs })
  replace(server, REF, { path: 'head.json', content })
  await expect(readPacks(reader, 'p')).rejects.toMatchObject({ code: 'STORE_DAMAGED' })
})

test('a manifest is read as it was written', () => {
  const hash = fc.option(fc.constantFrom('a'.repeat(64), '0'.repeat(64)))
  const bytes = fc.option(fc.uint8Array().map((it) => Buffer.from(it)))
  const project = fc.option(
    fc.record({ id: fc.string(), card: bytes.map((it) => it ?? Buffer.of(1)) }),
  )
  const manifests: fc.Arbitrary<LogManifest> = fc.record({
    log: fc.record({ kind: fc.constantFrom('session', 'thread'), id: fc.string() }),
    nextN: fc.nat(),
    epoch: fc.nat(),
    fence: fc.nat(),
    hash,
    status: fc.constantFrom('in_progress', 'halted'),
    updatedAtMs: fc.nat(),
    card: bytes,
    agent: fc.option(fc.string()),
    project,
    holder: bytes,
    isDeleted: fc.boolean(),
    segments: fc.array(
      fc.record({ n: fc.nat(), prev: hash, hash: fc.constant('b'.repeat(64)), bytes: fc.nat() }),
    ),
    checkpoints: fc.array(
      fc.record({ id: fc.string(), step: fc.nat(), pack: fc.option(fc.string()) }),
    ),
    packs: fc.constant(new Map()),
  })
  fc.assert(
    fc.property(manifests, (manifest) => {
      expect(decodeManifest(encodeManifest(manifest))).toEqual(manifest)
    }),
  )
  const empty = emptyManifest(session('a'), { agent: null, project: null })
  expect(decodeManifest(encodeManifest(empty))).toEqual(empty)
})

test('names of refs are different for different ids, and safe', () => {
  const ids = fc.oneof(
    fc.string({ maxLength: 300 }),
    fc.constantFrom('', '.', '..', 'a.lock', 'A', 'a', '-', 'a/b', '@{', 'a b', '=41', '\0', 'é'),
  )
  fc.assert(
    fc.property(ids, ids, (a, b) => {
      expect(escapeId(a)).toMatch(/^[a-z0-9_=-]{1,200}$/)
      expect(escapeId(a) === escapeId(b)).toBe(a === b)
    }),
    { numRuns: 1000 },
  )
})
