// Lists, and deleted logs.
import { expect, test } from 'vitest'
import type { RemoteClients } from './remote-contract.js'
import {
  headOf,
  holder,
  LEASE_MS,
  readAll,
  session,
  startThread,
  startWriter,
  textsOf,
  thread,
} from './writer.js'

export function describeLogs({ remote, openOther }: RemoteClients): void {
  test('the list has the log that was updated last first, by kind, up to a limit', async () => {
    for (const id of ['list a', 'list b'])
      await (await startWriter(remote(), session(id))).commit(id)
    await startThread(remote(), 'list c').commit('c')
    const heads = await (await openOther()).heads()
    const ids = heads.map(({ log }) => log.id).filter((id) => id.startsWith('list '))
    expect(ids).toEqual(['list c', 'list b', 'list a'])
    expect(
      (await remote().heads({ kind: 'thread' })).every(({ log }) => log.kind === 'thread'),
    ).toBe(true)
    expect((await remote().heads({ kind: 'session', limit: 1 })).map(({ log }) => log.id)).toEqual([
      'list b',
    ])
  })

  test('the size of a log counts its segments and checkpoints', async () => {
    const checkpoint = (step: number) => ({ id: `s${step}`, step, pack: null })
    const log = session('sized')
    const writer = await startWriter(remote(), log)
    await writer.commit('one', { checkpoints: [checkpoint(1)] })
    await writer.commit('two', { checkpoints: [checkpoint(2)] })
    await writer.commit('three', { removed: ['s1'] })
    const other = await openOther()
    expect(await other.sizes(log)).toEqual([{ log, segments: 3, checkpoints: 1 }])
    await writer.commit('base', { isBase: true, checkpoints: [checkpoint(2)] })
    await writer.commit('four', { checkpoints: [checkpoint(4)] })
    const size = { log, segments: 2, checkpoints: 2 }
    expect(await other.sizes(log)).toEqual([size])
    expect(await other.sizes()).toContainEqual(size)
    await remote().deleteLog(log, writer.fence)
    expect(await other.sizes(log)).toEqual([])
    expect((await other.sizes()).filter((it) => it.log.id === log.id)).toEqual([])
    expect(await other.sizes(session('no such log'))).toEqual([])
  })

  test('a deleted log leaves a tombstone and no content', async () => {
    const log = session('deleted')
    const writer = await startWriter(remote(), log)
    await writer.commit('one')
    const other = await openOther()
    expect(await other.deleteLog(log, null)).toBe(false)
    expect(await other.deleteLog(log, 9)).toBe(false)
    expect(await textsOf(remote(), log)).toEqual(['one'])

    expect(await remote().deleteLog(log, writer.fence)).toBe(true)
    expect(await headOf(other, log)).toMatchObject({
      isDeleted: true,
      hash: null,
      card: null,
      holder: null,
      nextN: 2,
      epoch: 1,
    })
    expect(await readAll(other, log)).toEqual([])
    const listed = (await other.heads()).some((head) => head.log.id === log.id)
    const withDeleted = await other.heads({ withDeleted: true })
    expect([listed, withDeleted.some((head) => head.log.id === log.id)]).toEqual([false, true])

    expect(await writer.send(writer.prepare('two'))).toMatchObject({
      kind: 'conflict',
      head: { isDeleted: true },
    })
    expect(await other.deleteLog(log, null)).toBe(false)
    expect(await remote().deleteLog(session('never was'), null)).toBe(false)
    const taken = await other.take({ log, holder: holder('b'), leaseMs: LEASE_MS })
    expect(taken).toMatchObject({ taken: false, head: { isDeleted: true } })
  })

  test('a session without a holder is deleted without a fence', async () => {
    const log = session('deleted and free')
    const writer = await startWriter(remote(), log)
    await writer.commit('one')
    await remote().release(writer.lease)
    expect(await remote().deleteLog(log, null)).toBe(true)
  })

  test('a deleted session that is created again continues its numbers', async () => {
    const log = session('again created')
    const writer = await startWriter(remote(), log)
    await writer.commit('old')
    await remote().deleteLog(log, writer.fence)
    const next = await startWriter(await openOther(), log, { host: 'b' })
    expect(next.position).toEqual({ nextN: 2, epoch: 1, hash: null })
    expect(next.fence).toBeGreaterThan(Number(writer.fence))
    await next.commit('new', { isBase: true })
    await next.commit('newer')
    expect(await textsOf(remote(), log)).toEqual(['new', 'newer'])
    // A reader that knows the old content gets the base.
    const old = { n: 1, hash: writer.position.hash, epoch: 0 }
    expect((await readAll(remote(), log, old)).map(({ n, prev }) => [n, prev === null])).toEqual([
      [2, true],
      [3, false],
    ])
  })

  test('a base revives a deleted thread', async () => {
    const writer = startThread(remote(), 'deleted thread')
    await writer.commit('old')
    expect(await remote().deleteLog(thread('deleted thread'), null)).toBe(true)
    expect(await writer.send(writer.prepare('more'))).toMatchObject({
      kind: 'conflict',
      head: { isDeleted: true, nextN: 2, epoch: 1, hash: null },
    })
    writer.position = { nextN: 2, epoch: 1, hash: null }
    await writer.commit('new', { isBase: true })
    expect(await headOf(remote(), thread('deleted thread'))).toMatchObject({ isDeleted: false })
    expect(await textsOf(remote(), thread('deleted thread'))).toEqual(['new'])
  })
}
