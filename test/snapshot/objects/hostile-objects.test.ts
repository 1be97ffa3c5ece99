// A store whose own objects were damaged or attacked: names that lead outside, links to write through, malformed trees, a
// journal with foreign paths. Show, diff and rewind refuse clearly, and
// nothing outside the project is written.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from '../../support/own-sqlite.js'
import { expect, test } from 'vitest'
import { openProject, storeGit } from '../capture/capture-helpers.js'
import { GIT_ENVIRONMENT, type Scratch, scratch, sdk } from '../../support/scratch.js'

type RawEntry = { readonly mode: string; readonly name: string; readonly id: string }

/** Adds an object to the store without git's checks. */
function put(s: Scratch, type: 'blob' | 'tree', content: string | Buffer): string {
  const args = ['--git-dir', join(s.home, 'objects.git'), 'hash-object', '-w', '--literally']
  const output = execFileSync('git', [...args, '-t', type, '--stdin'], {
    env: GIT_ENVIRONMENT,
    input: content,
  })
  return output.toString().trim()
}

function tree(s: Scratch, entries: readonly RawEntry[]): string {
  const parts = entries.flatMap(({ mode, name, id }) => [
    Buffer.from(`${mode} ${name}\0`, 'latin1'),
    Buffer.from(id, 'hex'),
  ])
  return put(s, 'tree', Buffer.concat(parts))
}

const file = (name: string, id: string): RawEntry => ({ mode: '100644', name, id })
const folder = (name: string, id: string): RawEntry => ({ mode: '40000', name, id })
const link = (name: string, id: string): RawEntry => ({ mode: '120000', name, id })

/** The `files` of the attacked snapshot, given an evil blob, a link target, and a folder with the blob in it. */
type Parts = { readonly evil: string; readonly outside: string; readonly inner: string }
const HOSTILE: Readonly<Record<string, (parts: Parts) => readonly RawEntry[]>> = {
  'a folder called ..': ({ inner }) => [folder('..', inner)],
  'a file called ..': ({ evil }) => [file('..', evil)],
  'a file called .': ({ evil }) => [file('.', evil)],
  'a folder called .': ({ inner }) => [folder('.', inner)],
  'a name with ../ in it': ({ evil }) => [file('../victim/evil', evil)],
  'a name with ../ further in': ({ evil }) => [file('sub/../../victim/evil', evil)],
  'an absolute name': ({ evil }) => [file('/tmp/savestate-evil', evil)],
  'an empty part': ({ evil }) => [file('a//evil', evil)],
  '.git': ({ inner }) => [folder('.git', inner)],
  '.GIT': ({ inner }) => [folder('.GIT', inner)],
  'a name that is .git elsewhere': ({ inner }) => [folder('git~1', inner)],
  'a link, and a folder of its name': ({ outside, inner }) => [
    link('a', outside),
    folder('a', inner),
  ],
  'a link, and a name that leads through it': ({ outside, evil }) => [
    link('a', outside),
    file('a/evil', evil),
  ],
  'a name twice': ({ evil, outside }) => [file('a', evil), file('a', outside)],
  'a submodule': ({ evil }) => [{ mode: '160000', name: 'a.txt', id: evil }],
}

/** Replaces the entries of a checkpoint. */
function attack(s: Scratch, id: string, entriesOf: (parts: Parts) => readonly RawEntry[]): void {
  s.allowDamage()
  const evil = put(s, 'blob', 'evil\n')
  const outside = put(s, 'blob', join(s.folder, 'victim'))
  const inner = tree(s, [file('evil', evil)])
  pointAt(s, id, { files: tree(s, entriesOf({ evil, outside, inner })) })
}

/** Makes the row of a checkpoint refer to a snapshot with these files and modes; the rest stays. */
function pointAt(s: Scratch, id: string, parts: { files?: string; modes?: string }): void {
  const before = (part: string) =>
    storeGit(s, 'rev-parse', `refs/savestate/${projectOf(s, id)}/${id}:${part}`)
      .toString()
      .trim()
  const files = parts.files ?? before('files')
  const modes = parts.modes ?? before('modes')
  setTree(s, id, tree(s, [folder('files', files), file('modes', modes)]))
}

function setTree(s: Scratch, id: string, snapshot: string): void {
  using database = opened(s)
  database.sql.prepare('UPDATE checkpoints SET tree = ? WHERE id = ?').run(snapshot, id)
}

function projectOf(s: Scratch, id: string): string {
  using database = opened(s)
  const row = database.sql.prepare('SELECT project FROM checkpoints WHERE id = ?').get(id)
  return String(row?.['project'])
}

function opened(s: Scratch): Disposable & { readonly sql: InstanceType<typeof DatabaseSync> } {
  const sql = new DatabaseSync(join(s.home, 'ledger.db'))
  return { sql, [Symbol.dispose]: () => sql.close() }
}

function codeOf(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => 'none',
    (error: unknown) => (error instanceof sdk.SavestateError ? error.code : String(error)),
  )
}

/** Everything in the scratch folder except the store. */
function world(s: Scratch): unknown {
  return [
    s.snapshotOf(s.folder, { except: ['home'] }),
    readdirSync('/tmp').includes('savestate-evil'),
  ]
}

test('a snapshot with names that lead outside is refused, and nothing is written', async () => {
  await using s = await scratch({ files: { 'a.txt': 'one\n', '.git/HEAD': 'ref: refs/heads/x\n' } })
  s.write({ precious: 'mine' }, join(s.folder, 'victim'))
  const { project } = await openProject(s)
  const { id } = await project.save()
  s.write({ 'a.txt': 'two\n' })
  await project.save()
  const before = world(s)
  for (const [kind, entriesOf] of Object.entries(HOSTILE)) {
    attack(s, id, entriesOf)
    const codes: string[] = []
    for (const attempt of [
      () => project.show(id),
      () => project.diff(id),
      () => project.diff('1', { to: id }),
      () => project.rewind(id, { dryRun: true }),
      () => project.rewind(id),
      () => project.rewind(id, { paths: ['a.txt'] }),
    ]) {
      codes.push(await codeOf(attempt()))
    }
    expect({ kind, codes: new Set(codes) }).toEqual({ kind, codes: new Set(['STORE_DAMAGED']) })
    expect({ kind, world: world(s) }).toEqual({ kind, world: before })
  }
  // The rest of the store still works.
  s.write({ 'a.txt': 'three\n' })
  await project.rewind('1')
  expect(readFileSync(join(s.project, 'a.txt'), 'utf8')).toBe('two\n')
})

test('a name that leads through an existing link writes nothing outside', async () => {
  await using s = await scratch({ files: { 'a.txt': 'one\n' } })
  s.write({ precious: 'mine' }, join(s.folder, 'victim'))
  s.write({ a: { link: join(s.folder, 'victim') } })
  const { project } = await openProject(s)
  const { id } = await project.save()
  attack(s, id, ({ outside, evil }) => [link('a', outside), file('a/evil', evil)])
  const before = world(s)
  await expect(project.rewind(id)).rejects.toMatchObject({ code: 'REWIND_DISTURBED' })
  expect(world(s)).toEqual(before)
})

test('modes for paths outside the project are not applied', async () => {
  await using s = await scratch({ files: { 'a.txt': { content: 'one\n', mode: 0o600 } } })
  s.write({ precious: { content: 'mine', mode: 0o640 } }, join(s.folder, 'victim'))
  const { project } = await openProject(s)
  const { id } = await project.save()
  const before = world(s)
  const names = ['../victim/precious', '/etc/passwd', 'a.txt/../../victim/precious']
  const lines = ['savestate-modes 1', 'file 600', 'executable 700', 'folder 755', ''].join('\n')
  const modes = put(s, 'blob', lines + names.map((name) => `777 ${name}\0`).join(''))
  pointAt(s, id, { modes })
  s.allowDamage()
  await project.rewind(id)
  expect(world(s)).toEqual(before)
})

test('a mode for a name that both snapshots have, and that leads outside, is not applied', async () => {
  await using s = await scratch({ files: { 'a.txt': 'one\n' } })
  s.write({ precious: { content: 'mine', mode: 0o640 } }, join(s.folder, 'victim'))
  const { project } = await openProject(s)
  const first = await project.save()
  s.write({ 'a.txt': { content: 'one\n', mode: 0o600 } })
  const second = await project.save()
  const before = world(s)
  for (const { id } of [first, second])
    attack(s, id, ({ evil }) => [file('../victim/precious', evil)])
  await expect(project.diff(first.id, { to: second.id })).rejects.toMatchObject({
    code: 'STORE_DAMAGED',
  })
  expect(world(s)).toEqual(before)
})

test('a malformed snapshot or a truncated tree is reported as damage', async () => {
  await using s = await scratch({ files: { 'a.txt': 'one\n' } })
  const { project } = await openProject(s)
  const { id } = await project.save()
  s.allowDamage()
  const nothing = tree(s, [])
  const cut = put(s, 'tree', Buffer.from('40000 files\0short', 'latin1'))
  const blob = put(s, 'blob', 'no tree\n')
  for (const wrong of [nothing, cut, blob]) {
    setTree(s, id, wrong)
    await expect(project.show(id)).rejects.toMatchObject({ code: 'STORE_DAMAGED' })
    await expect(project.rewind(id)).rejects.toMatchObject({ code: 'STORE_DAMAGED' })
  }
})

test.each([
  [
    'a path that leads outside',
    { entries: [{ path: '../victim/precious', from: null, to: null }] },
  ],
  ['an absolute path', { entries: [{ path: '/etc/passwd', from: null, to: null }] }],
  ['a path that is none', { entries: [{ path: 7, from: null, to: null }] }],
  ['an operation that is a path', { operation: '../../victim/x', entries: [] }],
  ['no entries', { entries: undefined }],
])('a journal with %s is refused, and nothing is written', async (_kind, change) => {
  await using s = await scratch({ files: { 'a.txt': 'one\n' } })
  s.write({ precious: 'mine' }, join(s.folder, 'victim'))
  const { project } = await openProject(s)
  const { id } = await project.save()
  using database = opened(s)
  const row = database.sql.prepare('SELECT project, tree FROM checkpoints WHERE id = ?').get(id)
  mkdirSync(join(s.home, 'journal'), { recursive: true })
  const journal = {
    version: 3,
    operation: 'b'.repeat(18),
    kind: 'rewind',
    of: null,
    project: row?.['project'],
    projectPath: s.project,
    rootInode: '0',
    safety: id,
    goal: row?.['tree'],
    skippedThen: [],
    reason: 'x',
    ...change,
  }
  writeFileSync(
    join(s.home, 'journal', `${String(row?.['project'])}.json`),
    JSON.stringify(journal),
  )
  const before = world(s)
  await expect(project.save()).rejects.toMatchObject({ code: 'STORE_DAMAGED' })
  expect(world(s)).toEqual(before)
})
