// A process that lives long: it opens the store for each of its tasks, and closes it, or works on more and more projects.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Store } from '../../src/index.js'
import { type Scratch, scratch, sdk } from '../support/scratch.js'

async function doTask(s: Scratch, number: number): Promise<unknown> {
  const store = await sdk.openStore({ home: s.home })
  try {
    s.write({ 'a.txt': `${number}` })
    await (await store.project(s.project)).save()
    const session = await store.session('task')
    await session.save({ state: { number } })
    return (await session.list()).length
  } finally {
    await store.close()
  }
}

test('the store, opened and closed again and again, holds no more files than at first', async () => {
  await using s = await scratch()
  const filesAfter = async (first: number, count: number) => {
    for (let number = first; number < first + count; number += 1) await doTask(s, number)
    return readdirSync('/dev/fd').length
  }
  const before = await filesAfter(0, 5)
  expect(await filesAfter(5, 10)).toBe(before)
})

test('a store that is opened twice in a process keeps what is saved, whichever handle is closed first', async () => {
  await using s = await scratch()
  const first = await s.open({ inProcess: false })
  const session = await first.session('here')
  await session.save({ state: { number: 0 } })
  const second = await s.open({ inProcess: false })
  const elsewhere = `
    const { openStore } = await import(${JSON.stringify(new URL('../../dist/index.js', import.meta.url))})
    const store = await openStore({ home: ${JSON.stringify(s.home)} })
    const steps = async (id) => (await store.session(id, { create: false, lease: false })).list()
    process.stdout.write(String((await steps('here')).length))
    await store.close()
  `
  const stepsElsewhere = () => execFileSync('node', ['--input-type=module', '-e', elsewhere])
  expect(String(stepsElsewhere())).toBe('1')
  for (let number = 1; number < 5; number += 1) await session.save({ state: { number } })
  expect(String(stepsElsewhere())).toBe('5')
  await second.close()
  await session.save({ state: { number: 5 } })
  expect(String(stepsElsewhere())).toBe('6')
})

test('a store that was removed meanwhile is created again', async () => {
  await using s = await scratch()
  expect([await doTask(s, 0), await doTask(s, 1)]).toEqual([1, 2])
  rmSync(s.home, { recursive: true })
  expect([await doTask(s, 2), await doTask(s, 3)]).toEqual([1, 2])
})

/** Twenty projects, one after the other: more than are remembered. */
async function saveAll(s: Scratch, store: Store, round: number): Promise<void> {
  for (let number = 0; number < 20; number += 1) {
    const folder = join(s.folder, `project-${number}`)
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'a.txt'), `${round}`)
    const project = await store.project(folder)
    expect(await project.save()).toMatchObject({ created: true })
  }
}

test('many open projects hold few files, and each stays usable', async () => {
  await using s = await scratch()
  const store = await s.open()
  for (const round of [0, 1]) await saveAll(s, store, round)
  const before = readdirSync('/dev/fd').length
  await saveAll(s, store, 2)
  expect(readdirSync('/dev/fd').length).toBe(before)
  const first = await store.project(join(s.folder, 'project-0'))
  await first.rewind('3')
  expect(readFileSync(join(s.folder, 'project-0', 'a.txt'), 'utf8')).toBe('0')
  expect((await store.verify()).problems).toEqual([])
})

test('one that is to be watched is watched, however many come after it', async () => {
  await using s = await scratch({ files: { 'a.txt': 'one' } })
  const store = await s.open()
  await (await store.project(s.project)).save()
  const project = await store.project(s.project, { watch: true })
  await saveAll(s, store, 0)
  await project.save()
  await saveAll(s, store, 1)
  expect((await store.status()).watches).toMatchObject([{ path: s.project, isWatching: true }])
})

test('projects that work at the same time do not let each other go', async () => {
  await using s = await scratch()
  const store = await s.open()
  const projects = await Promise.all(
    Array.from({ length: 30 }, async (_, number) => {
      const folder = join(s.folder, `project-${number}`)
      mkdirSync(folder)
      return { folder, project: await store.project(folder) }
    }),
  )
  for (const round of [0, 1, 2]) {
    const saved = await Promise.all(
      projects.map(({ folder, project }) => {
        writeFileSync(join(folder, 'a.txt'), `${round} of ${folder}`)
        return project.save()
      }),
    )
    expect(saved.every(({ created }) => created)).toBe(true)
  }
  expect((await store.verify()).problems).toEqual([])
})
