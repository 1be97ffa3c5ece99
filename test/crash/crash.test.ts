// I6: a save, rewind or undo killed at any failpoint is finished or undone by the next command, and nothing
// captured is lost. The kill is real: SIGKILL in a child, at the failpoint that SAVESTATE_FAILPOINT names.
/* oxlint-disable vitest/expect-expect, vitest/no-conditional-expect -- expectRecovered and expectSound do */
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Project, Store } from '../../src/index.js'
import { isLong } from '../support/test-budget.js'
import { saveScratch, restoreScratch } from '../support/saved-scratch.js'
import { type FileSpec, type Scratch, type Seen, scratch } from '../support/scratch.js'
import { SESSION_POINTS } from '../engine/sessions/session-failpoints.js'
import { IMPORT_POINTS } from '../imports/import-failpoints.js'
import { DROP_POINTS } from '../support/failpoints/drop.js'
import { FORGET_POINTS } from '../support/failpoints/forget.js'
import { MOVE_POINTS } from '../support/failpoints/move.js'
import { PRUNE_POINTS } from '../support/failpoints/prune.js'
import { SLICE_POINTS } from '../support/failpoints/slice.js'
import { HIDE_POINTS, REKEY_POINTS } from '../support/failpoints/rekey.js'
import { REPAIR_POINTS } from '../support/failpoints/repair.js'

const HERE = dirname(fileURLToPath(import.meta.url))

type Operation = 'save' | 'save-many' | 'rewind' | 'undo'
type Step = readonly [string, unknown?]

/** An undo works like a rewind, so only the long run kills it at later visits. */
const AGAIN = isLong ? 3 : 1

/** How many visits of each failpoint are killed. A visit that does not happen fails the test. */
const POINTS: Readonly<Record<Operation, Readonly<Record<string, number>>>> = {
  save: {
    'capture:hashed': 1,
    'loose:written': 1,
    'loose:named': 3,
    'capture:stored': 1,
    'save:captured': 1,
    'record:commit-written': 1,
    'record:ref-written': 1,
    'save:before-row': 1,
    'save:after-row': 1,
  },
  'save-many': { 'pack:written': 1, 'pack:named': 1, 'capture:stored': 1 },
  rewind: {
    'capture:hashed': 2,
    'loose:written': 3,
    'loose:named': 1,
    'capture:stored': 2,
    'record:commit-written': 2,
    'record:ref-written': 2,
    'save:before-row': 1,
    'save:after-row': 1,
    'restore:safety-made': 1,
    'restore:journaled': 1,
    'apply:folder': 3,
    'apply:staged': 1,
    'apply:aside': 2,
    'apply:remove': 3,
    'apply:removed': 1,
    'apply:place': 3,
    'apply:placed': 1,
    'apply:modes-set': 1,
    'restore:applied': 1,
    'asides:removed': 2,
    'restore:before-row': 1,
    'restore:after-row': 1,
    'restore:done': 1,
  },
  undo: {
    'capture:hashed': 2,
    'capture:stored': 2,
    'record:commit-written': 2,
    'record:ref-written': 2,
    'save:before-row': 1,
    'save:after-row': 1,
    'restore:safety-made': 1,
    'restore:journaled': 1,
    'apply:folder': AGAIN,
    'apply:staged': 1,
    'apply:aside': AGAIN,
    'apply:remove': AGAIN,
    'apply:removed': 1,
    'apply:place': AGAIN,
    'apply:placed': 1,
    'apply:modes-set': 1,
    'restore:applied': 1,
    'asides:removed': AGAIN,
    'restore:before-row': 1,
    'restore:after-row': 1,
    'restore:done': 1,
  },
}

/** Every next command has to recover first. */
const NEXT = ['save', 'list', 'rewind', 'undo', 'verify', 'diff', 'show'] as const
type Next = (typeof NEXT)[number]

const FIRST: Readonly<Record<string, FileSpec>> = {
  'modified.txt': 'one\n',
  'unchanged.txt': 'always the same\n',
  'deep/keep.txt': 'keep\n',
  'deep/er/deleted.txt': 'deleted later\n',
  'deep/er/changed.txt': 'changed later\n',
  'gone/x': 'x\n',
  'gone/sub/y': 'y\n',
  'gone/sub/empty': { folder: 0o700 },
  'empty-gone': { folder: 0o711 },
  'empty-kept': { folder: 0o755 },
  'script.sh': { content: '#!/bin/sh\n', mode: 0o755 },
  'secret.txt': { content: 'secret\n', mode: 0o600 },
  'private/inside.txt': 'inside\n',
  private: { folder: 0o700 },
  'file-to-folder': 'a file\n',
  'folder-to-file/a': 'a\n',
  'folder-to-file/b/c': 'c\n',
  'file-to-link': 'a file\n',
  'link-to-file': { link: 'modified.txt' },
  'folder-to-link/d': 'd\n',
  'link-to-folder': { link: 'deep' },
  'retargeted-link': { link: 'nowhere/one' },
  'gone-link': { link: 'deep/keep.txt' },
  'zz/deleted.txt': 'deleted later\n',
  ' odd\nname': 'odd\n',
  '"\\377\\376.bin"': Buffer.from([0, 255, 254]),
}

const SECOND: Readonly<Record<string, FileSpec>> = {
  'modified.txt': 'one and a half\n',
  'between.txt': 'only in the second\n',
}

const THIRD: Readonly<Record<string, FileSpec>> = {
  'modified.txt': 'two, and longer\n',
  'between.txt': null,
  'deep/er/deleted.txt': null,
  'deep/er/changed.txt': 'has changed\n',
  gone: null,
  'empty-gone': null,
  'gone-link': null,
  'zz/deleted.txt': null,
  'script.sh': { content: '#!/bin/sh\n', mode: 0o644 },
  'secret.txt': { content: 'secret\n', mode: 0o640 },
  private: { folder: 0o755 },
  'private/inside.txt': 'inside has changed\n',
  'created.txt': 'made later\n',
  'created/deep/new.txt': 'made later\n',
  'created/empty': { folder: 0o755 },
  'created/link': { link: '../created.txt' },
  'later/made.txt': 'made later\n',
  'later/debug.log': 'ignored: the only copy\n',
  ' odd\nname': null,
  '"\\377\\376.bin"': Buffer.from([1, 2, 3]),
  '"later-\\200"': 'made later\n',
}

const TYPE_CHANGES: readonly (readonly [string, Readonly<Record<string, FileSpec>>])[] = [
  ['file-to-folder', { 'file-to-folder/in/side': 'in a folder\n' }],
  ['folder-to-file', { 'folder-to-file': 'now a file\n' }],
  ['file-to-link', { 'file-to-link': { link: 'modified.txt' } }],
  ['link-to-file', { 'link-to-file': 'now a file\n' }],
  ['folder-to-link', { 'folder-to-link': { link: 'deep' } }],
  ['link-to-folder', { 'link-to-folder/e': 'e\n' }],
  ['retargeted-link', { 'retargeted-link': { link: 'nowhere/two' } }],
]

type World = Map<string, Seen>

/** One operation to kill: the state before it, the state after it, and how to restore the first. */
type Story = {
  readonly template: string
  readonly steps: readonly Step[]
  readonly before: World
  readonly after: World
}

let s: Scratch
let stories: Readonly<Record<Operation, Story>>
/** The result of rewinding to the two old checkpoints. */
let worlds: { readonly first: World; readonly second: World }
let ids: { readonly first: string; readonly second: string }

beforeAll(async () => {
  s = await scratch({ files: FIRST })
  ids = await withProject(async (project) => {
    const first = await project.save({ reason: 'first' })
    s.write(SECOND)
    const second = await project.save({ reason: 'second' })
    return { first: first.id, second: second.id }
  })
  s.write(THIRD)
  for (const [path, files] of TYPE_CHANGES) {
    s.write({ [path]: null })
    s.write(files)
  }
  saveScratch(s, 'third')
  worlds = {
    second: await worldAfter('third', [['rewind', { to: ids.second }]]),
    first: await worldAfter('third', [['rewind', { to: ids.first }]]),
  }
  s.write({ 'unchanged.txt': 'edited after the rewind\n' })
  saveScratch(s, 'rewound')
  restoreScratch(s, 'third')
  s.write(Object.fromEntries(Array.from({ length: 150 }, (_, i) => [`many/${i}`, `file ${i}\n`])))
  saveScratch(s, 'many')
  stories = {
    save: await storyOf('third', [['save', { reason: 'killed' }]]),
    'save-many': await storyOf('many', [['save', { reason: 'killed' }]]),
    rewind: await storyOf('third', [['rewind', { to: ids.first }]]),
    undo: await storyOf('rewound', [['undo']]),
  }
})

afterAll(() => s.dispose())

test('the table lists the failpoints of the source', () => {
  const src = join(HERE, '../../src')
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' })
  const found = files
    .filter((name) => name.endsWith('.ts') && !name.endsWith('failpoint.ts'))
    .flatMap((name) => [
      ...readFileSync(join(src, name), 'utf8').matchAll(/\bfailpoint\(([^)]*)\)/g),
    ])
    .map((match) => match[1])
  const tables = [
    ...Object.values(POINTS),
    ...Object.values(SESSION_POINTS),
    ...Object.values(IMPORT_POINTS),
    PRUNE_POINTS,
    REPAIR_POINTS,
    FORGET_POINTS,
    DROP_POINTS,
    MOVE_POINTS,
    REKEY_POINTS,
    SLICE_POINTS,
    HIDE_POINTS,
  ]
  const listed = new Set(tables.flatMap((points) => Object.keys(points)))
  expect(new Set(found)).toEqual(new Set([...listed].map((point) => `'${point}'`)))
})

test('the scenario contains a change of every kind', () => {
  const { before, after } = stories.rewind
  expect(after).toEqual(worlds.first)
  expect(before).not.toEqual(after)
  const changed = [...new Set([...before.keys(), ...after.keys()])].flatMap((path) => {
    const [from, to] = [before.get(path), after.get(path)]
    return JSON.stringify(from) === JSON.stringify(to) ? [] : `${from?.type} to ${to?.type}`
  })
  const types = ['file', 'folder', 'link', 'undefined']
  const all = types.flatMap((from) => types.map((to) => `${from} to ${to}`))
  expect([...new Set(changed)].sort()).toEqual(
    all.filter((change) => change !== 'undefined to undefined').sort(),
  )
  expect(after.get('later/debug.log')).toEqual(before.get('later/debug.log'))
})

const cases = Object.entries(POINTS).flatMap(([operation, points]) =>
  Object.entries(points).flatMap(([point, visits]) =>
    Array.from({ length: visits }, (_, i) => ({
      operation: operation as Operation,
      point: i === 0 ? point : `${point}@${i + 1}`,
    })),
  ),
)

/** These are tried with every next command. */
const EVERY_NEXT = ['apply:remove@2', 'apply:place@2']

describe('the next command finishes or undoes an operation killed at a failpoint', () => {
  const turns = cases
    .filter(({ operation, point }) => operation !== 'rewind' || !EVERY_NEXT.includes(point))
    .map((item, i) => ({ ...item, next: NEXT[i % NEXT.length] ?? 'save' }))
  test.each(turns)('$operation at $point, then $next', async ({ operation, point, next }) => {
    kill(operation, point)
    await expectRecovered(operation, next)
  })
})

describe('any command recovers', () => {
  test.each(EVERY_NEXT.flatMap((point) => NEXT.map((next) => ({ point, next }))))(
    'rewind at $point, then $next',
    async ({ point, next }) => {
      kill('rewind', point)
      await expectRecovered('rewind', next)
    },
  )
})

describe('a recovery that is killed too', () => {
  const points = [
    'capture:hashed',
    'capture:stored',
    'restore:journaled',
    'apply:staged',
    'apply:aside',
    'apply:removed',
    'apply:place',
    'apply:place@2',
    'apply:modes-set',
    'restore:applied',
    'asides:removed',
    'record:ref-written',
    'restore:before-row',
    'restore:after-row',
    'restore:done',
  ]
  test.each(points)('rewind at apply:remove@2, then list at %s, then save', async (point) => {
    kill('rewind', 'apply:remove@2')
    runChild([['list']], point)
    await expectRecovered('rewind', 'save')
  })

  test('three times in a row', async () => {
    kill('undo', 'apply:staged')
    runChild([['list']], 'apply:remove')
    runChild([['save']], 'apply:place')
    runChild([['diff', { to: ids.first }]], 'restore:applied')
    await expectRecovered('undo', 'list')
  })
})

describe('edits of the user after the kill are kept', () => {
  const points = [
    'restore:journaled',
    'apply:staged',
    'apply:aside@2',
    'apply:removed',
    'apply:place@2',
    'apply:placed',
    'restore:applied',
    'asides:removed',
    'restore:before-row',
  ]
  const edits: Readonly<Record<string, string>> = {
    'modified.txt': 'edited by hand after the kill\n',
    'deep/er/deleted.txt': 'written anew by hand\n',
    'created.txt': 'edited by hand, though made later\n',
    'brand-new.txt': 'nothing knows of it\n',
  }
  test.each(points)('rewind at %s, then edits', async (point) => {
    kill('rewind', point)
    s.write(edits)
    const edited = s.snapshotOf()
    await withProject((project) => project.list())
    const world = s.snapshotOf()
    const ofEdits = (of: World) => Object.keys(edits).map((path) => of.get(path))
    expect(ofEdits(world)).toEqual(ofEdits(edited))
    const others = (of: World) => new Map([...of].filter(([path]) => !(path in edits)))
    const { before, after } = stories.rewind
    expect([others(before), others(after)]).toContainEqual(others(world))
    await withProject((project, store) => expectSound(project, store))
  })
})

test('a rewind that an uncaptured file blocks is undone', async () => {
  kill('rewind', 'apply:staged')
  mkdirSync(join(s.project, 'deep/er'), { recursive: true })
  execFileSync('mkfifo', [join(s.project, 'deep/er/deleted.txt')])
  const notices: string[] = []
  await withProject(async (project) => {
    await project.list({ onWarning: (text) => notices.push(text) })
  })
  expect(notices.join()).toContain('undone')
  const world = s.snapshotOf()
  expect(world.get('deep/er/deleted.txt')?.type).toBe('special')
  world.delete('deep/er/deleted.txt')
  expect(world).toEqual(stories.rewind.before)
  rmSync(join(s.project, 'deep/er/deleted.txt'))
  await withProject((project, store) => expectSound(project, store))
})

test('if the second attempt cannot finish either, the changes of the first are undone too', async () => {
  kill('rewind', 'apply:place@3')
  runChild([['list']], 'apply:place')
  execFileSync('mkfifo', [join(s.project, 'zz/deleted.txt')])
  await withProject((project) => project.list())
  const world = s.snapshotOf()
  world.delete('zz/deleted.txt')
  expect(world).toEqual(stories.rewind.before)
  rmSync(join(s.project, 'zz/deleted.txt'))
  await withProject((project, store) => expectSound(project, store))
})

test('a checkpoint has a file that a killed rewind moved aside and a program wrote to since', async () => {
  kill('rewind', 'apply:aside')
  const isAside = (path: string) => path.includes('.savestate-old-')
  const aside = [...s.snapshotOf().keys()].find(isAside)
  const written = 'written through an open file after the kill\n'
  s.write({ [aside ?? '']: written })
  const notices: string[] = []
  await withProject(async (project, store) => {
    await project.list({ onWarning: (text) => notices.push(text) })
    expect([...s.snapshotOf().keys()].filter(isAside)).toEqual([])
    const [saved] = (await project.list()).filter(({ reason }) =>
      reason?.startsWith('during rewind'),
    )
    const { changes } = await project.diff(ids.second, { to: saved?.id ?? '' })
    const texts = changes.map(({ path }) => path)
    expect(notices[0]).toMatch(new RegExp(`^A program wrote to (?:${texts.join('|')}) while`))
    expect(blobsOfCheckpoints()).toContain(hashOf(written))
    await expectSound(project, store)
  })
})

function blobsOfCheckpoints(): string[] {
  const git = ['--git-dir', join(s.home, 'objects.git'), 'rev-list', '--all', '--objects']
  const lines = execFileSync('git', git, { encoding: 'utf8' }).split('\n')
  return lines.map((line) => line.slice(0, 40))
}

function hashOf(text: string): string {
  return createHash('sha1')
    .update(`blob ${Buffer.byteLength(text)}\0${text}`)
    .digest('hex')
}

test('recovery restores the mode of a read-only folder', async () => {
  restoreScratch(s, 'third')
  s.write({ 'deep/er': { folder: 0o555 } })
  const before = s.snapshotOf()
  runChild([['rewind', { to: ids.first, paths: ['deep/er/changed.txt'] }]], 'apply:place')
  await withProject((project) => project.list())
  const world = s.snapshotOf()
  expect(world.get('deep/er')).toEqual(before.get('deep/er'))
})

test('the next command reports that it finished an interrupted operation', async () => {
  kill('rewind', 'apply:placed')
  const notices: string[] = []
  const reason = await withProject(async (project) => {
    await project.list({ onWarning: (text) => notices.push(text) })
    return (await project.list({ limit: 1 }))[0]?.reason
  })
  expect(reason).toBe(`rewind to "first" (${ids.first.slice(0, 8)})`)
  expect(notices).toEqual([`An interrupted rewind has been finished: ${reason}.`])
})

test('a checkpoint without a row does not exist', async () => {
  kill('save', 'save:before-row')
  const listed = await withProject((project) => project.list())
  expect(listed.map(({ id }) => id)).toEqual([ids.second, ids.first])
  kill('save', 'save:after-row')
  const after = await withProject((project) => project.list())
  expect(after.map(({ reason }) => reason)).toEqual(['killed', 'second', 'first'])
})

async function expectRecovered(operation: Operation, next: Next): Promise<void> {
  const { before, after } = stories[operation]
  await withProject(async (project, store) => {
    if (next === 'rewind') {
      await project.rewind(ids.second)
      expect(s.snapshotOf()).toEqual(worlds.second)
    } else if (next === 'undo') {
      // Whether it was finished or undone, an undo has the same result.
      await project.undo().catch((error: unknown) => {
        expect(error).toMatchObject({ code: 'NOTHING_TO_UNDO' })
      })
      expect(s.snapshotOf()).toEqual(operation === 'undo' ? after : before)
    } else {
      if (next === 'verify') {
        const { problems } = await store.verify()
        const damage = problems.filter(({ severity }) => severity === 'damage')
        expect(damage.filter(({ kind }) => kind !== 'interrupted')).toEqual([])
        await project.list()
      } else if (next === 'show') {
        await project.show(ids.first)
      } else if (next === 'diff') {
        await project.diff(ids.first)
      } else if (next === 'list') {
        await project.list()
      }
      const world = s.snapshotOf()
      if (next !== 'save') expect([before, after]).toContainEqual(world)
      const saved = await project.save({ reason: 'next' })
      expect([before, after]).toContainEqual(s.snapshotOf())
      if (next !== 'save') expect(s.snapshotOf()).toEqual(world)
      // The save captured the current folder: rewinding to it changes nothing.
      expect(await project.rewind(saved.id)).toMatchObject({ applied: false })
    }
    await expectSound(project, store)
  })
}

/** No leftovers, no loss, no damage. */
async function expectSound(project: Project, store: Store): Promise<void> {
  const leftovers = [...s.snapshotOf().keys()].filter((path) => path.includes('.savestate-'))
  expect(leftovers).toEqual([])
  const inStore = (name: string) =>
    existsSync(join(s.home, name)) ? readdirSync(join(s.home, name)) : []
  expect(inStore('journal')).toEqual([])
  const checkpoints = await project.list()
  expect(checkpoints.map(({ id }) => id)).toEqual(expect.arrayContaining([ids.first, ids.second]))
  await project.rewind(ids.first)
  expect(s.snapshotOf()).toEqual(worlds.first)
  await project.rewind(ids.second)
  expect(s.snapshotOf()).toEqual(worlds.second)
  expect(inStore('tmp')).toEqual([])
  // Verify runs `git fsck` too.
  const { problems } = await store.verify()
  expect(problems.filter(({ severity }) => severity === 'damage')).toEqual([])
}

function kill(operation: Operation, point: string): void {
  const { template, steps } = stories[operation]
  restoreScratch(s, template)
  runChild(steps, point)
}

/** Runs the steps in a process that must die at the failpoint and for no other reason. */
function runChild(steps: readonly Step[], failpoint: string): void {
  // Saves and undos with a capture thread, as in a program; the others without, as in a command.
  const inProcess = steps.every(([name]) => name !== 'save' && name !== 'undo')
  // Small saves write through the log only if they must survive a power failure.
  const durability = inProcess ? 'process' : 'fsync'
  const place = { home: s.home, project: s.project }
  const request = JSON.stringify({ ...place, inProcess, durability, run: steps })
  const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env
  const child = spawnSync(process.execPath, [join(HERE, '../support/crash-child.mjs'), request], {
    env: { ...env, SAVESTATE_FAILPOINT: failpoint },
    encoding: 'utf8',
  })
  const { signal, stdout, stderr } = child
  expect({ signal, stdout, stderr }).toEqual({ signal: 'SIGKILL', stdout: '', stderr: '' })
}

async function withProject<T>(work: (project: Project, store: Store) => Promise<T>): Promise<T> {
  // Starting a thread would take longer than the case.
  const store = await s.open({ inProcess: true })
  try {
    return await work(await store.project(s.project), store)
  } finally {
    await store.close()
  }
}

async function storyOf(template: string, steps: readonly Step[]): Promise<Story> {
  restoreScratch(s, template)
  const before = s.snapshotOf()
  return { template, steps, before, after: await worldAfter(template, steps) }
}

async function worldAfter(template: string, steps: readonly Step[]): Promise<World> {
  restoreScratch(s, template)
  await withProject(async (project) => {
    for (const [name, input] of steps) {
      if (name === 'rewind') await project.rewind((input as { to: string }).to)
      if (name === 'undo') await project.undo()
      if (name === 'save') await project.save(input as { reason: string })
    }
  })
  return s.snapshotOf()
}
