// `session.listAt` and `session.listLengths`: parts of a stored list, without reading the rest.
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { DatabaseSync } from '../../support/own-sqlite.js'
import { scratch } from '../../support/scratch.js'

const numbered = (length: number) => Array.from({ length }, (_, n) => ({ n, text: `item ${n}` }))

test('a slice has the items of the whole list, at the head and at any checkpoint', async () => {
  await using s = await scratch()
  const store = await s.open()
  const writer = await store.session<Record<string, unknown>>('long')
  const first = await writer.save({ state: { items: numbered(300), note: 'x' } })
  await writer.append('items', [new Date(0), undefined])
  await writer.close()

  const reader = await store.session<Record<string, unknown>>('long', {
    create: false,
    lease: false,
  })
  const all = [...numbered(300), new Date(0), undefined]
  for (const [from, limit] of [
    [0, 1],
    [127, 3],
    [290, 50],
    [301, 1],
    [302, 5],
    [0, 1000],
  ] as const)
    expect(await reader.listAt('items', { from, limit })).toEqual({
      items: all.slice(from, from + limit),
      total: 302,
    })
  const then = await reader.listAt('items', { ref: first.id, from: 299, limit: 10 })
  expect(then).toEqual({ items: numbered(300).slice(299), total: 300 })
  expect(await reader.listAt('note', { from: 0, limit: 1 })).toBeUndefined()
  expect(await reader.listAt('none', { from: 0, limit: 1 })).toBeUndefined()
  for (const wrong of [
    { from: -1, limit: 1 },
    { from: 0, limit: 0 },
    { from: 0.5, limit: 1 },
  ])
    await expect(reader.listAt('items', wrong)).rejects.toMatchObject({ code: 'BAD_INPUT' })
  await expect(
    reader.listAt('items', { ref: 'nothing-here', from: 0, limit: 1 }),
  ).rejects.toMatchObject({ code: 'CHECKPOINT_UNKNOWN' })
})

test('a slice reads only the elements that it returns', async () => {
  await using s = await scratch()
  s.allowDamage()
  const store = await s.open()
  const session = await store.session<Record<string, unknown>>('long')
  await session.save({ state: { items: numbered(1000) } })
  const ledger = new DatabaseSync(join(s.home, 'ledger.db'))
  // Reading one of these elements fails.
  ledger.exec(`UPDATE elements SET text = 'no JSON' WHERE id <= 990`)
  ledger.close()
  const end = await session.listAt('items', { from: 990, limit: 10 })
  expect(end).toEqual({ items: numbered(1000).slice(990), total: 1000 })
  await expect(session.listAt('items', { from: 989, limit: 10 })).rejects.toMatchObject({
    code: 'STATE_UNREADABLE',
  })
  expect((await session.listLengths('items')).map(({ length }) => length)).toEqual([1000])
})

test('lists in other forms are found too: empty ones, and those of a state with very many keys', async () => {
  await using s = await scratch()
  const session = await (await s.open()).session<Record<string, unknown>>('forms')
  const many = Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`key${n}`, n]))
  await session.save({ state: { items: [] } })
  expect(await session.listAt('items', { from: 0, limit: 5 })).toEqual({ items: [], total: 0 })
  await session.save({ state: { ...many, items: [1, 2, 3] } })
  expect(await session.listAt('items', { from: 1, limit: 1 })).toEqual({ items: [2], total: 3 })
  // A list with a hole is stored as one value.
  const holed = [1]
  holed[2] = 3
  await session.save({ state: { items: holed } })
  expect(await session.listAt('items', { from: 2, limit: 1 })).toEqual({ items: [3], total: 3 })
  await session.save({ state: [1, 2] as never })
  expect(await session.listAt('items', { from: 0, limit: 1 })).toBeUndefined()
  expect((await session.listLengths('items')).map(({ length }) => length)).toEqual([0, 3, 3, null])
})

test('lengths are listed for every checkpoint, oldest first', async () => {
  await using s = await scratch({ files: { a: '1' } })
  const store = await s.open()
  const project = await store.project(s.project)
  const session = await store.session<Record<string, unknown>>('lengths', { project })
  expect(await session.listAt('items', { from: 0, limit: 1 })).toBeUndefined()
  expect(await session.listLengths('items')).toEqual([])
  const saved = [
    await session.save({ files: true }),
    await session.append('items', [1]),
    await session.append('items', [2, 3]),
    await session.save({ state: { items: 'text' } }),
  ]
  expect(await session.listLengths('items')).toEqual(
    [null, 1, 3, null].map((length, index) => ({ id: saved[index]?.id, length })),
  )
})

test('a lost state is reported, and the lengths of the others stay readable', async () => {
  await using s = await scratch()
  s.allowDamage()
  const store = await s.open()
  const session = await store.session<Record<string, unknown>>('lost')
  const saved = [
    await session.append('items', [1]),
    await session.append('items', [2]),
    await session.append('items', [3]),
  ]
  const ledger = new DatabaseSync(join(s.home, 'ledger.db'))
  ledger.exec('PRAGMA foreign_keys = OFF; DELETE FROM states WHERE id = 2')
  const expected = [{ length: 1 }, { length: null, damaged: true }, { length: 3 }].map(
    (length, index) => ({ id: saved[index]?.id, ...length }),
  )
  expect(await session.listLengths('items')).toEqual(expected)
  await expect(
    session.listAt('items', { ref: saved[1]?.id, from: 0, limit: 1 }),
  ).rejects.toMatchObject({ code: 'STORE_DAMAGED' })
  // As after a repair.
  const mark = { paths: [], fileCount: 0, isUnknown: false, state: 'lost', isStateLost: true }
  ledger
    .prepare('UPDATE checkpoints SET state = NULL, damage = ? WHERE state = 2')
    .run(JSON.stringify(mark))
  ledger.close()
  expect(await session.listLengths('items')).toEqual(expected)
})

test('an encrypted list needs the key', async () => {
  await using s = await scratch()
  const key = '7'.repeat(64)
  const store = await s.open({ encryption: { key } })
  const session = await store.session<Record<string, unknown>>('sealed')
  await session.save({ state: { items: numbered(40) } })
  expect(await session.listAt('items', { from: 39, limit: 1 })).toEqual({
    items: [{ n: 39, text: 'item 39' }],
    total: 40,
  })
  expect(await session.listLengths('items')).toMatchObject([{ length: 40 }])
  await store.close()
  const other = await s.open()
  const sealed = await other.session<Record<string, unknown>>('sealed', { lease: false })
  const missing = { code: 'KEY_MISSING' }
  await expect(sealed.listAt('items', { from: 0, limit: 1 })).rejects.toMatchObject(missing)
  await expect(sealed.listLengths('items')).rejects.toMatchObject(missing)
})
