// Damage to any single file of a store: checkpoints that do not depend on the damaged bytes still list, diff and rewind. One file of
// each kind here; every file with SAVESTATE_EVERY_FILE (npm run torture:damage).
import { execFileSync, spawnSync } from 'node:child_process'
import {
  closeSync,
  cpSync,
  existsSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openDatabase } from '../../../src/system/sqlite/sqlite.js'
import { PROGRAM } from '../../cli/program.js'
import { complaintsAfter, fileComplaints, repairTwice, stateComplaints } from './damage-report.js'
import {
  DAMAGES,
  damage,
  type DamageStore,
  filesOf,
  type Known,
  makeStore,
  objectsIn,
} from './damage-store.js'
import { REPAIR_POINTS } from '../../support/failpoints/repair.js'
import { GIT_ENVIRONMENT, sdk } from '../../support/scratch.js'

const isThorough = process.env['SAVESTATE_EVERY_FILE'] !== undefined

let made: DamageStore
beforeAll(async () => {
  made = await makeStore()
})
afterAll(() => made.dispose())

/** One file of each kind: with saved data, and derived. */
const VITAL: Readonly<Record<string, (file: string) => boolean>> = {
  'ledger.db': (file) => file === 'ledger.db',
  'ledger.db-wal': (file) => file === 'ledger.db-wal',
  blob: (file) => isLoose(file, 'blob'),
  tree: (file) => isLoose(file, 'tree'),
  commit: (file) => isLoose(file, 'commit'),
  pack: (file) => file.endsWith('.pack'),
  idx: (file) => file.endsWith('.idx'),
  ref: (file) => file.includes('refs/savestate/'),
}
const DERIVED: typeof VITAL = {
  format: (file) => file === 'format',
  'ledger.db-shm': (file) => file === 'ledger.db-shm',
  HEAD: (file) => file === 'objects.git/HEAD',
  config: (file) => file === 'objects.git/config',
  attributes: (file) => file === 'objects.git/info/attributes',
  cache: (file) => file.startsWith('cache/'),
  lock: (file) => /^locks\/[b-z]{18}$/.test(file),
  owner: (file) => file.endsWith('.owner'),
}

function isLoose(file: string, type: string): boolean {
  const [id = ''] = file.endsWith('.pack') ? [] : objectsIn(made.pristine, file)
  return made.types.get(id) === type
}

test.each(Object.keys(VITAL))('after any damage to %s the rest works', async (kind) => {
  const complaints: string[] = []
  for (const how of DAMAGES)
    complaints.push(
      ...(await complaintsAfter(made, { file: fileOf(VITAL, kind), how }, { isThorough })),
    )
  expect(complaints).toEqual([])
})

test.each(Object.keys(DERIVED))('after damage to %s everything works', async (kind) => {
  const complaints: string[] = []
  for (const how of ['zeroed', 'deleted'] as const)
    complaints.push(
      ...(await complaintsAfter(made, { file: fileOf(DERIVED, kind), how }, { isThorough })),
    )
  expect(complaints).toEqual([])
})

test('after any damage to any file the rest works', async () => {
  const complaints: string[] = []
  for (const file of isThorough ? filesOf(made.pristine) : [])
    for (const how of DAMAGES)
      complaints.push(...(await complaintsAfter(made, { file, how }, { isThorough })))
  expect(complaints).toEqual([])
}, 3_600_000)

function fileOf(kinds: typeof VITAL, kind: string): string {
  const file = filesOf(made.pristine).find((name) => kinds[kind]?.(name))
  if (file === undefined) throw new Error(`The store has no ${kind}`)
  return file
}

const PAGE_BYTES = 4096

test('a page of the ledger that reads as zeros loses only its own rows', async () => {
  const { size } = statSync(join(made.pristine, 'ledger.db'))
  const pages = Array.from({ length: size / PAGE_BYTES - 1 }, (_, n) => n + 1)
  const complaints: string[] = []
  let whole = 0
  for (const page of pages.filter((n) => isThorough || n % 8 === 1)) {
    const home = made.copy()
    const fd = openSync(join(home, 'ledger.db'), 'r+')
    writeSync(fd, Buffer.alloc(PAGE_BYTES), 0, PAGE_BYTES, page * PAGE_BYTES)
    closeSync(fd)
    const repaired = await repairTwice(home)
    const others = repaired.left.filter(({ kind }) => kind !== 'state')
    const told = new Set(repaired.left.map(({ checkpoint }) => checkpoint))
    const states = await stateComplaints(made, { home, told })
    if (states.read === made.states.size) whole += 1
    complaints.push(
      ...repaired.complaints,
      ...others.map(({ message }) => message),
      ...(await fileComplaints(made, { home, broken: new Set() }, { isThorough })),
      ...states.complaints,
    )
  }
  expect(complaints).toEqual([])
  expect(whole).toBeGreaterThan(0)
}, 300_000)

test('repair rebuilds a ledger without a schema from the backup, and newer checkpoints from their refs', async () => {
  const whole = made.copy()
  const { project: path } = made.checkpoints[0] as Known
  const store = await sdk.openStore({ home: whole, inProcess: true })
  await store.prune()
  writeFileSync(join(path, 'since.txt'), 'saved after the backup\n')
  const { id: newer } = await (await store.project(path)).save({ reason: 'newer' })
  await store.close()
  const complaints: string[] = []
  for (const page of schemaPagesOf(join(whole, 'ledger.db'))) {
    const home = `${whole}-page-${page}`
    cpSync(whole, home, { recursive: true })
    const fd = openSync(join(home, 'ledger.db'), 'r+')
    writeSync(fd, Buffer.alloc(PAGE_BYTES), 0, PAGE_BYTES, (page - 1) * PAGE_BYTES)
    closeSync(fd)
    const { steps } = await sdk.repairStore({ home, inProcess: true, dryRun: true })
    expect(steps[0]?.action).toMatch(/complete it from the backup of \S+Z \(0 hours old\)/)
    const { left, complaints: found } = await repairTwice(home)
    const states = await stateComplaints(made, { home, told: new Set() })
    const repaired = await sdk.openStore({ home, inProcess: true })
    expect(await (await repaired.project(path)).show(newer)).toMatchObject({ reason: 'newer' })
    await repaired.close()
    if (states.read !== made.states.size) found.push(`page ${page}: ${states.read} states`)
    complaints.push(
      ...found,
      ...left.map(({ message }) => message),
      ...states.complaints,
      ...(await fileComplaints(made, { home, broken: new Set() }, { isThorough })),
    )
  }
  expect(complaints).toEqual([])
}, 300_000)

function schemaPagesOf(path: string): number[] {
  const database = openDatabase(path, { timeoutMs: 0 })
  try {
    database.exec('PRAGMA file.wal_checkpoint(TRUNCATE)')
    const rows = database.all(`SELECT pageno FROM dbstat('file') WHERE name = 'sqlite_schema'`)
    return rows.map((row) => Number(row['pageno']))
  } finally {
    database.close()
  }
}

test('after any damage to the journal of an interrupted rewind everything works', async () => {
  const [known] = made.checkpoints
  const complaints: string[] = []
  for (const how of DAMAGES) {
    const home = made.copy()
    const args = ['-C', known?.project ?? '', 'rewind', known?.id ?? '', '--yes']
    const env = { ...process.env, SAVESTATE_HOME: home, SAVESTATE_FAILPOINT: 'restore:journaled' }
    spawnSync(process.execPath, [PROGRAM, ...args], { env })
    const file = filesOf(home).find((name) => name.startsWith('journal/'))
    damage(join(home, file ?? 'no journal'), how)
    const { left } = await repairTwice(home)
    // The next command finishes a rewind whose journal is still readable.
    const others = left.filter(({ kind }) => kind !== 'interrupted')
    complaints.push(
      ...others.map(({ message }) => message),
      ...(await fileComplaints(made, { home, broken: new Set() }, { isThorough })),
    )
  }
  expect(complaints).toEqual([])
})

test('the next repair finishes one that was killed between two steps', async () => {
  const complaints: string[] = []
  const points = Object.entries(REPAIR_POINTS).flatMap(([point, visits]) =>
    Array.from({ length: visits }, (_, visit) => `${point}@${visit + 1}`),
  )
  for (const point of points) {
    const home = made.copy()
    damage(join(home, 'ledger.db'), 'truncated')
    const env = { ...process.env, SAVESTATE_HOME: home, SAVESTATE_FAILPOINT: point }
    const { signal } = spawnSync(process.execPath, [PROGRAM, 'repair', '--yes'], { env })
    if (signal !== 'SIGKILL') complaints.push(`${point} was not reached`)
    const { left } = await repairTwice(home)
    const others = left.filter(({ kind }) => kind !== 'state')
    complaints.push(
      ...others.map(({ message }) => message),
      ...(await fileComplaints(made, { home, broken: new Set() }, { isThorough })),
    )
  }
  expect(complaints).toEqual([])
})

test('a dry run changes nothing, and a repair moves damaged files aside instead of deleting them', async () => {
  const home = made.copy()
  const file = fileOf(VITAL, 'blob')
  damage(join(home, file), 'flipped')
  const bytes = readFileSync(join(home, file))
  const planned = await sdk.repairStore({ home, inProcess: true, dryRun: true })
  expect(planned.steps.length).toBeGreaterThan(0)
  expect(planned).toMatchObject({ applied: false, setAside: null })
  expect(readFileSync(join(home, file))).toEqual(bytes)
  const declined = await sdk.repairStore({ home, inProcess: true, confirm: async () => false })
  expect(declined).toMatchObject({ applied: false, declined: true })
  const { setAside } = await sdk.repairStore({ home, inProcess: true })
  expect(readFileSync(join(setAside ?? '', file))).toEqual(bytes)
  expect(readFileSync(join(setAside ?? '', 'list.txt'), 'utf8')).toContain(file)
  expect(existsSync(join(home, file))).toBe(false)
})

test('a damaged checkpoint is listed as damaged, and its intact files can be restored by path', async () => {
  const home = made.copy()
  const file = fileOf(VITAL, 'blob')
  damage(join(home, file), 'deleted')
  const [lost = ''] = objectsIn(home, file)
  await sdk.repairStore({ home, inProcess: true })
  const broken = made.checkpoints.filter(({ objects }) => objects.has(lost))
  const [target] = broken as [Known]
  const store = await sdk.openStore({ home, durability: 'process', inProcess: true })
  const project = await store.project(target.project)
  const checkpoints = await project.list()
  const listed = checkpoints.filter(({ damaged }) => damaged === true).map(({ id }) => id)
  const own = broken.filter(({ project: path }) => path === target.project)
  expect(listed.toSorted()).toEqual(own.map(({ id }) => id).toSorted())
  expect(await project.show(target.id)).toMatchObject({ id: target.id, changes: [] })
  await expect(project.rewind(target.id)).rejects.toMatchObject({
    code: 'CHECKPOINT_DAMAGED',
  })
  const whole = [...target.content].filter(
    ([path, { type }]) => type === 'file' && path.includes('/'),
  )
  const [path = ''] = whole[0] ?? []
  rmSync(join(target.project, path), { force: true })
  await project.rewind(target.id, { paths: [path] })
  expect(existsSync(join(target.project, path))).toBe(true)
  // The next save does not rely on lost objects.
  writeFileSync(join(target.project, 'new.txt'), 'new\n')
  expect(await project.save()).toMatchObject({ created: true })
  await store.close()
})

test('a checkpoint whose row was lost is listed again in its order of time', async () => {
  const home = made.copy()
  const path = made.checkpoints[0]?.project ?? ''
  const listed = async () => {
    const store = await sdk.openStore({ home, durability: 'process', inProcess: true })
    const checkpoints = await (await store.project(path)).list()
    await store.close()
    return checkpoints.filter(({ hasFiles }) => hasFiles).map(({ id }) => id)
  }
  const before = await listed()
  expect(before.length).toBeGreaterThan(2)
  const database = openDatabase(join(home, 'ledger.db'), { timeoutMs: 0 })
  database.exec('PRAGMA foreign_keys = OFF')
  database.run('DELETE FROM checkpoints WHERE id = ?', before[1] ?? '')
  database.run('UPDATE store SET has_lost_rows = 1')
  database.close()
  expect(await listed()).toEqual(before.filter((_, index) => index !== 1))
  await sdk.repairStore({ home, inProcess: true })
  expect(await listed()).toEqual(before)
})

test('a row overrides a ref to another commit of the same checkpoint', async () => {
  const home = made.copy()
  const [known, other] = made.checkpoints as [Known, Known]
  const git = (args: readonly string[], input = '') =>
    execFileSync('git', [`--git-dir=${join(home, 'objects.git')}`, ...args], {
      input,
      env: GIT_ENVIRONMENT,
    }).toString()
  const ref = filesOf(home).find((file) => file.endsWith(`refs/savestate/${known.ref}`)) ?? ''
  const commit = readFileSync(join(home, ref), 'utf8').trim()
  const forged = git(['cat-file', 'commit', commit]).replace(known.tree, other.tree)
  const old = git(['hash-object', '-t', 'commit', '-w', '--stdin'], forged)
  writeFileSync(join(home, ref), old)
  const { left } = await repairTwice(home)
  expect(left).toEqual([])
  expect(readFileSync(join(home, ref), 'utf8').trim()).toBe(commit)
  expect(await fileComplaints(made, { home, broken: new Set() }, { isThorough })).toEqual([])
})

test('saving a folder that still has the lost content makes the checkpoint intact again', async () => {
  const home = made.copy()
  const known = made.checkpoints.at(-1) as Known
  damage(join(home, fileOf(VITAL, 'blob')), 'deleted')
  const { problems } = await sdk.repairStore({ home, inProcess: true })
  const [lost] = problems.filter(({ severity }) => severity === 'damage')
  const target = made.checkpoints.find(({ id }) => id === lost?.checkpoint) ?? known
  const whole = await sdk.openStore({ home: made.copy(), durability: 'process', inProcess: true })
  await (await whole.project(target.project)).rewind(target.id)
  await whole.close()
  const store = await sdk.openStore({ home, durability: 'process', inProcess: true })
  await (await store.project(target.project)).save()
  await store.close()
  const after = await sdk.repairStore({ home, inProcess: true })
  expect(after.problems.filter(({ severity }) => severity === 'damage')).toEqual([])
  expect(await fileComplaints(made, { home, broken: new Set() }, { isThorough })).toEqual([])
})

test('a repair does not repeat what another process repaired during the question', async () => {
  const home = made.copy()
  const file = fileOf(VITAL, 'blob')
  const [lost = ''] = objectsIn(home, file)
  const target = made.checkpoints.find(({ objects }) => objects.has(lost)) as Known
  const whole = await sdk.openStore({ home: made.copy(), durability: 'process', inProcess: true })
  await (await whole.project(target.project)).rewind(target.id)
  await whole.close()
  damage(join(home, file), 'flipped')
  const env = { ...process.env, SAVESTATE_HOME: home, SAVESTATE_NO_DAEMON: '1' }
  const savestate = (...args: string[]) =>
    spawnSync(process.execPath, [PROGRAM, '-C', target.project, ...args], { env }).status
  const ended: (number | null)[] = []
  let asked = 0
  const { problems } = await sdk.repairStore({
    home,
    inProcess: true,
    async confirm() {
      asked += 1
      // Another process repairs first, and then saves a folder that still has the lost content.
      if (asked === 1)
        for (const args of [['repair', '--yes'], ['save'], ['repair', '--yes']])
          ended.push(savestate(...args))
      return true
    },
  })
  // The first repair reported a loss, the second none.
  expect(ended).toEqual([2, 0, 0])
  expect(problems).toEqual([])
  expect(asked).toBe(1)
  expect(await fileComplaints(made, { home, broken: new Set() }, { isThorough })).toEqual([])
})
