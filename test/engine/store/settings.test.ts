// docs/guide/store.md#limits: every operation reads the settings files again.
import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { setProject, setStore } from '../prune/prune-helpers.js'
import { scratch } from '../../support/scratch.js'

const MB = 1024 * 1024

test('a change of maxFileMb takes effect at the next save, also in a running program', async () => {
  await using s = await scratch({ files: { small: '1', large: 'x'.repeat(2 * MB) } })
  setStore(s, { maxFileMb: 1 })
  const store = await s.open()
  const project = await store.project(s.project)
  const first = await project.save()
  expect(first.skipped).toBe(1)
  setStore(s, { maxFileMb: 3 })
  const second = await project.save()
  expect([second.created, second.skipped]).toEqual([true, 0])
  // The project overrides the store, if the user trusts it.
  await project.setConfig('maxFileMb', 1)
  const third = await project.save()
  expect(third.skipped).toBe(1)
  // I5: a rewind does not touch files that the checkpoint does not contain.
  s.write({ large: 'changed'.repeat(2 * MB) })
  await project.rewind(third.id)
  rmSync(join(s.project, '.savestate.json'))
  rmSync(join(s.project, 'large'))
  await project.rewind(second.id)
  expect(s.snapshotOf().get('large')?.type).toBe('file')
})

test('limits of the caller override both files', async () => {
  await using s = await scratch({ files: { a: 'x'.repeat(200) } })
  setStore(s, { maxFileMb: 1 })
  setProject(s.project, { maxFileMb: 20 })
  const store = await s.open({ limits: { maxFileBytes: 100 } })
  expect((await (await store.project(s.project)).save()).skipped).toBe(1)
})

test.each(['pipe', 'folder', 'link to a pipe'])(
  'a %s called .savestate.json is ignored and does not block',
  async (what) => {
    await using s = await scratch({ files: { a: '1' } })
    const path = join(s.project, '.savestate.json')
    if (what === 'folder') mkdirSync(path)
    if (what === 'pipe') execFileSync('mkfifo', [path])
    if (what === 'link to a pipe') {
      execFileSync('mkfifo', [join(s.folder, 'pipe')])
      s.write({ '.savestate.json': { link: join(s.folder, 'pipe') } })
    }
    const store = await s.open()
    const project = await store.project(s.project)
    expect((await project.save()).created).toBe(true)
    const { values } = await project.config()
    expect(values.every(({ source }) => source === 'default')).toBe(true)
    await store.prune()
  },
)

test('invalid settings stop a save before it starts, and the error names them', async () => {
  await using s = await scratch({ files: { a: '1' } })
  const store = await s.open()
  const project = await store.project(s.project)
  await project.save()
  s.write({ a: '2', '.savestate.json': '{"maxSizeMb": 1}' })
  const message = expect.stringMatching(/\.savestate\.json cannot be used: maxSizeMb/)
  await expect(project.save()).rejects.toMatchObject({ code: 'CONFIG_INVALID', message })
  await expect(project.config()).rejects.toMatchObject({ code: 'CONFIG_INVALID', message })
  rmSync(join(s.project, '.savestate.json'))
  setStore(s, [])
  await expect(project.save()).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
  await expect(store.prune()).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
  // Reading and rewinding need no settings of the store.
  expect((await project.list()).length).toBe(1)
  setStore(s, {})
  expect((await project.save()).created).toBe(true)
})

test('invalid settings do not stop saving a state or closing the store', async () => {
  await using s = await scratch()
  const store = await s.open()
  setStore(s, { autoPrune: 'perhaps' })
  const session = await store.session<unknown>('states alone')
  await session.save({ state: { n: 1 } })
  await store.close()
  setStore(s, {})
  const again = await s.open()
  expect((await again.status()).failures).toMatchObject([{ code: 'CONFIG_INVALID' }])
})
