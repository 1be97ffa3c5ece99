import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { tries } from '../../support/test-budget.js'
import { bytePathFromBytes } from '../../../src/model/index.js'
import { SavestateError } from '../../../src/model/index.js'
import { type ObjectId, parseObjectId } from '../../../src/model/ids.js'
import { git, scratchFolders } from '../../support/scratch-git.js'
import { EMPTY_TREE } from '../../../src/snapshot/objects/object-id.js'
import { type Side, type TreeChange, TreeDiff } from '../../../src/snapshot/git/tree-diff.js'

const repository = scratchFolders()()
git(repository, ['init', '-q', '--bare'])
const plain = new TreeDiff(repository, { countLines: false })
const counting = new TreeDiff(repository, { countLines: true })
afterAll(() => [plain, counting].forEach((diff) => diff.close()))

const MODES = { file: '100644', executable: '100755', link: '120000' } as const

/** A leaf: its type, and its number of lines. */
type Leaf = { readonly type: keyof typeof MODES; readonly lines: number }
/** One character per byte; a name may be a folder of leaves. */
type Tree = Readonly<Record<string, Leaf | Readonly<Record<string, Leaf>>>>

const blobs = new Map<number, ObjectId>()

test('every kind of difference is reported, with both sides', async () => {
  const before = build({
    same: leaf('file', 1),
    changed: leaf('file', 1),
    gone: leaf('file', 2),
    mode: leaf('file', 3),
    'type-link': leaf('file', 1),
    'type-folder': leaf('file', 2),
    folder: { inside: leaf('file', 1), other: leaf('file', 1) },
  })
  const after = build({
    same: leaf('file', 1),
    changed: leaf('file', 4),
    new: leaf('executable', 2),
    mode: leaf('executable', 3),
    'type-link': leaf('link', 1),
    'type-folder': { x: leaf('file', 1) },
    folder: { inside: leaf('file', 1), other: leaf('file', 2) },
  })
  const changes = (await counting.compare(before.id, after.id)).map(
    ({ path, before: from, after: to, insertions, deletions }) =>
      `${path} ${from?.type}>${to?.type} +${insertions} -${deletions}`,
  )
  expect(changes.sort()).toEqual([
    'changed file>file +3 -0',
    'folder folder>folder +undefined -undefined',
    'folder/other file>file +1 -0',
    'gone file>undefined +0 -2',
    'mode file>executable +0 -0',
    'new undefined>executable +2 -0',
    'type-folder file>undefined +0 -2',
    'type-folder undefined>folder +undefined -undefined',
    'type-folder/x undefined>file +1 -0',
    'type-link file>link +0 -0',
  ])
})

const name = fc
  .oneof(
    fc.constantFrom(
      'a',
      'b',
      'c',
      'd',
      ' ',
      '\n',
      '\t',
      ':100644',
      '-- answered --\n',
      '"q"',
      '\\',
    ),
    fc.constantFrom('1\t1\tx', '\xff\xfe', '-\t-\tx', ':100644 100644 ', '\xc3\xa9', 'a\tb'),
  )
  .map((text) => text)
const anyLeaf = fc.record({
  type: fc.constantFrom('file' as const, 'executable' as const, 'link' as const),
  lines: fc.nat(4),
})
const tree: fc.Arbitrary<Tree> = fc.dictionary(
  name,
  fc.oneof(anyLeaf, fc.dictionary(name, anyLeaf, { maxKeys: 3, noNullPrototype: true })),
  { maxKeys: 6, noNullPrototype: true },
)

test.each([false, true])(
  'exactly the differing paths are reported, lines counted: %s',
  async (countLines) => {
    const diff = countLines ? counting : plain
    await fc.assert(
      fc.asyncProperty(tree, tree, async (one, other) => {
        const [before, after] = [build(one), build(other)]
        const changes = await diff.compare(before.id, after.id)
        expect(sides(changes)).toEqual(expectedSides(before.sides, after.sides))
      }),
      { seed: 13, numRuns: tries(60) },
    )
  },
)

test('binary content has no lines', async () => {
  const binary = put(Buffer.from([0, 1, 2]))
  const after = mktree([`100644 blob ${binary}\tx`])
  expect(await counting.compare(EMPTY_TREE, after)).toEqual([
    {
      path: 'x',
      before: undefined,
      after: { type: 'file', id: binary },
      insertions: undefined,
      deletions: undefined,
    },
  ])
})

test('equal trees have no differences, and one process answers several requests', async () => {
  const { id } = build({ a: leaf('file', 1) })
  expect(await plain.compare(id, id)).toEqual([])
  for (let i = 0; i < 20; i++) expect((await plain.compare(EMPTY_TREE, id)).length).toBe(1)
})

test('a difference of thousands of paths arrives completely', async () => {
  const blob = put(Buffer.from('x'))
  const lines = Array.from(
    { length: 5000 },
    (_, i) => `100644 blob ${blob}\t${'n'.repeat(100)}${i}`,
  )
  expect((await counting.compare(EMPTY_TREE, mktree(lines))).length).toBe(5000)
})

test('a missing tree is an error, not a tree without differences', async () => {
  const { id } = build({ a: leaf('file', 1) })
  const missing = parseObjectId('1234567890'.repeat(4))
  for (const [before, after] of [
    [missing, id],
    [id, missing],
  ] as const) {
    const diff = new TreeDiff(repository, { countLines: false })
    await expect(diff.compare(before, after)).rejects.toBeInstanceOf(SavestateError)
    diff.close()
  }
})

test('a tree with a missing folder is an error, and the next request is answered', async () => {
  const missing = mktree([`040000 tree ${'1234567890'.repeat(4)}\tlost`])
  const { id } = build({ lost: { a: leaf('file', 1) } })
  const diff = new TreeDiff(repository, { countLines: false })
  await expect(diff.compare(id, missing)).rejects.toBeInstanceOf(SavestateError)
  expect((await diff.compare(EMPTY_TREE, id)).length).toBe(2)
  diff.close()
})

function sides(changes: readonly TreeChange[]): string[] {
  return changes.map(({ path, before, after }) => `${path} ${shown(before)} ${shown(after)}`).sort()
}

/** A file that became a folder is two changes: git removes the file and adds the folder. */
function expectedSides(
  before: ReadonlyMap<string, Side>,
  after: ReadonlyMap<string, Side>,
): string[] {
  const changes: string[] = []
  for (const path of new Set([...before.keys(), ...after.keys()])) {
    const [from, to] = [before.get(path), after.get(path)]
    if (shown(from) === shown(to)) continue
    const isSplit =
      from !== undefined && to !== undefined && (from.type === 'folder') !== (to.type === 'folder')
    if (isSplit) changes.push(`${path} ${shown(from)} none`, `${path} none ${shown(to)}`)
    else changes.push(`${path} ${shown(from)} ${shown(to)}`)
  }
  return changes.sort()
}

function shown(side: Side | undefined): string {
  return side === undefined ? 'none' : `${side.type}:${side.id}`
}

function build(spec: Tree): { id: ObjectId; sides: Map<string, Side> } {
  const all = new Map<string, Side>()
  const lines = Object.entries(spec).map(([key, value]) => {
    if (isLeaf(value)) return leafLine(key, value, all)
    const inner = Object.entries(value).map(([child, item]) =>
      leafLine(child, item, all, `${key}/`),
    )
    const id = mktree(inner)
    all.set(key, { type: 'folder', id })
    return `040000 tree ${id}\t${key}`
  })
  return { id: mktree(lines), sides: all }
}

function leafLine(key: string, { type, lines }: Leaf, all: Map<string, Side>, prefix = ''): string {
  let id = blobs.get(lines)
  if (id === undefined) {
    id = put(Buffer.from('line\n'.repeat(lines)))
    blobs.set(lines, id)
  }
  all.set(prefix + key, { type, id })
  return `${MODES[type]} blob ${id}\t${key}`
}

function isLeaf(value: Leaf | Readonly<Record<string, Leaf>>): value is Leaf {
  return 'lines' in value && typeof value.lines === 'number'
}

function leaf(type: Leaf['type'], lines: number): Leaf {
  return { type, lines }
}

function put(content: Buffer): ObjectId {
  const id = git(repository, ['hash-object', '-w', '--stdin'], content).toString('latin1').trim()
  return parseObjectId(id)
}

function mktree(lines: readonly string[]): ObjectId {
  const input = Buffer.from(lines.map((line) => `${line}\0`).join(''), 'latin1')
  const id = git(repository, ['mktree', '-z', '--missing'], input).toString('latin1').trim()
  return parseObjectId(id)
}

test('paths are bytes', async () => {
  const path = '\xff \n\t"\\'
  const after = build({ [path]: leaf('file', 1) })
  const [change] = await plain.compare(EMPTY_TREE, after.id)
  expect(change?.path).toBe(bytePathFromBytes(Buffer.from(path, 'latin1')))
})
