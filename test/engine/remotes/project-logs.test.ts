// The checkpoints of a project that belong to no session, through a remote: a backup that gives everything back.
import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { isPushDue, type StoreContext } from '../../../src/engine/index.js'
import { type Project, type Store, verifyStore } from '../../../src/index.js'
import { Ledger } from '../../../src/ledger/index.js'
import { parseProjectId } from '../../../src/model/index.js'
import { openRemote } from '../../../src/remote/index.js'
import { systemClock } from '../../../src/system/index.js'
import { GIT_ENVIRONMENT, type Scratch, scratch } from '../../support/scratch.js'
import {
  gitPlace,
  keyFile,
  postgresPlace,
  removeKeyFiles,
} from '../../support/sharing/two-machines.js'

afterAll(removeKeyFiles)

const remotes = postgresPlace()

type Host = { readonly s: Scratch; readonly store: Store }

async function host(s: Scratch, url: string, key?: string): Promise<Host> {
  const store = await s.open()
  await store.remotes.add('team', {
    url,
    ...(key === undefined ? { plain: true } : { keyFile: key }),
  })
  return { s, store }
}

/** The project that a pull into an empty home has created, at a folder that is made for it. */
async function pulledProject({ s, store }: Host, name = 'project'): Promise<Project> {
  const path = join(`${s.home}-pulled`, name)
  mkdirSync(path)
  return store.project(path)
}

/** Everything that a user sees of the checkpoints of a project, and the bytes of every file. */
async function picture({ s }: Host, project: Project): Promise<unknown> {
  const list = await project.list()
  const ledger = Ledger.open(s.home, { durability: 'process' })
  try {
    return list.map((view) => {
      const tree = ledger.checkpoints.get(view.id as never)?.snapshot?.tree
      return { ...view, bytes: tree === undefined ? null : bytesOf(s.home, tree) }
    })
  } finally {
    ledger.close()
  }
}

/** Paths, modes and contents. */
function bytesOf(home: string, tree: string): string {
  const git = (...args: string[]) =>
    execFileSync('git', ['--git-dir', join(home, 'objects.git'), ...args], {
      env: GIT_ENVIRONMENT,
      encoding: 'latin1',
    })
  const listed = git('ls-tree', '-r', '-t', '-z', '--full-tree', tree).split('\0')
  return listed
    .map((line) => {
      const blob = /^\d+ blob (\w+)\t/.exec(line)?.[1]
      return blob === undefined ? line : `${line}\n${git('cat-file', 'blob', blob)}`
    })
    .join('\n')
}

const idsOf = async (project: Project) => (await project.list()).map(({ id }) => id)
const reasonsOf = async (project: Project) => (await project.list()).map(({ reason }) => reason)

async function expectIntact({ s, store }: Host): Promise<void> {
  await expectNoDamage(s)
  expect((await store.remotes.verify()).problems).toEqual([])
}

/** A checkpoint that another store has removed leaves its ref to the next prune, and git makes its copies with our umask. */
async function expectNoDamage({ home }: Scratch): Promise<void> {
  const { problems } = await verifyStore({ home, inProcess: true })
  const isDamage = ({ severity, kind }: (typeof problems)[number]) =>
    severity === 'damage' && kind !== 'permissions'
  expect(problems.filter(isDamage)).toEqual([])
}

describe.each([postgresPlace(), gitPlace()])('through $kind', (place) => {
  test('pull --all into an empty home gives everything back, and the work continues there', async () => {
    await using first = await scratch({ files: { 'a.txt': 'one\n', 'sub/b.txt': 'b\n' } })
    await using second = await scratch()
    const [url, key] = [await place.newUrl(), keyFile()]
    const a = await host(first, url, key)
    await a.store.remotes.init()
    const project = await a.store.project(first.project)
    await project.save({ reason: 'start' })
    const session = await a.store.session('task', { project })
    first.write({ 'a.txt': 'two\n' })
    await session.save({ state: { n: 1 }, files: true, reason: 'step one' })
    first.write({ 'big.bin': Buffer.alloc(600_000, 'é'), 'run.sh': { content: '#', mode: 0o755 } })
    const big = await project.save({ name: 'big' })
    first.write({ 'a.txt': 'three\n', link: { link: 'a.txt' } })
    await session.save({ state: { n: 2 }, files: true, reason: 'step two' })
    await session.close()
    await project.pin(String(big.id))
    await project.rewind('big')
    first.write({ 'a.txt': 'dropped\n' })
    const dropped = await project.save({ reason: 'dropped' })
    await project.drop([dropped.id])
    const { pushed } = await a.store.remotes.push()
    expect(pushed.map(({ kind, error }) => [kind, error])).toEqual([
      ['session', null],
      ['project', null],
    ])

    const b = await host(second, url, key)
    const { pulled } = await b.store.remotes.pull({ all: true })
    expect(pulled.map(({ kind, error }) => [kind, error])).toEqual([
      ['project', null],
      ['session', null],
    ])
    const back = await pulledProject(b)
    expect(await picture(b, back)).toEqual(await picture(a, project))
    await expectIntact(b)

    // It continues the same log, and both homes get what the other one does.
    second.write({ 'new.txt': 'new\n' }, back.path)
    const later = await back.save({ reason: 'later' })
    await back.name(later.id, 'later')
    await b.store.remotes.push({ project: back })
    await a.store.remotes.pull()
    expect(await picture(a, project)).toEqual(await picture(b, back))
    await project.unpin('big')
    await project.drop(['later'])
    await a.store.remotes.push()
    await b.store.remotes.pull()
    expect(await picture(b, back)).toEqual(await picture(a, project))
    expect(await idsOf(back)).not.toContain(later.id)
    await expectIntact(a)
    await expectIntact(b)
    expect((await a.store.remotes.push()).pushed.filter(({ segments }) => segments > 0)).toEqual([])
  })

  test('two machines with the same origin keep what both have saved', async () => {
    await using first = await scratch({ files: { 'f.txt': 'a\n' } })
    await using second = await scratch({ files: { 'f.txt': 'b\n' } })
    const [url, key] = [await place.newUrl(), keyFile()]
    const a = await host(first, url, key)
    const b = await host(second, url, key)
    await a.store.remotes.init()
    for (const s of [first, second]) {
      s.git(['init', '-q'])
      s.git(['remote', 'add', 'origin', 'https://example.org/team/app.git'])
    }
    const [ours, theirs] = [
      await a.store.project(first.project),
      await b.store.project(second.project),
    ]
    await ours.save({ reason: 'ours' })
    await theirs.save({ reason: 'theirs' })
    await a.store.remotes.push()
    await b.store.remotes.push()
    await a.store.remotes.pull({ all: true })
    await b.store.remotes.pull({ all: true })
    expect(new Set(await reasonsOf(ours))).toEqual(new Set(['ours', 'theirs']))
    expect(new Set(await reasonsOf(theirs))).toEqual(new Set(['ours', 'theirs']))
    // Each change goes to the log that has the checkpoint.
    const [mine] = await ours
      .list({ limit: 2 })
      .then((all) => all.filter((it) => it.reason === 'ours'))
    await theirs.name(String(mine?.id), 'seen')
    await b.store.remotes.push()
    await a.store.remotes.pull()
    expect((await ours.show('seen')).reason).toBe('ours')
    await ours.drop(['seen'])
    await a.store.remotes.push()
    await b.store.remotes.pull()
    expect(await reasonsOf(theirs)).toEqual(['theirs'])
    expect(await reasonsOf(ours)).toEqual(['theirs'])
    await expectIntact(a)
    await expectIntact(b)
  })
})

describe('a store', () => {
  const place = postgresPlace()

  test('that forgot what it shares joins what the remote has', async () => {
    await using first = await scratch({ files: { 'f.txt': 'a\n' } })
    const a = await host(first, await place.newUrl(), keyFile())
    await a.store.remotes.init()
    const project = await a.store.project(first.project)
    const lost = await project.save({ reason: 'lost' })
    await a.store.remotes.push()
    await forget(a)
    await project.drop([lost.id])
    first.write({ 'f.txt': 'b\n' })
    await project.save({ reason: 'kept' })
    await a.store.remotes.push()
    await a.store.remotes.pull()
    expect(new Set(await reasonsOf(project))).toEqual(new Set(['kept', 'lost']))
    await expectIntact(a)
  })

  test('that has not fetched all files yet loses none of them on the remote', async () => {
    await using first = await scratch({ files: { 'f.txt': 'a\n' } })
    await using second = await scratch()
    const [url, key] = [await place.newUrl(), keyFile()]
    const a = await host(first, url, key)
    await a.store.remotes.init()
    const project = await a.store.project(first.project)
    await project.save({ reason: 'one' })
    await a.store.remotes.push()
    const b = await host(second, url, key)
    await b.store.remotes.pull({ all: true })
    const back = await pulledProject(b)
    first.write({ 'f.txt': 'b\n' })
    await project.save({ reason: 'two' })
    await a.store.remotes.push()
    // A push applies what is new there, and fetches no files.
    second.write({ 'f.txt': 'c\n' }, back.path)
    await back.save({ reason: 'three' })
    await b.store.remotes.push()
    expect(await reasonsOf(back)).toEqual(['three', 'one'])
    await expectNoDamage(second)
    // The next segment replaces everything that the remote has.
    restart(b)
    await b.store.remotes.push()
    await b.store.remotes.pull()
    await a.store.remotes.pull()
    expect(new Set(await reasonsOf(back))).toEqual(new Set(['one', 'three', 'two']))
    expect(new Set(await reasonsOf(project))).toEqual(new Set(['one', 'three', 'two']))
    await expectIntact(b)
  })

  test('that removes the whole project leaves the backup as it is', async () => {
    await using first = await scratch({ files: { 'f.txt': 'a\n' } })
    const a = await host(first, await place.newUrl(), keyFile())
    await a.store.remotes.init()
    const project = await a.store.project(first.project)
    await project.save({ reason: 'one' })
    await a.store.remotes.push()
    await project.clear()
    expect((await a.store.remotes.push()).pushed).toEqual([])
    await a.store.remotes.pull({ all: true })
    expect(await reasonsOf(await pulledProject(a))).toEqual(['one'])
  })

  test('gets no path back that another one has removed from its history', async () => {
    await using first = await scratch({ files: { 'f.txt': 'a\n', 'secret.txt': 's\n' } })
    await using second = await scratch()
    const [url, key] = [await place.newUrl(), keyFile()]
    const a = await host(first, url, key)
    await a.store.remotes.init()
    const project = await a.store.project(first.project)
    await project.save({ reason: 'one' })
    await a.store.remotes.push()
    const b = await host(second, url, key)
    await b.store.remotes.pull({ all: true })
    const back = await pulledProject(b)
    await project.forget('secret.txt')
    await a.store.remotes.push()
    await b.store.remotes.pull()
    expect(await picture(b, back)).toEqual(await picture(a, project))
    expect(JSON.stringify(await picture(b, back))).not.toContain('secret.txt')
    await expectIntact(b)
  })

  test('compacts its log once nothing is left of it, and removes packs that nothing needs', async () => {
    await using first = await scratch({ files: { 'f.txt': 'a\n' } })
    const url = await place.newUrl()
    const a = await host(first, url)
    await a.store.remotes.init()
    const project = await a.store.project(first.project)
    for (const text of ['a', 'b', 'c']) {
      first.write({ 'f.txt': `${text}\n` })
      await project.save({ name: text })
      await a.store.remotes.push()
    }
    const remote = await openRemote({ url, folder: join(first.folder, 'copies') })
    const left = async () => {
      await a.store.remotes.push()
      const { packs } = await a.store.remotes.prune({ confirm: () => true })
      const [size] = await remote.sizes()
      return { removedPacks: packs, checkpoints: size?.checkpoints, segments: size?.segments }
    }
    await project.drop(['c'])
    expect(await left()).toEqual({ removedPacks: 1, checkpoints: 2, segments: 4 })
    await project.name('b', 'other')
    await a.store.remotes.push()
    expect(await a.store.remotes.verify()).toMatchObject({ projects: 1, files: 2, problems: [] })
    await project.drop(['a', 'other'])
    expect(await left()).toEqual({ removedPacks: 2, checkpoints: 0, segments: 1 })
    expect(await a.store.remotes.verify()).toMatchObject({ files: 0, problems: [] })
    await remote.close()
  })
})

test('a project that was pushed by hand is pushed by itself, and mode wait leaves it to that', async () => {
  await using first = await scratch({ files: { 'f.txt': 'a\n' } })
  const url = await remotes.newUrl()
  mkdirSync(join(first.folder, 'other'))
  const setup = await first.open()
  await setup.remotes.add('team', { url, plain: true, autoPush: true })
  await setup.remotes.init()
  await setup.close()
  const store = await first.open({ remote: { url } })
  const project = await store.project(first.project)
  await project.save()
  const lacks = () => {
    const ledger = Ledger.open(first.home, { durability: 'process' })
    const context = { home: first.home, ledger, clock: systemClock } as StoreContext
    const isDue = isPushDue(context, { isSoon: true })
    ledger.close()
    return isDue
  }
  expect(lacks()).toBe(false)
  await store.remotes.push()
  expect(lacks()).toBe(false)
  first.write({ 'f.txt': 'b\n' })
  await project.save()
  expect(lacks()).toBe(true)
  // Waits for everything of mode wait.
  await store.prune({ dryRun: true })
  expect((await store.status()).remotes).toMatchObject([
    { shared: 0, behind: 0, projects: { shared: 1, behind: 1 } },
  ])
  await store.remotes.autoPush()
  expect(lacks()).toBe(false)
  // The sessions of the project bring its other checkpoints too.
  const other = await store.project(join(first.folder, 'other'))
  const session = await store.session('task', { project: other })
  await session.save({ state: { n: 1 } })
  await session.close()
  expect(lacks()).toBe(false)
  first.write({ 'g.txt': 'g\n' }, other.path)
  await other.save()
  expect(lacks()).toBe(true)
  await store.remotes.autoPush()
  expect((await store.remotes.verify()).projects).toBe(2)
})

function withLog(
  { s }: Host,
  work: (sharing: Ledger['sharing'], log: { kind: 'project'; id: string }) => void,
): void {
  const ledger = Ledger.open(s.home, { durability: 'process' })
  const [shared] = ledger.sharing.list()
  if (shared === undefined) throw new Error('nothing is shared')
  work(ledger.sharing, { kind: 'project', id: parseProjectId(shared.log.id) })
  ledger.close()
}

/** As a repair that lost rows does. */
async function forget(at: Host): Promise<void> {
  withLog(at, (sharing, log) => sharing.unshare(log))
}

function restart(at: Host): void {
  withLog(at, (sharing, log) => {
    const { position } = sharing.get(log) ?? {}
    if (position !== undefined) sharing.restart(log, position)
  })
}
