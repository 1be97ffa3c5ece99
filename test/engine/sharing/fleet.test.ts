// Mode wait: a call returns once the remote has what it wrote, and any host can continue.
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { sharedPlace } from '../../support/sharing/fleet.js'

const place = sharedPlace()

describe('two hosts', () => {
  test('a session continues on another host, with its state and tool journal', async () => {
    await using a = await place().host()
    await using b = await place().host()
    const first = await a.openShared()
    const session = await first.session('task', { agent: 'worker' })
    await session.save({ state: { items: ['one'] }, name: 'begun' })
    await session.append('items', ['two', 'three'])
    const sum = await session.tool({ id: 'call-1', name: 'add', args: [1, 2] }, () => 3)
    await first.close()

    const second = await b.openShared()
    const resumed = await second.resume('task')
    expect(resumed.state).toEqual({ items: ['one', 'two', 'three'] })
    const again = await resumed.session.tool({ id: 'call-1', name: 'add', args: [1, 2] }, () => {
      throw new Error('it ran twice')
    })
    expect(again).toBe(sum)
    await resumed.session.append('items', ['four'])
    await second.close()

    const third = await a.openShared()
    expect((await third.resume('task')).state).toEqual({
      items: ['one', 'two', 'three', 'four'],
    })
  })

  test('files come along, bit for bit, and the folder was captured first', async () => {
    await using a = await place().host({
      files: { 'src/main.ts': 'one', 'run.sh': { content: '#!/bin/sh', mode: 0o755 } },
    })
    await using b = await place().host()
    const first = await a.openShared()
    const project = await first.project(a.project)
    const session = await first.session('files', { project })
    await session.save({ state: { n: 1 }, files: true })
    a.write({
      'src/main.ts': 'two',
      'big.bin': Buffer.alloc(600_000, 'x'),
      link: { link: 'run.sh' },
    })
    await session.save({ state: { n: 2 }, files: true })
    await first.close()

    b.write({ 'mine.txt': 'mine' })
    const second = await b.openShared()
    const resumed = await second.resume('files', { into: b.project })
    expect(resumed.state).toEqual({ n: 2 })
    expect(resumed.changedSince).toEqual([])
    expect(resumed.brief()).toContain(`in ${b.project}`)
    expect(resumed.notices).toEqual([expect.stringContaining(b.project)])
    expect(b.snapshotOf()).toEqual(a.snapshotOf())
    // An undo brings the earlier files back.
    await (await second.project(b.project)).undo()
    expect([...b.snapshotOf().keys()]).toEqual(['', 'mine.txt'])
    await second.close()
  })

  test('a resume fetches what the newest checkpoint needs, and no older files', async () => {
    await using a = await place().host()
    await using b = await place().host()
    const first = await a.openShared()
    const session = await first.session('versions', { project: await first.project(a.project) })
    const blobs: string[] = []
    // The third pack is a full one: with it, the chain would have more than twice the bytes.
    for (const n of [1, 2, 3, 4]) {
      a.write({ 'data.bin': randomBytes(30_000) })
      blobs.push(a.git(['hash-object', 'data.bin']))
      await session.save({ state: { n }, files: true })
    }
    await first.close()
    const [full] = await place().database.sql(
      `SELECT count(*)::int AS count FROM savestate.checkpoints AS c JOIN savestate.logs AS l ON l.key = c.log
         JOIN savestate.packs AS p ON p.id = c.pack WHERE l.id = 'versions' AND p.parent IS NULL`,
    )
    expect(full).toEqual({ count: 2 })
    const second = await b.openShared()
    expect((await second.resume('versions', { into: b.project })).state).toEqual({ n: 4 })
    expect(b.snapshotOf()).toEqual(a.snapshotOf())
    await second.close()
    const objects = join(b.home, 'objects.git')
    const format = ['--batch-all-objects', '--batch-check=%(objectname)']
    const here = b.git(['-C', objects, 'cat-file', ...format]).split('\n')
    expect(blobs.map((blob) => here.includes(blob))).toEqual([false, false, true, true])
  })
})
