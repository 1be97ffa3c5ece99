// Notes that a program keeps between its processes, and session saves that add nothing to an unchanged folder.
import { expect, test } from 'vitest'
import { scratch } from '../../support/scratch.js'

const DAY_MS = 24 * 60 * 60_000

test('a note changes atomically and expires', async () => {
  await using s = await scratch()
  let nowMs = Date.UTC(2026, 10, 15)
  const clock = { nowMs: () => nowMs, random: (size: number) => Buffer.alloc(size, 7) }
  const store = await s.open({ clock })
  const add = (letter: string) => (before: string | undefined) => `${before ?? ''}${letter}`
  await store.changeNote({ key: 'short', keepDays: 1, change: add('a') })
  await store.changeNote({ key: 'long', change: add(' with blanks') })
  expect(await store.changeNote({ key: 'short', keepDays: 1, change: add('b') })).toBe('ab')
  nowMs += 2 * DAY_MS
  await store.changeNote({ key: 'new', keepDays: 1, change: add('c') })
  expect([await store.note('short'), await store.note('long'), await store.note('new')]).toEqual([
    undefined,
    ' with blanks',
    'c',
  ])
  await store.changeNote({ key: 'long', change: () => undefined })
  expect(await store.note('long')).toBeUndefined()
})

test('of two concurrent changes of a note, the second sees the first', async () => {
  await using s = await scratch()
  const [one, other] = [await s.open(), await s.open()]
  const count = (before: string | undefined) => `${Number(before ?? 0) + 1}`
  await Promise.all(
    [one, other, one, other].map((store) => store.changeNote({ key: 'n', change: count })),
  )
  expect(await one.note('n')).toBe('4')
})

test('a session save with ifChanged adds nothing while the files are the same', async () => {
  await using s = await scratch({ files: { 'a.txt': 'one' } })
  const store = await s.open()
  const project = await store.project(s.project)
  const session = await store.session('s', { project })
  const first = await session.save({ files: true, ifChanged: true, reason: 'first' })
  const same = await session.save({ files: true, ifChanged: true, reason: 'same' })
  expect([first.created, same.created, same.id === first.id]).toEqual([true, false, true])
  s.write({ 'a.txt': 'two' })
  const next = await session.save({ files: true, ifChanged: true, reason: 'next' })
  expect([next.created, next.step]).toEqual([true, 1])
  await session.close()
})

test('status reports a failure of background work once', async () => {
  await using s = await scratch()
  const store = await s.open()
  const failure = { operation: 'hook claude Stop', project: null, error: new Error('no') }
  await store.recordFailure(failure)
  await store.recordFailure(failure)
  const { failures } = await store.status()
  expect(failures).toMatchObject([
    { operation: 'hook claude Stop', code: 'INTERNAL', message: 'no' },
  ])
})
