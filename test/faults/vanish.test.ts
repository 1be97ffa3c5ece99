// A project folder that is removed or replaced during a save or a rewind: the result is an error, never a checkpoint of an empty
// folder, and nothing is written elsewhere.
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, test, vi } from 'vitest'
import type { CallOptions, Project } from '../../src/index.js'
import { PlanClock } from '../support/after-plan.js'
import { type FileSpec, type Scratch, scratch, snapshotOf } from '../support/scratch.js'

const FILES = 400
const MISSING = { code: 'PROJECT_MISSING' }
const clock = new PlanClock()

function manyFiles(content: string): Record<string, FileSpec> {
  const names = Array.from({ length: FILES }, (_, i) => `folder-${i % 9}/deep/file-${i}`)
  return Object.fromEntries(names.map((name) => [name, `${content} ${name}`]))
}

const FATES = {
  'moved away': (s: Scratch) => renameSync(s.project, join(s.folder, 'away')),
  removed: (s: Scratch) => rmSync(s.project, { recursive: true }),
  'replaced by another': (s: Scratch) => {
    renameSync(s.project, join(s.folder, 'away'))
    mkdirSync(join(s.project, 'folder-0'), { recursive: true })
    writeFileSync(join(s.project, 'folder-0', 'of-another'), 'not yours')
  },
} as const
const FATE_NAMES = Object.keys(FATES) as (keyof typeof FATES)[]

type Look = ReturnType<typeof snapshotOf> | undefined

function present(folder: string): Look {
  return existsSync(folder) ? snapshotOf(folder) : undefined
}

/** Progress is reported every 50 ms of this clock, which jumps, so that every step is reported. */
function tellAllProgress(): void {
  const real = Date.now.bind(Date)
  let aheadMs = 0
  vi.spyOn(Date, 'now').mockImplementation(() => real() + (aheadMs += 60))
}

afterEach(() => {
  vi.restoreAllMocks()
})

/** Changes the folder when the work is at this point; on the same thread, so exactly there. */
async function openHere(s: Scratch): Promise<Project> {
  const store = await s.open({ inProcess: true, clock })
  return store.project(s.project)
}

function once(isThen: (files: number, phase: string) => boolean, act: () => void): CallOptions {
  let isDone = false
  return {
    onProgress: ({ phase, files }) => {
      if (isDone || !isThen(files, phase)) return
      isDone = true
      act()
    },
  }
}

test.each(FATE_NAMES)(
  'a first save of a folder that is %s meanwhile saves nothing',
  async (fate) => {
    await using s = await scratch({ files: manyFiles('one') })
    const project = await openHere(s)
    tellAllProgress()
    const hooks = once(
      (files, phase) => phase === 'scan' && files >= 200,
      () => FATES[fate](s),
    )
    await expect(project.save(hooks)).rejects.toMatchObject(MISSING)
    expect(await project.list()).toEqual([])
  },
)

test.each(FATE_NAMES)(
  'a folder that is %s while its contents are read is not saved incompletely',
  async (fate) => {
    await using s = await scratch({ files: manyFiles('one') })
    const project = await openHere(s)
    const { id } = await project.save()
    s.write(manyFiles('two'))
    const files = s.snapshotOf()
    tellAllProgress()
    const hooks = once(
      (_, phase) => phase === 'store',
      () => FATES[fate](s),
    )
    await expect(project.save(hooks)).rejects.toMatchObject(MISSING)
    expect((await project.list()).map((checkpoint) => checkpoint.id)).toEqual([id])
    if (fate === 'removed') return
    // When the folder is back, nothing cached from the failed save is used.
    if (fate === 'replaced by another') rmSync(s.project, { recursive: true })
    renameSync(join(s.folder, 'away'), s.project)
    expect(await project.save()).toMatchObject({ created: true, files: FILES })
    await project.rewind(id)
    await project.undo()
    expect(s.snapshotOf()).toEqual(files)
  },
)

test('a folder that is moved away at any time is saved completely or not at all', async () => {
  await using s = await scratch()
  const store = await s.open({ inProcess: false })
  const seen = new Set<string>()
  for (let round = 0; round < 8; round += 1) {
    const folder = join(s.folder, `project-${round}`)
    s.write(manyFiles(`round ${round}`), folder)
    const project = await store.project(folder)
    const moved = sleep(round * 6).then(() => renameSync(folder, `${folder}-away`))
    const outcome = await project.save().then(
      ({ files }) => `saved ${files}`,
      (error: unknown) => (error as { code: string }).code,
    )
    await moved
    seen.add(outcome)
  }
  expect([`saved ${FILES}`, MISSING.code]).toEqual(expect.arrayContaining([...seen]))
  expect((await store.verify()).problems).toEqual([])
})

test.each(FATE_NAMES)(
  'a rewind whose folder is %s before the first change changes nothing',
  async (fate) => {
    await using s = await scratch({ files: { 'a.txt': 'one', 'folder-0/b.txt': 'one' } })
    const project = await openHere(s)
    const { id } = await project.save()
    s.write({ 'a.txt': 'two', 'folder-0': null })
    const files = s.snapshotOf()
    let there: Look = files
    clock.afterPlan(() => {
      FATES[fate](s)
      there = present(s.project)
    })
    await expect(project.rewind(id)).rejects.toMatchObject({
      code: 'REWIND_DISTURBED',
    })
    expect(present(s.project)).toEqual(there)
    expect(present(join(s.folder, 'away'))).toEqual(fate === 'removed' ? undefined : files)
  },
)

test.each(FATE_NAMES)('a rewind whose folder is %s half-way writes nowhere else', async (fate) => {
  await using s = await scratch({ files: manyFiles('one') })
  const project = await openHere(s)
  const { id } = await project.save()
  const target = s.snapshotOf()
  s.write(manyFiles('two'))
  await project.save()
  tellAllProgress()
  let isPlanned = false
  let there: Look
  clock.afterPlan(() => (isPlanned = true))
  const hooks = once(
    () => isPlanned,
    () => {
      FATES[fate](s)
      there = present(s.project)
    },
  )
  await expect(project.rewind(id, hooks)).rejects.toMatchObject({
    code: fate === 'replaced by another' ? 'REWIND_DISTURBED' : 'PROJECT_MISSING',
  })
  expect(present(s.project)).toEqual(there)
  if (fate !== 'moved away') return
  // I6: when the folder is back, the next command finishes the rewind.
  renameSync(join(s.folder, 'away'), s.project)
  await project.list()
  expect(s.snapshotOf()).toEqual(target)
  await project.undo()
  expect(s.snapshotOf()).not.toEqual(target)
})

test('delayed writes do not recreate a store that was removed while it was open', async () => {
  await using s = await scratch({ files: manyFiles('first') })
  s.allowDamage()
  const store = await s.open({ durability: 'fsync' })
  const project = await store.project(s.project, { watch: true })
  // Enough changes that the stat cache is written 200 ms after the save.
  await project.save()
  s.write({ 'folder-0/deep/file-0': 'changed' })
  await project.save()
  rmSync(s.home, { recursive: true })
  // No event shows that the delayed write did nothing, so this waits for longer than its delay.
  await sleep(500)
  expect(existsSync(s.home)).toBe(false)
  s.write({ 'folder-0/deep/file-0': 'changed again' })
  await expect(project.save()).rejects.toMatchObject({ code: 'STORE_UNUSABLE' })
  await store.close()
  expect(existsSync(s.home)).toBe(false)
})
