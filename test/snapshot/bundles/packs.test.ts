// A snapshot that was sent in packs is the same on the other host: same id, and complete by git's judgement.
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { deflateSync } from 'node:zlib'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { INLINE_PACK_BYTES, type ObjectId, PACK_CHUNK_BYTES } from '../../../src/model/index.js'
import { tries } from '../../support/test-budget.js'
import { perform, plainSeries } from '../watch/random-edits.js'
import { bytesOf, Host, idsIn } from './bundle-helpers.js'

/** Bytes that do not compress, the same in each run. */
function noise(bytes: number, seed = 1): Buffer {
  const content = Buffer.allocUnsafe(bytes)
  let state = seed
  for (let at = 0; at + 4 <= bytes; at += 4) {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    content.writeInt32LE(state, at)
  }
  return content
}

function write(host: Host, files: Readonly<Record<string, string | Uint8Array>>): void {
  for (const [name, content] of Object.entries(files)) {
    const path = join(host.folder, 'project', name)
    mkdirSync(join(path, '..'), { recursive: true })
    writeFileSync(path, content)
  }
}

test('a chain of packs brings any snapshot to any host', { timeout: 240_000 }, async () => {
  const steps = fc.array(fc.tuple(plainSeries, fc.nat(3)), { minLength: 2, maxLength: 6 })
  await fc.assert(
    fc.asyncProperty(steps, async (series) => {
      await using sender = await Host.start()
      await using follower = await Host.start()
      await using late = await Host.start()
      const chain: { readonly tree: ObjectId; readonly bytes: Buffer }[] = []
      let followed = 0
      for (const [edits, turn] of series) {
        for (const edit of edits) perform(join(sender.folder, 'project'), edit)
        const tree = await sender.save()
        const base = chain.at(-1)?.tree ?? null
        if (tree === base) continue
        const bytes = await bytesOf(await sender.snapshots.exportPack({ tree, base }))
        chain.push({ tree, bytes })
        // This host fetches now and then, and then only what it does not have.
        if (turn > 0) continue
        const packs = chain.slice(followed).map((pack) => ({ chunks: [pack.bytes] }))
        await follower.receive(tree, packs)
        followed = chain.length
      }
      for (const [index, { tree }] of chain.entries()) {
        const packs = chain.slice(0, index + 1).map(({ bytes }) => ({ chunks: [bytes] }))
        await late.receive(tree, packs)
        expect(late.reachable(tree)).toEqual(sender.reachable(tree))
      }
    }),
    { numRuns: tries(40, 6) },
  )
})

test('modes, links, empty folders and odd names arrive as they were', async () => {
  await using sender = await Host.start()
  await using receiver = await Host.start()
  const inside = (name: string) =>
    Buffer.concat([Buffer.from(`${sender.folder}/project/`), Buffer.from(name, 'latin1')])
  mkdirSync(inside('empty'), { mode: 0o711 })
  mkdirSync(inside('folder\n\xff'))
  writeFileSync(inside('folder\n\xff/private'), 'x', { mode: 0o600 })
  writeFileSync(inside('run me'), '#!/bin/sh\n', { mode: 0o750 })
  writeFileSync(inside('nothing'), '')
  symlinkSync('../outside', inside('link'))
  const tree = await sender.save()
  await receiver.receive(tree, [await sender.snapshots.exportPack({ tree, base: null })])
  const listing = ['ls-tree', '-r', '-t', '-z', tree]
  expect(receiver.gitBytes(...listing)).toEqual(sender.gitBytes(...listing))
  const modes = ['cat-file', 'blob', `${tree}:modes`]
  expect(receiver.gitBytes(...modes)).toEqual(sender.gitBytes(...modes))
})

test('a pack has the new objects and no others', async () => {
  await using sender = await Host.start()
  const files = Array.from({ length: 300 }, (_, i) => [`d${i % 20}/f${i}`, `content ${i}`])
  write(sender, Object.fromEntries(files))
  const base = await sender.save()
  write(sender, { 'd7/f7': 'changed' })
  const tree = await sender.save()
  const known = sender.reachable(base)
  const fresh = [...sender.reachable(tree)].filter((id) => !known.has(id))
  const pack = await sender.snapshots.exportPack({ tree, base })
  // The snapshot, its `files`, the folder and the file.
  expect(fresh).toHaveLength(4)
  const bytes = await bytesOf(pack)
  expect(idsIn(bytes).toSorted()).toEqual(fresh.toSorted())
  expect(pack.sizeBytes).toBe(bytes.length)
  expect(await sender.snapshots.estimatePack({ tree, base })).toBe(bytes.length)
  expect(await bytesOf(await sender.snapshots.exportPack({ tree, base }))).toEqual(bytes)
})

test('what was moved is not sent again', async () => {
  await using sender = await Host.start()
  write(sender, { 'a/one': '1', 'a/b/two': '2', 'c/three': '3' })
  const base = await sender.save()
  renameSync(join(sender.folder, 'project/a'), join(sender.folder, 'project/c/moved'))
  const tree = await sender.save()
  const bytes = await bytesOf(await sender.snapshots.exportPack({ tree, base }))
  // The snapshot, its `files`, and the folder c.
  expect(idsIn(bytes)).toHaveLength(3)
})

test('two equal snapshots differ in nothing', async () => {
  await using sender = await Host.start()
  const tree = await sender.save()
  const pack = await sender.snapshots.exportPack({ tree, base: tree })
  expect(idsIn(await bytesOf(pack))).toEqual([])
})

// A loose object, an entry of a pack, and deltas, which git has to read.
test.each(['loose', 'packed', 'deltas'])('large files in chunks: %s', async (form) => {
  await using sender = await Host.start()
  await using receiver = await Host.start({ inProcess: false })
  const large = noise(17 << 20)
  const files = { large, zeros: Buffer.alloc(18 << 20), middle: noise(5 << 20, 5) }
  write(sender, { ...files, similar: Buffer.concat([files.middle, Buffer.from('more')]) })
  const tree = await sender.save()
  if (form === 'packed') sender.git('-c', 'core.bigFileThreshold=1', 'repack', '-adq')
  if (form === 'deltas') sender.git('repack', '-adfq')
  const bases = sender.git('cat-file', '--batch-all-objects', '--batch-check=%(deltabase)')
  expect(/[1-9a-f]/.test(bases)).toBe(form === 'deltas')
  const pack = await sender.snapshots.exportPack({ tree, base: null })
  expect(pack.bytes).toBeUndefined()
  const chunks: Uint8Array[] = []
  for await (const chunk of pack.chunks) chunks.push(chunk)
  const lengths = chunks.map(({ length }) => length)
  expect(lengths.slice(0, -1).every((length) => length === PACK_CHUNK_BYTES)).toBe(true)
  const total = lengths.reduce((sum, length) => sum + length, 0)
  // The size of a delta says nothing about the object.
  expect(pack.sizeBytes === total).toBe(form !== 'deltas')
  await receiver.receive(tree, [{ chunks }])
  expect(receiver.reachable(tree)).toEqual(sender.reachable(tree))
  expect(receiver.gitBytes('cat-file', 'blob', `${tree}:files/large`).equals(large)).toBe(true)
})

test('a pack is whole up to the limit for packs within a commit', async () => {
  await using sender = await Host.start()
  write(sender, { file: noise(INLINE_PACK_BYTES - 2000) })
  const below = await sender.save()
  write(sender, { file: noise(INLINE_PACK_BYTES) })
  const above = await sender.save()
  const [small, large] = [
    await sender.snapshots.exportPack({ tree: below, base: null }),
    await sender.snapshots.exportPack({ tree: above, base: null }),
  ]
  expect([small.bytes?.length, large.bytes]).toEqual([(await bytesOf(small)).length, undefined])
  // A reader that leaves the loop disturbs no other.
  for await (const chunk of large.chunks) {
    expect(chunk.length).toBeGreaterThan(INLINE_PACK_BYTES)
    break
  }
  const again = await sender.snapshots.exportPack({ tree: above, base: null })
  expect(idsIn(await bytesOf(again))).toHaveLength(4)
})

test('a damaged object is not sent', async () => {
  await using sender = await Host.start()
  write(sender, { file: 'content' })
  const tree = await sender.save()
  const id = sender.git('rev-parse', `${tree}:files/file`)
  const path = join(sender.home, 'objects.git/objects', id.slice(0, 2), id.slice(2))
  rmSync(path)
  const content = Buffer.from('blob 7\0CONTENT')
  writeFileSync(path, deflateSync(content))
  await expect(sender.snapshots.exportPack({ tree, base: null })).rejects.toMatchObject({
    code: 'STORE_DAMAGED',
  })
})

test('a snapshot that the store lacks is reported', async () => {
  await using sender = await Host.start()
  const tree = await sender.save()
  const unknown = 'a'.repeat(40) as ObjectId
  for (const content of [
    { tree: unknown, base: null },
    { tree, base: unknown },
  ])
    await expect(sender.snapshots.exportPack(content)).rejects.toMatchObject({
      code: 'STORE_DAMAGED',
    })
})
