// docs/internals/design.md#order-of-writes: objects first, then the ref, each flushed before the next.
import { closeSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { devNull, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { StagedRef } from '../../../src/snapshot/objects/commit.js'
import { ObjectSink, ObjectStore } from '../../../src/snapshot/objects/object-store.js'

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'savestate-sink-'))
  mkdirSync(join(folder, 'objects', 'pack'), { recursive: true })
})

afterEach(() => rmSync(folder, { recursive: true, force: true }))

test('the folder of an existing object is flushed, because a killed save may not have done it', async () => {
  const store = new ObjectStore(join(folder, 'objects'))
  const options = { temporary: join(folder, 'temporary'), durable: true }
  const first = new ObjectSink(store, options)
  const id = first.add('blob', Buffer.from('content'))
  await first.finish()
  const second = new ObjectSink(store, options)
  expect(second.has(id)).toBe(true)
  // Nothing can be flushed there, so the flush is visible.
  const place = join(folder, 'objects', id.slice(0, 2))
  rmSync(place, { recursive: true })
  symlinkSync(devNull, place)
  await expect(second.finish()).rejects.toMatchObject({ code: 'EINVAL', syscall: 'fsync' })
})

// Up to a hundred become loose files; one more makes it a pack.
test.each([1, 99, 100, 101])('the ref of %i objects is flushed with them', async (count) => {
  const sink = new ObjectSink(new ObjectStore(join(folder, 'objects')), {
    temporary: join(folder, 'temporary'),
    durable: true,
  })
  for (let i = 0; i < count; i += 1) sink.add('blob', Buffer.from(`content ${i}`))
  const commit = sink.add('commit', Buffer.from('a commit'))
  // Flushing fails there, so a missing flush would go unnoticed.
  const temporary = join(folder, 'ref')
  symlinkSync(devNull, temporary)
  const ref = new StagedRef(folder, { name: 'refs/savestate/a/b', commit, temporary })
  await expect(sink.finish({ ref })).rejects.toMatchObject({ code: 'EINVAL', syscall: 'fsync' })
  closeSync(ref.fd)
})
