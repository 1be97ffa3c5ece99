// `store.changes`: commits to the ledger by this process and by others.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { scratch } from '../support/scratch.js'

const PROGRAM = fileURLToPath(new URL('../../dist/cli/bin.js', import.meta.url))

test('a save of another process is reported once, and only then', async () => {
  await using s = await scratch({ files: { a: '1' } })
  const store = await s.open()
  const changes = store.changes()
  let reports = 0
  const ended = (async () => {
    for await (const _ of changes) reports += 1
  })()
  const { status, stderr } = spawnSync(process.execPath, [PROGRAM, 'save', '-C', s.project], {
    encoding: 'utf8',
    env: { ...process.env, SAVESTATE_HOME: s.home, SAVESTATE_DAEMON: 'off' },
  })
  expect([status, stderr]).toEqual([0, expect.any(String)])
  await expect.poll(() => reports).toBe(1)
  expect(await (await store.project(s.project)).count()).toBe(1)
  await store.close()
  await ended
  expect(reports).toBe(1)
})

test('a change between the call and the first request is reported', async () => {
  await using s = await scratch({ files: { a: '1' } })
  const store = await s.open()
  const changes = store.changes()
  await (await store.project(s.project)).save()
  s.write({ a: '2' })
  await (await store.project(s.project)).save()
  expect(await changes.next()).toEqual({ done: false, value: undefined })
  const next = changes.next()
  await (await store.session('other')).save({ state: {} })
  expect(await next).toEqual({ done: false, value: undefined })
})

test('reading reports nothing, and the signal ends it', async () => {
  await using s = await scratch({ files: { a: '1' } })
  const store = await s.open()
  const project = await store.project(s.project)
  const { id } = await project.save()
  s.write({ a: '2' })
  // The first one after a save stores the sizes.
  await store.status()
  const ending = new AbortController()
  const changes = store.changes({ signal: ending.signal })
  await project.list()
  await project.show(id)
  await project.diff(id)
  await project.patch(id, { path: 'a' })
  await project.folder(id, '')
  await project.reversals()
  await project.search('a')
  await store.status()
  await store.sessions()
  const next = changes.next()
  ending.abort()
  expect(await next).toEqual({ done: true, value: undefined })
  expect(await store.changes({ signal: ending.signal }).next()).toMatchObject({ done: true })
})

test('closing the store ends it before the process can end', () => {
  const program = `
    import { openStore } from ${JSON.stringify(new URL('../../dist/index.js', import.meta.url).href)}
    const store = await openStore({ home: process.argv[1] })
    const next = store.changes().next()
    await store.close()
    console.log(await next)`
  const home = mkdtempSync(join(tmpdir(), 'savestate-changes-'))
  try {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      ['--input-type=module', '-e', program, home],
      { encoding: 'utf8' },
    )
    // Without the end, Node exits with 13: an await at the top level that nothing can end.
    expect([status, stdout, stderr]).toEqual([0, '{ value: undefined, done: true }\n', ''])
  } finally {
    rmSync(home, { recursive: true })
  }
})

test('an unknown option and a closed store are refused', async () => {
  await using s = await scratch()
  const store = await s.open()
  // @ts-expect-error the option has another name
  expect(() => store.changes({ abort: 1 })).toThrow(expect.objectContaining({ code: 'BAD_INPUT' }))
  await store.close()
  expect(() => store.changes()).toThrow(expect.objectContaining({ code: 'STORE_CLOSED' }))
})
