// Capture, mutate, rewind, undo, redo: for any folder and any changes, each operation leads to exactly the state it
// promises (I9), and uncaptured content is never changed (I5).
//
// To search further than the fixed seed: SEED=7 RUNS=2000 npx vitest run test/engine/restore/round-trip.test.ts
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { tries } from '../../support/test-budget.js'
import type { Project, Store } from '../../../src/index.js'
import { type Scratch, type Seen, scratchWithThreads as scratch } from '../../support/scratch.js'

const SEED = Number(process.env['SEED'] ?? 4_711)
const RUNS = Number(process.env['RUNS'] ?? tries(160))
const SECONDS = 120 + RUNS

// All names and paths here have one character per byte.
type Tree = { readonly mode: number; readonly children: readonly (readonly [string, Thing])[] }
type Thing =
  | { readonly kind: 'file'; readonly content: string; readonly mode: number }
  | { readonly kind: 'link'; readonly target: string }
  | ({ readonly kind: 'folder' } & Tree)
  | { readonly kind: 'repository'; readonly head: string }

/** `at` and `to` choose among the entries that exist at that step. */
type Step =
  | { readonly step: 'write'; readonly at: number; readonly content: string }
  | { readonly step: 'add'; readonly to: number; readonly name: string; readonly thing: Thing }
  | { readonly step: 'delete'; readonly at: number }
  | { readonly step: 'chmod'; readonly at: number; readonly mode: number }
  | { readonly step: 'replace'; readonly at: number; readonly thing: Thing }
  | { readonly step: 'move'; readonly at: number; readonly to: number; readonly name: string }

const NASTY = [
  '\xff',
  'caf\xc3\xa9',
  'new\nline',
  ' ',
  'x ',
  '-rf',
  ':(top)a',
  '"q"',
  'back\\slash',
]
NASTY.push('n'.repeat(255), 'files', 'modes', '*', '\x01')

const name = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom('a', 'b', 'c', 'd', 'A', 'a.txt', '.hidden') },
  {
    weight: 4,
    arbitrary: fc.constantFrom(...NASTY),
  },
  { weight: 2, arbitrary: fc.constantFrom('x.log', 'y.log', 'node_modules') },
  {
    weight: 1,
    arbitrary: fc
      .uint8Array({ minLength: 1, maxLength: 12 })
      .map((bytes) => Buffer.from(bytes.map((byte) => (byte % 47 === 0 ? 0x61 : byte))))
      .map((bytes) => `r${bytes.toString('latin1')}`),
  },
)
const content = fc.constantFrom(
  '',
  'one\n',
  'two\n',
  'crlf\r\n',
  'no newline',
  '\0\xff',
  'x'.repeat(5000),
)
const fileMode = fc.constantFrom(0o644, 0o644, 0o600, 0o755, 0o700, 0o444, 0o640, 0o4755, 0o2711)
// An ordinary user must be able to keep working in these folders.
const folderMode = fc.constantFrom(0o755, 0o755, 0o700, 0o775, 0o750, 0o1777, 0o2755)
const target = fc.constantFrom('a', '../b', '.', '/etc/passwd', 'no/such', '\xff\n')
const head = fc.constantFrom('ref: refs/heads/main\n', 'a'.repeat(40), 'nonsense')

const { thing, tree } = fc.letrec<{ thing: Thing; tree: Tree }>((tie) => ({
  thing: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    {
      weight: 5,
      arbitrary: fc.record({ kind: fc.constant('file' as const), content, mode: fileMode }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('link' as const), target }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('repository' as const), head }) },
    {
      weight: 4,
      arbitrary: tie('tree').map((folder) => ({ kind: 'folder' as const, ...folder })),
    },
  ),
  tree: fc.record({
    mode: folderMode,
    children: fc.uniqueArray(fc.tuple(name, tie('thing')), {
      selector: ([text]) => text,
      maxLength: 6,
    }),
  }),
}))

const index = fc.nat(1000)
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ step: fc.constant('write' as const), at: index, content }) },
  {
    weight: 3,
    arbitrary: fc.record({ step: fc.constant('add' as const), to: index, name, thing }),
  },
  { weight: 2, arbitrary: fc.record({ step: fc.constant('delete' as const), at: index }) },
  {
    weight: 1,
    arbitrary: fc.record({ step: fc.constant('chmod' as const), at: index, mode: fileMode }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ step: fc.constant('replace' as const), at: index, thing }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ step: fc.constant('move' as const), at: index, to: index, name }),
  },
)

let s: Scratch
let store: Store
let runs = 0

beforeAll(async () => {
  s = await scratch()
  store = await s.open()
})

afterAll(() => s.dispose())

test(
  'rewind, undo and redo restore exactly their target state',
  async () => {
    const seen = { applied: 0, conflict: 0, kept: 0 }
    const story = fc.record({
      start: tree,
      before: fc.array(step, { minLength: 1, maxLength: 8 }),
      isCapturedBetween: fc.boolean(),
      after: fc.array(step, { maxLength: 4 }),
    })
    await fc.assert(
      fc.asyncProperty(story, async ({ start, before, isCapturedBetween, after }) => {
        const folder = join(s.folder, `run-${runs++}`)
        const testFolder = new TestFolder(folder)
        testFolder.build(start)
        const project = await store.project(folder)
        const first = await project.save()
        const was = s.snapshotOf(folder)

        for (const one of before) testFolder.take(one)
        if (isCapturedBetween) await project.save()
        for (const one of after) testFolder.take(one)
        const now = s.snapshotOf(folder)
        const outcome = await wayBack(project, { to: first.id, was, now, folder })
        seen[outcome] += 1
        rmSync(folder, { recursive: true })
      }),
      { seed: SEED, numRuns: RUNS, endOnFailure: false },
    )
    expect((await store.verify()).problems).toEqual([])
    // Runs without a change would prove nothing.
    expect(seen.applied).toBeGreaterThan(RUNS / 2)
  },
  SECONDS * 1000,
)

type States = {
  readonly to: string
  readonly folder: string
  readonly was: Map<string, Seen>
  readonly now: Map<string, Seen>
}

type Outcome = 'applied' | 'conflict' | 'kept'

async function wayBack(project: Project, states: States): Promise<Outcome> {
  const expected = expectedAfter(states.was, states.now)
  return expected === 'conflict' ? refused(project, states) : carriedOut(project, states, expected)
}

/** An uncaptured entry is in the way: the rewind changes nothing. */
async function refused(project: Project, { to, now, folder }: States): Promise<Outcome> {
  const dry = await project.rewind(to, { dryRun: true })
  expect(dry.plan.conflict.length).toBeGreaterThan(0)
  await expect(project.rewind(to)).rejects.toMatchObject({ code: 'REWIND_CONFLICT' })
  expect(s.snapshotOf(folder)).toEqual(now)
  return 'conflict'
}

async function carriedOut(
  project: Project,
  { to, now, folder }: States,
  expected: Map<string, Seen>,
): Promise<Outcome> {
  const snapshot = () => s.snapshotOf(folder)
  const dry = await project.rewind(to, { dryRun: true })
  expect(snapshot()).toEqual(now)
  const { plan, applied } = await project.rewind(to)
  expect(plan).toEqual(dry.plan)
  expect(plan.conflict).toEqual([])
  expect(snapshot()).toEqual(expected)
  expect(applied).toBe(!isDeepStrictEqual(expected, now))
  if (!applied) return 'kept'
  await project.undo()
  expect(snapshot()).toEqual(now)
  await project.redo()
  expect(snapshot()).toEqual(expected)
  await project.undo()
  expect(snapshot()).toEqual(now)
  return 'applied'
}

/**
 * The expected result of a rewind: all entries that the checkpoint captured, all entries that are not captured now, and
 * the later folders that contain such entries.
 */
function expectedAfter(
  then: ReadonlyMap<string, Seen>,
  now: ReadonlyMap<string, Seen>,
): Map<string, Seen> | 'conflict' {
  const after = new Map<string, Seen>()
  for (const [path, entry] of then) if (!isUncaptured(then, path)) after.set(path, entry)
  const staying: string[] = []
  for (const [path, entry] of now) {
    const isLeftOut = isUncaptured(now, path)
    const wasLeftOut = !isLeftOut && !after.has(path) && isUncaptured(then, path)
    if (!isLeftOut && !wasLeftOut) continue
    if (isLeftOut && after.has(path)) return 'conflict'
    after.set(path, entry)
    staying.push(path)
  }
  for (const path of staying) {
    for (let folder = parentOf(path); folder !== undefined; folder = parentOf(folder)) {
      const entry = after.get(folder)
      const there = now.get(folder)
      if (entry === undefined && there !== undefined) after.set(folder, there)
      else if (entry !== undefined && entry.type !== 'folder') return 'conflict'
    }
  }
  return new Map([...after].sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** Knows only the names used here: `.git`, `*.log`, and folders called node_modules. */
function isUncaptured(all: ReadonlyMap<string, Seen>, path: string): boolean {
  const names = path.split('/')
  return names.some((text, i) => {
    const level = names.slice(0, i + 1).join('/')
    if (text === '.git' || text.endsWith('.log')) return true
    return text === 'node_modules' && all.get(level)?.type === 'folder'
  })
}

function parentOf(path: string): string | undefined {
  if (path === '') return undefined
  const slash = path.lastIndexOf('/')
  return slash === -1 ? '' : path.slice(0, slash)
}

/** A folder that the generated steps change. */
class TestFolder {
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = folder
    mkdirSync(folder)
  }

  build({ mode, children }: Tree, path = ''): void {
    for (const [text, child] of children) this.#make(path === '' ? text : `${path}/${text}`, child)
    chmodSync(this.#at(path), mode)
  }

  /** Skips a step that has no entry to act on. */
  take(one: Step): void {
    const paths = this.#paths()
    const folders = paths.filter((path) => this.#isFolder(path))
    const target = 'at' in one ? paths[one.at % paths.length] : undefined
    const into = 'to' in one ? folders[one.to % folders.length] : undefined
    if (one.step === 'add' && into !== undefined) {
      const path = into === '' ? one.name : `${into}/${one.name}`
      if (!this.#exists(path)) this.#make(path, one.thing)
      return
    }
    if (target === undefined) return
    if (one.step === 'chmod') {
      const isLink = lstatSync(this.#at(target)).isSymbolicLink()
      const mode = this.#isFolder(target) ? one.mode | 0o700 : one.mode
      if (!isLink) chmodSync(this.#at(target), mode)
    }
    if (target === '') return
    if (one.step === 'write' && lstatSync(this.#at(target)).isFile())
      this.#rewrite(target, one.content)
    if (one.step === 'delete') rmSync(this.#at(target), { recursive: true })
    if (one.step === 'replace') {
      rmSync(this.#at(target), { recursive: true })
      this.#make(target, one.thing)
    }
    if (one.step === 'move' && into !== undefined) {
      const path = into === '' ? one.name : `${into}/${one.name}`
      const isInItself = path === target || path.startsWith(`${target}/`)
      if (!isInItself && !this.#exists(path)) renameSync(this.#at(target), this.#at(path))
    }
  }

  #make(path: string, what: Thing): void {
    const target = this.#at(path)
    if (what.kind === 'file') {
      writeFileSync(target, what.content, 'latin1')
      chmodSync(target, what.mode)
    } else if (what.kind === 'link') {
      symlinkSync(Buffer.from(what.target, 'latin1'), target)
    } else if (what.kind === 'folder') {
      mkdirSync(target)
      this.build(what, path)
    } else {
      mkdirSync(Buffer.concat([target, Buffer.from('/.git')]), { recursive: true })
      writeFileSync(Buffer.concat([target, Buffer.from('/.git/HEAD')]), what.head)
      writeFileSync(Buffer.concat([target, Buffer.from('/tracked')]), 'a file of the repository')
    }
  }

  /** Writes in place if that is allowed, so that the inode stays. */
  #rewrite(path: string, text: string): void {
    const { mode } = lstatSync(this.#at(path))
    if ((mode & 0o200) === 0) unlinkSync(this.#at(path))
    writeFileSync(this.#at(path), text, 'latin1')
    chmodSync(this.#at(path), mode & 0o7777)
  }

  /** All entries outside .git folders. */
  #paths(): string[] {
    return [...s.snapshotOf(this.#folder).keys()].filter((path) => !/(^|\/)\.git(\/|$)/.test(path))
  }

  #isFolder(path: string): boolean {
    return lstatSync(this.#at(path)).isDirectory()
  }

  #exists(path: string): boolean {
    return lstatSync(this.#at(path), { throwIfNoEntry: false }) !== undefined
  }

  #at(path: string): Buffer {
    return Buffer.concat([Buffer.from(`${this.#folder}/`), Buffer.from(path, 'latin1')])
  }
}
