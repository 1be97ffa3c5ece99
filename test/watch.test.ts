// A watched save is a full scan of the same instant (docs/watching.md): trees are changed at random, hard, and
// every watched save is compared with one of a store that watches nothing.
import {
  appendFileSync,
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Project, Store } from '../src/index.js'
import { storeGit } from './capture-helpers.js'
import { type Scratch, scratch, sdk } from './scratch.js'

const NAMES = ['a', 'b', 'c', 'd', 'e.log', '.gitignore', 'f']
/** More for `npm run torture:watch`. */
const RUNS = Number(process.env['SAVESTATE_WATCH_RUNS'] ?? 60)
const SEED = Number(process.env['SAVESTATE_WATCH_SEED'] ?? 11)

type Pick = { readonly depth: number; readonly turn: number }
type Act = { readonly kind: (typeof KINDS)[number]; readonly at: Pick; readonly to: Pick }

const KINDS = [
  'write',
  'append',
  'truncate',
  'replace',
  'remove',
  'folder',
  'move',
  'swap',
  'link',
  'chmod',
  'touch',
  'hard link',
  'again at once',
  'deep',
  'ignore',
] as const

const pick = fc.record({ depth: fc.nat(3), turn: fc.nat(1000) })
const act: fc.Arbitrary<Act> = fc.record({
  kind: fc.constantFrom(...KINDS),
  at: pick,
  to: pick,
})

/** A path that may or may not be there. */
function pathOf(root: string, { depth, turn }: Pick): string {
  let path = root
  for (let i = 0; i <= depth; i++) {
    path = join(path, NAMES[(turn + i * 7 + (turn >> i)) % NAMES.length] ?? 'a')
    if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) break
  }
  return path
}

function perform(root: string, { kind, at, to }: Act): void {
  const path = pathOf(root, at)
  const other = pathOf(root, to)
  const text = `${kind} ${at.turn} ${to.turn}\n`
  const stats = lstatSync(path, { throwIfNoEntry: false })
  const isFile = stats?.isFile() === true
  const actions: Record<Act['kind'], () => void> = {
    write: () => (stats === undefined || isFile ? writeFileSync(path, text) : undefined),
    append: () => isFile && appendFileSync(path, text),
    truncate: () => isFile && truncateSync(path, to.turn % 5),
    replace() {
      writeFileSync(`${path}.new`, text)
      if (stats?.isDirectory() === true) rmSync(path, { recursive: true })
      renameSync(`${path}.new`, path)
    },
    remove: () => rmSync(path, { recursive: true, force: true }),
    folder: () => stats === undefined && mkdirSync(path),
    move() {
      if (stats === undefined || other.startsWith(path) || path.startsWith(other)) return
      rmSync(other, { recursive: true, force: true })
      renameSync(path, other)
    },
    swap() {
      if (stats === undefined) return
      renameSync(path, `${root}-away`)
      renameSync(`${root}-away`, path)
    },
    link: () => stats === undefined && symlinkSync(text.trim(), path),
    chmod: () =>
      stats !== undefined &&
      !stats.isSymbolicLink() &&
      chmodSync(path, stats.isDirectory() ? 0o700 | (to.turn & 0o55) : 0o600 | (to.turn & 0o177)),
    touch: () => isFile && utimesSync(path, to.turn, to.turn),
    'hard link': () =>
      isFile && lstatSync(other, { throwIfNoEntry: false }) === undefined && linkSync(path, other),
    'again at once'() {
      rmSync(path, { recursive: true, force: true })
      mkdirSync(path)
      writeFileSync(join(path, 'a'), text)
      rmSync(path, { recursive: true })
      if (to.turn % 2 === 0) mkdirSync(join(path, 'a', 'b'), { recursive: true })
      else writeFileSync(path, text)
    },
    deep() {
      rmSync(path, { recursive: true, force: true })
      mkdirSync(join(path, 'a/b/c/d'), { recursive: true })
      writeFileSync(join(path, 'a/b/c/d/e'), text)
    },
    ignore: () => (stats === undefined || isFile) && writeFileSync(path, '*.log\nc/\n!c/a\n'),
  }
  actions[kind]()
}

test('a watched save is that of a full scan, whatever happened before it', async () => {
  await using s = await scratch()
  await using pair = await watchedAndNot(s)
  await fc.assert(
    fc.asyncProperty(fc.array(act, { minLength: 1, maxLength: 25 }), async (acts) => {
      for (const each of acts) perform(s.project, each)
      expect(await pair.isSame()).toBe(true)
    }),
    { seed: SEED, numRuns: RUNS, endOnFailure: true },
  )
  expect(await pair.fullScans()).toBe(0)
})

test('what is touched while a save goes on is in the next one', async () => {
  await using s = await scratch()
  for (let i = 0; i < 300; i++) s.write({ [`f${i % 20}/x${i}`]: String(i) })
  await using pair = await watchedAndNot(s)
  for (let round = 0; round < 25; round++) {
    const saving = pair.watched.save()
    for (let i = 0; i < 40; i++) {
      const file = join(s.project, `f${(round + i) % 20}`, `x${(i * 7) % 300}`)
      writeFileSync(file, `${round} ${i}`)
      if (i % 8 === 0) await new Promise((resolve) => setImmediate(resolve))
      if (i % 13 === 0) renameSync(file, `${file}.moved`)
    }
    await saving
    expect(await pair.isSame(), `round ${round}`).toBe(true)
  }
})

type Pair = AsyncDisposable & {
  readonly watched: Project
  /** Both save; whether both have the same. */
  isSame(): Promise<boolean>
  fullScans(): Promise<number>
}

async function watchedAndNot(s: Scratch): Promise<Pair> {
  const store = await s.open()
  const plainHome = join(s.folder, 'plain')
  const plainStore = await sdk.openStore({ home: plainHome })
  const watched = await store.project(s.project, { watch: true })
  const plain = await plainStore.project(s.project)
  await watched.save()
  const treeOf = async (one: Store, project: Project, home: string) => {
    const { id } = await project.save()
    const ref = (await one.status()).projects[0]?.id
    return storeGit({ home }, 'rev-parse', `refs/savestate/${ref}/${id}^{tree}`).toString()
  }
  return {
    watched,
    async isSame() {
      const mine = await treeOf(store, watched, s.home)
      return mine === (await treeOf(plainStore, plain, plainHome))
    },
    fullScans: async () => (await store.status()).watches[0]?.fullScans ?? -1,
    [Symbol.asyncDispose]: () => plainStore.close(),
  }
}
