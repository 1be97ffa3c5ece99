// A capture contains exactly the files that git does not ignore: thousands of generated trees and ignore files are saved by
// the whole program and compared with `git check-ignore`. To search further than the fixed seed:
// SEED=7 RUNS=500 npx vitest run test/snapshot/ignore/capture-agreement.test.ts
import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { tries } from '../../support/test-budget.js'
import type { Store } from '../../../src/index.js'
import { capturedFiles } from '../capture/capture-helpers.js'
import { GIT_ENVIRONMENT, type Scratch, scratch } from '../../support/scratch.js'

const SEED = Number(process.env['SEED'] ?? 1_988)
const RUNS = Number(process.env['RUNS'] ?? tries(120))

// Names that no default exclude matches, and few enough that rules and paths often meet. One character per byte.
const PLAIN = [
  'a',
  'b',
  'c',
  'ab',
  'foo',
  'bar',
  'foobar',
  'a.b',
  'x.txt',
  'A',
  'src',
  'lib',
  'tmp',
]
const NASTY = [
  ' a',
  'a ',
  '#a',
  '!a',
  '[a]',
  '*',
  '?',
  '\\',
  'a\\b',
  '"a"',
  ':(a',
  '-a',
  'a\tb',
  '\xff',
  '\xc3\xa9',
]
const name = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...PLAIN) },
  { weight: 1, arbitrary: fc.constantFrom(...NASTY) },
)
const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join('/'))

const piece = fc.oneof(
  { weight: 6, arbitrary: name },
  {
    weight: 4,
    arbitrary: fc.constantFrom('*', '?', '*.b', 'a*', '*a', '**', '.*', '*.txt', 'f?o'),
  },
  { weight: 2, arbitrary: fc.constantFrom('[ab]', '[!a]', '[a-c]', '[[:alpha:]]', '[]', '[a') },
  { weight: 1, arbitrary: fc.constantFrom('\\a', '\\*', '\\ ', '\\#', '\\!', '\\') },
)
const rule = fc
  .record({
    not: fc.constantFrom('', '', '', '!'),
    anchor: fc.constantFrom('', '', '/', '**/'),
    parts: fc.array(piece, { minLength: 1, maxLength: 3 }),
    between: fc.constantFrom('/', '/', '/**/', '/*/'),
    end: fc.constantFrom('', '', '', '/', '/*', '/**', ' ', '  ', '\\ '),
  })
  .map(({ not, anchor, parts, between, end }) => not + anchor + parts.join(between) + end)
  // An older git matches foo**/bar to foobar; we follow gitignore(5) there.
  .filter((text) => !/[^*/\\]\*\*/.test(text))
const ignoreText = fc
  .tuple(fc.array(rule, { maxLength: 6 }), fc.constantFrom('\n', '\n', '\r\n'), fc.boolean())
  .map(([rules, eol, isEnded]) => rules.join(eol) + (isEnded ? eol : ''))

type Case = {
  readonly files: readonly string[]
  readonly exclude: string
  readonly ignores: readonly { readonly at: number; readonly text: string }[]
}
const cases: fc.Arbitrary<Case> = fc.record({
  files: fc.array(path, { minLength: 20, maxLength: 40 }),
  exclude: ignoreText,
  ignores: fc.array(fc.record({ at: fc.nat(100), text: ignoreText }), {
    minLength: 1,
    maxLength: 5,
  }),
})

let s: Scratch
let store: Store
let count = 0

beforeAll(async () => {
  s = await scratch()
  store = await s.open()
})

afterAll(() => s.dispose())

test('a file is captured exactly if git does not ignore it', async () => {
  let captured = 0
  let ignored = 0
  await fc.assert(
    fc.asyncProperty(cases, async (one) => {
      const folder = join(s.folder, `case-${count++}`)
      const files = build(folder, one)
      const project = await store.project(folder)
      const { id } = await project.save()
      const { ref } = await project.show(id)
      const left = ignoredByGit(folder, files)
      expect(capturedFiles(s, ref)).toEqual(files.filter((file) => !left.has(file)).sort())
      ignored += left.size
      captured += files.length - left.size

      // The same folder under other rules, with cached nodes.
      write(folder, '.gitignore', one.exclude)
      write(folder, '.git/info/exclude', one.ignores[0]?.text ?? '')
      const again = await project.save()
      const now = [...new Set([...files, '.gitignore'])]
      const leftNow = ignoredByGit(folder, now)
      expect(capturedFiles(s, (await project.show(again.id)).ref)).toEqual(
        now.filter((file) => !leftNow.has(file)).sort(),
      )
    }),
    { seed: SEED, numRuns: RUNS },
  )
  // Rules that never or always match would prove nothing.
  expect(Math.min(captured, ignored)).toBeGreaterThan(RUNS * 3)
}, 240_000)

test('a save in any folder of a repository decides like git', async () => {
  await fc.assert(
    fc.asyncProperty(cases, async (one) => {
      const top = join(s.folder, `case-${count++}`)
      const below = one.files.flatMap((file, i) => (i % 4 === 0 ? [] : `src/${file}`))
      const files = build(top, { ...one, files: ['src/a', ...below, 'top'] })
      // The project is a folder of the repository; skip folders that are ignored themselves.
      const left = ignoredByGit(top, ['src', ...files])
      fc.pre(!left.has('src'))
      const project = await store.project(join(top, 'src'))
      const { id } = await project.save()
      const inside = files.filter((file) => file.startsWith('src/') && !left.has(file))
      expect(capturedFiles(s, (await project.show(id)).ref)).toEqual(
        inside.map((file) => file.slice('src/'.length)).sort(),
      )
    }),
    { seed: SEED + 1, numRuns: Math.ceil(RUNS / 3) },
  )
}, 240_000)

/** Creates the case and returns its files. Skips a path that conflicts with an earlier one. */
function build(folder: string, { files, exclude, ignores }: Case): string[] {
  mkdirSync(join(folder, '.git/info'), { recursive: true })
  for (const inside of ['objects', 'refs']) mkdirSync(join(folder, '.git', inside))
  writeFileSync(join(folder, '.git/HEAD'), 'ref: refs/heads/main\n')
  write(folder, '.git/info/exclude', exclude)
  const isFolder = new Set<string>()
  const isFile = new Set<string>()
  for (const file of files) {
    const names = file.split('/')
    const parents = names.slice(1).map((_, i) => names.slice(0, i + 1).join('/'))
    if (isFolder.has(file) || parents.some((parent) => isFile.has(parent))) continue
    for (const parent of parents) isFolder.add(parent)
    isFile.add(file)
  }
  const folders = ['', ...isFolder]
  for (const { at, text } of ignores) {
    const parent = folders[at % folders.length] ?? ''
    const file = parent === '' ? '.gitignore' : `${parent}/.gitignore`
    isFile.add(file)
    write(folder, file, text)
  }
  for (const file of isFile)
    if (!file.endsWith('.gitignore')) write(folder, file, `content of ${file}`)
  return [...isFile]
}

function write(folder: string, file: string, text: string): void {
  const place = Buffer.from(`${Buffer.from(folder).toString('latin1')}/${file}`, 'latin1')
  mkdirSync(place.subarray(0, place.lastIndexOf('/')), { recursive: true })
  writeFileSync(place, text, 'latin1')
}

function ignoredByGit(folder: string, files: readonly string[]): Set<string> {
  // './' keeps git from reading a path that starts with ':' as pathspec magic.
  const run = spawnSync('git', ['check-ignore', '--no-index', '-z', '--stdin'], {
    cwd: folder,
    env: GIT_ENVIRONMENT,
    input: Buffer.from(files.map((file) => `./${file}\0`).join(''), 'latin1'),
  })
  expect(run.stderr.toString()).toBe('')
  const answers = run.stdout.toString('latin1').split('\0').slice(0, -1)
  return new Set(answers.map((answer) => answer.slice('./'.length)))
}
