// Commits: compare and swap, recognition, bases, threads, compaction.
import { expect, test } from 'vitest'
import type { SegmentContent } from '../../../src/model/index.js'
import type { RemoteClients } from './remote-contract.js'
import {
  card,
  content,
  digest,
  headOf,
  holder,
  LEASE_MS,
  positionOf,
  readAll,
  session,
  START,
  startThread,
  startWriter,
  textsOf,
  thread,
  Writer,
} from './writer.js'

export function describeCommits({ remote, openOther }: RemoteClients): void {
  test('another client reads exactly what was committed', async () => {
    const log = session('read back')
    const writer = await startWriter(remote(), log)
    await writer.commit('one')
    await writer.commit('two', { status: 'completed' })
    const other = await openOther()
    const segments = await readAll(other, log)
    expect(segments).toEqual([
      { n: 1, prev: null, hash: segments[0]?.hash, content: content('one') },
      { n: 2, prev: segments[0]?.hash, hash: writer.position.hash, content: content('two') },
    ])
    expect(await headOf(other, log)).toMatchObject({
      ...writer.position,
      nextN: 3,
      epoch: 0,
      status: 'completed',
      card: card(2),
      isDeleted: false,
    })
    const after = { n: 1, hash: segments[0]?.hash ?? null, epoch: 0 }
    expect(await readAll(other, log, after)).toEqual(segments.slice(1))
    const end = { n: 2, hash: writer.position.hash, epoch: 0 }
    expect(await readAll(other, log, end)).toEqual([])
  })

  test('a large segment arrives whole', async () => {
    const log = session('large')
    const writer = await startWriter(remote(), log)
    const text = Array.from({ length: 100_000 }, (_, i) => (i * 2654435761) >>> 0).join(' ')
    await writer.commit(text)
    const [read = ''] = await textsOf(remote(), log)
    expect(digest(Buffer.from(read))).toEqual(digest(Buffer.from(text)))
  })

  test('a commit that is sent again is recognized', async () => {
    const log = session('again')
    const writer = await startWriter(remote(), log)
    const commit = writer.prepare('one')
    const first = await writer.send(commit)
    expect(await writer.send(commit)).toEqual(first)
    await writer.commit('two')
    // Also after a later one: a thread of the same process may have sent it.
    expect(await remote().commit(commit)).toEqual(first)
    expect(await textsOf(remote(), log)).toEqual(['one', 'two'])
  })

  test('recognition reports that the lease was lost meanwhile', async () => {
    const log = session('again and fenced')
    const old = await startWriter(remote(), log)
    const commit = old.prepare('one')
    await old.send(commit)
    const other = await openOther()
    const { fence: ifFence } = old.lease
    const taken = await other.take({ log, holder: holder('b'), leaseMs: LEASE_MS, ifFence })
    expect(taken.taken).toBe(true)
    expect(await old.send(commit)).toEqual({
      kind: 'done',
      position: old.position,
      isFenced: true,
    })
  })

  test('a commit at another position changes nothing', async () => {
    const log = session('position')
    const writer = await startWriter(remote(), log)
    await writer.commit('one')
    const { position } = writer
    for (const wrong of [
      { ...position, nextN: 3 },
      { ...position, epoch: 1 },
      { ...position, hash: 'ab'.repeat(32) },
    ]) {
      const stale = new Writer(remote(), log, { fence: writer.fence, position: wrong })
      const result = await stale.send(stale.prepare('wrong'))
      expect(result).toMatchObject({ kind: 'conflict', head: { ...position, fence: writer.fence } })
    }
    expect(await textsOf(remote(), log)).toEqual(['one'])
    expect(await headOf(remote(), log)).toMatchObject(position)
  })

  test('a commit to an unknown session is a conflict without a head', async () => {
    const writer = new Writer(remote(), session('never created'), {
      fence: 1,
      position: { nextN: 1, epoch: 0, hash: null },
    })
    expect(await writer.send(writer.prepare('one'))).toEqual({ kind: 'conflict', head: undefined })
  })

  test('a base replaces all earlier segments', async () => {
    const log = session('base')
    const writer = await startWriter(remote(), log)
    await writer.commit('one')
    const one = positionOf(writer.position)
    await writer.commit('two')
    const base = writer.prepare('one and two', { isBase: true })
    const result = await writer.send(base)
    expect(writer.position).toEqual({ nextN: 4, epoch: 1, hash: base.segment.hash })
    await writer.commit('three')
    expect(await textsOf(remote(), log)).toEqual(['one and two', 'three'])
    const other = await openOther()
    const rest = await readAll(other, log, { n: 1, hash: one.hash, epoch: 0 })
    expect(rest.map(({ n, prev }) => ({ n, prev }))).toEqual([
      { n: 3, prev: null },
      { n: 4, prev: base.segment.hash },
    ])
    expect(await remote().commit(base)).toEqual(result)
  })

  test('a log that has another history than the reader knows is reported', async () => {
    const log = session('other history')
    const writer = await startWriter(remote(), log)
    await writer.commit('one')
    await writer.commit('two')
    const after = { n: 1, hash: 'ab'.repeat(32), epoch: 0 }
    await expect(readAll(remote(), log, after)).rejects.toMatchObject({ code: 'REMOTE_WENT_BACK' })
  })

  test('a thread has no lease: its first commit creates it, and positions decide', async () => {
    const first = startThread(remote(), 'graph')
    const second = startThread(await openOther(), 'graph')
    const late = second.prepare('b1')
    await first.commit('a1')
    expect(await second.send(late)).toMatchObject({
      kind: 'conflict',
      head: { nextN: 2, hash: first.position.hash, holder: null },
    })
    second.position = positionOf(await headOf(remote(), thread('graph')))
    await second.commit('b1')
    expect(await textsOf(remote(), thread('graph'))).toEqual(['a1', 'b1'])
    expect(await remote().head(session('graph'))).toBe(undefined)
  })

  test('a project has no lease: its first commit creates the log with the project', async () => {
    const log = { kind: 'project', id: 'saves' } as const
    const project = { id: 'folder', name: 'app', origin: 'hash' }
    const writer = new Writer(remote(), log, { fence: null, position: START })
    const first = { ...writer.prepare('one'), project }
    expect(await writer.send(first)).toMatchObject({ kind: 'done' })
    await writer.commit('two')
    const other = await openOther()
    expect(await textsOf(other, log)).toEqual(['one', 'two'])
    expect(await other.heads({ kind: 'project' })).toEqual([await headOf(other, log)])
    expect(await headOf(other, log)).toMatchObject({ log, project, fence: 0, holder: null })
    expect(await other.head(session('saves'))).toBe(undefined)
    expect(await other.head(thread('saves'))).toBe(undefined)
  })

  test('of two first commits of a thread at once one wins', async () => {
    const writers = [startThread(remote(), 'twice'), startThread(await openOther(), 'twice')]
    const results = await Promise.all(
      writers.map((writer, index) => writer.send(writer.prepare(`from ${index}`))),
    )
    expect(results.map(({ kind }) => kind).sort()).toEqual(['conflict', 'done'])
    expect((await textsOf(remote(), thread('twice'))).length).toBe(1)
  })

  test('compaction replaces the segments, and the writer continues with a base', async () => {
    const log = session('compact')
    const writer = await startWriter(remote(), log)
    for (const text of ['one', 'two', 'three'].map((word) => word.repeat(200)))
      await writer.commit(text)
    const before = await headOf(remote(), log)
    const hashes = (await readAll(remote(), log)).map(({ hash }) => hash)
    const seen: SegmentContent[][] = []
    const other = await openOther()
    const rewrite = (contents: readonly SegmentContent[]) => {
      seen.push([...contents])
      return content('all', true)
    }
    expect(await other.compact(log, rewrite)).toBe(true)
    expect(seen).toEqual([['one', 'two', 'three'].map((word) => content(word.repeat(200)))])
    const head = await headOf(remote(), log)
    const { leaseEndsInMs: _, ...unchanged } = before
    expect(head).toMatchObject({ ...unchanged, nextN: 5, epoch: 1, hash: head.hash })
    expect(await textsOf(remote(), log)).toEqual(['all'])
    // So a reader knows that the base continues what it has.
    const [base] = await readAll(remote(), log)
    expect(base?.content.replaced).toEqual(hashes.map((hash) => hash.slice(0, 16)))
    expect(await other.compact(log, rewrite)).toBe(false)

    const late = await writer.send(writer.prepare('four'))
    expect(late).toMatchObject({
      kind: 'conflict',
      head: { fence: writer.fence, epoch: 1, nextN: 5 },
    })
    writer.position = positionOf(head)
    await writer.commit('all and four', { isBase: true })
    expect(await textsOf(remote(), log)).toEqual(['all and four'])
  })

  test('compaction leaves a log alone that it would not make smaller', async () => {
    const log = session('incompressible')
    const writer = await startWriter(remote(), log)
    await writer.commit('one')
    await writer.commit('two')
    const text = Array.from({ length: 5000 }, (_, i) => (i * 2654435761) >>> 0).join(' ')
    expect(await remote().compact(log, () => content(text, true))).toBe(false)
    expect(await remote().compact(session('no such log'), () => content(text, true))).toBe(false)
    expect(await textsOf(remote(), log)).toEqual(['one', 'two'])
  })
}
