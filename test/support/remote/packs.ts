// Packs: their chains, their size, and their collection.
import { expect, test } from 'vitest'
import { INLINE_PACK_BYTES, PACK_CHUNK_BYTES } from '../../../src/model/index.js'
import type { CommitPack } from '../../../src/remote/index.js'
import type { RemoteClients } from './remote-contract.js'
import { bytesOf, digest, readPacks, session, startWriter, textsOf } from './writer.js'

const tree = (digit: number) => `${digit}`.repeat(40)

function pack(id: string, parent: string | null, digit: number, length = 3000): CommitPack {
  return { id, parent, tree: tree(digit), project: null, bytes: bytesOf(length, digit) }
}

const checkpoint = (step: number, id: string | null) => ({
  id: `c${step}`,
  step,
  pack: id,
})

export function describePacks({ remote, openOther }: RemoteClients): void {
  test('a chain of packs is read from its outermost parent on', async () => {
    const writer = await startWriter(remote(), session('chain'))
    await writer.commit('one', {
      packs: [pack('chain1', null, 1), pack('chain2', 'chain1', 2)],
      checkpoints: [checkpoint(1, 'chain1'), checkpoint(2, 'chain2')],
    })
    await writer.commit('two', {
      packs: [pack('chain3', 'chain2', 3, INLINE_PACK_BYTES)],
      checkpoints: [checkpoint(3, 'chain3')],
    })
    const other = await openOther()
    const all = [
      { id: 'chain1', parent: null, tree: tree(1), ...digest(bytesOf(3000, 1)) },
      { id: 'chain2', parent: 'chain1', tree: tree(2), ...digest(bytesOf(3000, 2)) },
      { id: 'chain3', parent: 'chain2', tree: tree(3), ...digest(bytesOf(INLINE_PACK_BYTES, 3)) },
    ]
    expect(await readPacks(other, 'chain3')).toEqual(all)
    expect(await readPacks(other, 'chain3', new Set(['chain1']))).toEqual(all.slice(1))
    expect(await readPacks(other, 'chain3', new Set(['chain3']))).toEqual([])
    expect(await readPacks(other, 'chain1')).toEqual(all.slice(0, 1))
  })

  test('a large pack is uploaded first, and arrives whole', async () => {
    const writer = await startWriter(remote(), session('large pack'))
    const bytes = bytesOf(3 * PACK_CHUNK_BYTES + 17, 4)
    // In pieces that do not match the chunks.
    const pieces = Array.from({ length: 10 }, (_, i) =>
      bytes.subarray((i * bytes.length) / 10, ((i + 1) * bytes.length) / 10),
    )
    const big = { id: 'big', parent: null, tree: tree(4), project: null }
    expect(await remote().putPack(big, pieces)).toBe('done')
    // The answer was lost, or another process sends the same pack.
    expect(await remote().putPack(big, pieces)).toBe('done')
    await writer.commit('one', {
      packs: [big, pack('small', 'big', 5)],
      checkpoints: [checkpoint(1, 'small')],
    })
    const read = await readPacks(await openOther(), 'small')
    expect(read.map(({ id }) => id)).toEqual(['big', 'small'])
    expect(read[0]).toEqual({ id: 'big', parent: null, tree: tree(4), ...digest(bytes) })
  })

  test('an empty pack is a pack', async () => {
    const writer = await startWriter(remote(), session('empty pack'))
    await writer.commit('one', {
      packs: [pack('empty', null, 6, 0)],
      checkpoints: [checkpoint(1, 'empty')],
    })
    expect(await readPacks(remote(), 'empty')).toEqual([
      { id: 'empty', parent: null, tree: tree(6), ...digest(Buffer.alloc(0)) },
    ])
  })

  test('a pack whose parent is missing is not committed', async () => {
    const log = session('missing parent')
    const writer = await startWriter(remote(), log)
    const commit = writer.prepare('one', {
      packs: [pack('orphan', 'no such pack', 7)],
      checkpoints: [checkpoint(1, 'orphan')],
    })
    expect(await writer.send(commit)).toEqual({ kind: 'missing-pack' })
    const unknown = writer.prepare('one', { checkpoints: [checkpoint(1, 'no such pack')] })
    expect(await writer.send(unknown)).toEqual({ kind: 'missing-pack' })
    expect(await textsOf(remote(), log)).toEqual([])
    await writer.commit('one', {
      packs: [pack('full', null, 7)],
      checkpoints: [checkpoint(1, 'full')],
    })
    expect(await textsOf(remote(), log)).toEqual(['one'])
  })

  test('a pack that the remote does not have is reported', async () => {
    await expect(readPacks(remote(), 'no such pack')).rejects.toMatchObject({
      code: 'STORE_DAMAGED',
    })
  })

  test('a collection removes what no checkpoint needs', async () => {
    const log = session('collect')
    const writer = await startWriter(remote(), log)
    await writer.commit('one', {
      packs: [pack('k1', null, 1), pack('k2', 'k1', 2), pack('k3', 'k2', 3)],
      checkpoints: [checkpoint(1, 'k1'), checkpoint(2, 'k2'), checkpoint(3, 'k3')],
    })
    await writer.commit('two', {
      packs: [pack('full4', null, 4)],
      checkpoints: [checkpoint(4, 'full4')],
      removed: ['c3'],
    })
    await remote().collectPacks()
    await expect(readPacks(remote(), 'k3')).rejects.toMatchObject({ code: 'STORE_DAMAGED' })
    expect((await readPacks(remote(), 'k2')).map(({ id }) => id)).toEqual(['k1', 'k2'])

    // The checkpoints of a base are all that the log has.
    await writer.commit('base', { isBase: true, checkpoints: [checkpoint(4, 'full4')] })
    const { removed, bytes } = await remote().collectPacks()
    expect(removed).toBe(2)
    expect(bytes).toBeGreaterThanOrEqual(6000)
    expect((await readPacks(remote(), 'full4')).map(({ id }) => id)).toEqual(['full4'])
    expect(await remote().collectPacks()).toEqual({ removed: 0, bytes: 0 })

    const gone = writer.prepare('three', { packs: [pack('k5', 'k2', 5)] })
    expect(await writer.send(gone)).toEqual({ kind: 'missing-pack' })
    await remote().deleteLog(log, writer.fence)
    expect(await remote().collectPacks()).toMatchObject({ removed: 1 })
  })
}
