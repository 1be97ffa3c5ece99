// Data that another host has pushed: heads of any shape, refs to anything, missing files.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  decodeManifest,
  emptyManifest,
  encodeManifest,
  type LogManifest,
} from '../../../src/remote/git/log-manifest.js'
import type { Remote } from '../../../src/remote/index.js'
import { escapeId, logOfRef, logRef } from '../../../src/remote/git/ref-names.js'
import { type GitServer, serveFiles } from '../../support/git-server/git-servers.js'
import { replaceFile } from '../../support/git-server/replace-file.js'
import { runGit } from '../../support/scratch.js'
import {
  bytesOf,
  readAll,
  readPacks,
  session,
  startWriter,
  Writer,
} from '../../support/remote/writer.js'
import { gitHosts } from './git-hosts.js'

const hosts = gitHosts()
/** Before the objects of a pack: its tree and its parent. */
const HEADER_BYTES = JSON.stringify({ tree: '2'.repeat(40), parent: null }).length + 1
const REF = 'refs/savestate/session/a/log'
const PACKS = 'refs/savestate/session/a/packs'
const PACK = { id: 'p', parent: null, tree: '1'.repeat(40), project: null, bytes: bytesOf(500, 1) }

/** A remote with a session `a` of two segments and a pack, and another one. */
async function start() {
  const { server, remote } = await hosts.start(serveFiles)
  const other = await startWriter(remote, session('b'), { leaseMs: null })
  await other.commit('one', { leaseMs: null })
  const writer = await startWriter(remote, session('a'), { leaseMs: null })
  await writer.commit('one', { leaseMs: null })
  await writer.commit('two', {
    packs: [PACK],
    checkpoints: [{ id: 'c', step: 1, pack: 'p' }],
    leaseMs: null,
  })
  return { server, writer, other, reader: await hosts.join(server) }
}

function replace(server: GitServer, ref: string, change: { path: string; content: string | null }) {
  replaceFile(server.repository, ref, change)
}

function headText(server: GitServer): Record<string, unknown> {
  return JSON.parse(server.git('cat-file', 'blob', `${REF}:head.json`)) as Record<string, unknown>
}

const LONG = Buffer.alloc((32 << 10) + 3, 'x').toString('base64')
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
  'a long card': (head) => ({ ...head, card: LONG }),
  'a long holder': (head) => ({ ...head, holder: LONG }),
  'a project with a long card': (head) => ({ ...head, project: { id: 'p', card: LONG } }),
  'a project with a long id': (head) => ({ ...head, project: { id: LONG, card: '' } }),
}

/** The code of each answer to questions about `a`, and what a list has. */
async function ask(reader: Remote) {
  const code = await reader.head(session('a')).then(
    () => 'accepted',
    (error: unknown) => (error as { code: string }).code,
  )
  const damaged: [string, string][] = []
  const heads = await reader.heads({
    onDamaged: ({ log, damage }) => damaged.push([`${log.kind} ${log.id}`, damage.code]),
  })
  return { code, heads: heads.map(({ log }) => log.id), damaged }
}

const refused = (code: string) => ({ code, heads: ['b'], damaged: [['session a', code]] })

test('heads of any shape are refused, and left out of a list', async () => {
  const { server, reader } = await start()
  const [ref, head] = [server.git('rev-parse', REF), headText(server)]
  const answers: Record<string, unknown> = {}
  for (const [name, change] of Object.entries(HEADS)) {
    const content = JSON.stringify(change(head)) ?? '{'
    replace(server, REF, { path: 'head.json', content })
    answers[name] = await ask(reader)
    server.git('update-ref', REF, ref)
  }
  const expected = Object.keys(HEADS).map((name) => [name, refused('STORE_DAMAGED')])
  expect(answers).toEqual(Object.fromEntries(expected))
  expect(await reader.head(session('a'))).toMatchObject({ nextN: 3 })
})

test('a ref without a head, and one to something else than a commit, are left out too', async () => {
  const { server, reader } = await start()
  const blob = server.git('rev-parse', `${REF}:head.json`)
  replace(server, REF, { path: 'head.json', content: null })
  expect(await ask(reader)).toEqual(refused('STORE_DAMAGED'))
  server.git('update-ref', REF, blob)
  expect(await ask(reader)).toEqual(refused('STORE_DAMAGED'))
})

test('a head of more than 64 MB is not read', async () => {
  const { server, reader } = await start()
  const text = server.git('cat-file', 'blob', `${REF}:head.json`)
  replace(server, REF, { path: 'head.json', content: text.padEnd((64 << 20) + 1) })
  expect(await ask(reader)).toEqual(refused('STORE_DAMAGED'))
})

test('a damaged log keeps no one from sizes, uploads and collections, and loses no pack', async () => {
  const { server, reader, other } = await start()
  const ref = server.git('rev-parse', REF)
  // No checkpoint of the head needs the pack; that of the lost one does.
  const content = JSON.stringify({ ...headText(server), checkpoints: [], status: 'asleep' })
  replace(server, REF, { path: 'head.json', content })
  const { log, fence, position } = other
  const writer = new Writer(reader, log, { fence, position })
  const big = { id: 'big', parent: null, tree: '2'.repeat(40), project: null }
  expect(await reader.putPack(big, [bytesOf(300_000, 2)])).toBe('done')
  const checkpoints = [{ id: 'c', step: 1, pack: 'big' }]
  await writer.commit('two', { packs: [big], checkpoints, leaseMs: null })
  expect(await reader.sizes()).toEqual([{ log, segments: 2, checkpoints: 1 }])
  // A pack that only the damaged log has is sent again.
  const onPack = { checkpoints: [{ id: 'd', step: 2, pack: 'p' }], leaseMs: null }
  expect(await writer.send(writer.prepare('three', onPack))).toEqual({ kind: 'missing-pack' })
  await writer.commit('three', { removed: ['c'], leaseMs: null })
  expect(await reader.collectPacks()).toEqual({ removed: 1, bytes: 300_000 + HEADER_BYTES })
  server.git('update-ref', REF, ref)
  expect((await readPacks(await hosts.join(server), 'p')).map(({ length }) => length)).toEqual([
    500,
  ])
})

test('a head or a format of a newer version', async () => {
  const { server, reader } = await start()
  replace(server, REF, { path: 'head.json', content: '{"version":2}' })
  expect(await ask(reader)).toEqual(refused('STORE_NEWER'))
  const format = server.git('cat-file', 'blob', 'refs/savestate/format:format.json')
  const newer = format.replace('"version":1', '"version":2')
  replace(server, 'refs/savestate/format', { path: 'format.json', content: newer })
  // Also for a client that had opened the remote before (I8).
  await expect(reader.head(session('b'))).rejects.toMatchObject({ code: 'STORE_NEWER' })
  await expect(startWriter(reader, session('b'))).rejects.toMatchObject({ code: 'STORE_NEWER' })
  await expect(hosts.join(server)).rejects.toMatchObject({ code: 'STORE_NEWER' })
})

test('a format that is none, and one that is too long', async () => {
  const { server } = await start()
  const format = server.git('cat-file', 'blob', 'refs/savestate/format:format.json')
  for (const content of ['{"version":1}', format.padEnd((64 << 10) + 1)]) {
    replace(server, 'refs/savestate/format', { path: 'format.json', content })
    await expect(hosts.join(server)).rejects.toMatchObject({ code: 'STORE_DAMAGED' })
  }
})

test('a tree that contains another one many times is not listed to its end', async () => {
  const { server, reader, writer } = await start()
  const head = server.git('rev-parse', `${REF}:head.json`)
  let tree = head
  for (let depth = 0; depth < 8; depth++) {
    const entry = depth === 0 ? `100644 blob ${head}` : `040000 tree ${tree}`
    const lines = Array.from({ length: 30 }, (_, i) => `${entry}\t${'x'.repeat(50)}${i}\n`)
    tree = runGit(['mktree'], { cwd: server.repository, input: lines.join('') })
  }
  const top = `100644 blob ${head}\thead.json\n040000 tree ${tree}\tsegments\n`
  const root = runGit(['mktree'], { cwd: server.repository, input: top })
  for (const ref of [REF, PACKS])
    server.git('update-ref', ref, server.git('commit-tree', '-m', 'x', root))
  await expect(readAll(reader, writer.log)).rejects.toMatchObject({ code: 'STORE_DAMAGED' })
  await expect(readPacks(reader, 'p')).rejects.toMatchObject({ code: 'STORE_DAMAGED' })
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

test('a pack of more chunks than there are files', async () => {
  const { server, reader } = await start()
  for (const chunks of [2, 2 ** 32]) {
    const packs = [['p', null, '1'.repeat(40), null, chunks, 500]]
    const content = JSON.stringify({ ...headText(server), packs })
    replace(server, REF, { path: 'head.json', content })
    await expect(readPacks(reader, 'p')).rejects.toMatchObject({ code: 'STORE_DAMAGED' })
  }
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
      const escaped = escapeId(a)
      expect(escaped).toMatch(/^[a-z0-9_=-]{1,200}$/)
      const log = { kind: 'thread', id: escaped.startsWith('=h') ? escaped : a } as const
      expect(logOfRef(logRef({ kind: 'thread', id: a }))).toEqual(log)
      expect(escaped === escapeId(b)).toBe(a === b)
    }),
    { numRuns: 1000 },
  )
})
