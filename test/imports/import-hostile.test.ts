// Hostile sources: each unsafe or unreadable item is reported and left out, the rest is imported, nothing outside the store is
// written, and nothing in the source is run.
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { deflateSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { importFrom } from '../../src/imports/index.js'
import {
  addVersion2,
  blobOf,
  commitAll,
  git,
  hash16,
  makeVersion1,
  treeEntry,
  writeRawTree,
} from './hermes-folder.js'
import { type Scratch, scratch } from '../support/scratch.js'

const T0 = 1_700_000_000

/** A repository of version 1 with one commit for each tree, between two good ones. */
function withTrees(
  s: Scratch,
  make: (gitDir: string, blob: string) => readonly Buffer[],
): { base: string; gitDir: string } {
  const base = join(s.folder, 'hermes')
  const gitDir = makeVersion1(base, s.project, [])
  const blob = blobOf(gitDir, 'content\n')
  const trees = make(gitDir, blob)
  const tip = commitAll(gitDir, [
    { reason: 'first', at: T0, files: { 'a.txt': 'first\n' } },
    ...trees.map((rawTree, i) => ({ reason: `tree ${i}`, at: T0 + 1 + i, rawTree })),
    { reason: 'last', at: T0 + 1000, files: { 'a.txt': 'last\n' } },
  ])
  git(gitDir, ['update-ref', 'HEAD', tip ?? ''])
  return { base, gitDir }
}

test('a commit with an unsafe name is left out, and all others are imported', async () => {
  await using s = await scratch({ files: { 'a.txt': 'now\n' } })
  const names = [
    '..',
    '.',
    '',
    '.git',
    '.GIT',
    'git~1',
    '.git ',
    '.g\u200cit',
    'a/b',
    '../out',
    '/etc/x',
  ]
  const { base } = withTrees(s, (gitDir, blob) => [
    ...names.map((name) => treeEntry('100644', name, blob)),
    treeEntry('40000', 'sub', writeRawTree(gitDir, treeEntry('100644', '..', blob))),
    Buffer.concat([treeEntry('100644', 'x', blob), treeEntry('100644', 'x', blob)]),
    Buffer.concat([
      treeEntry('100644', 'x', blob),
      treeEntry('40000', 'x', writeRawTree(gitDir, treeEntry('100644', 'y', blob))),
    ]),
    treeEntry('170000', 'odd', blob),
    treeEntry('100644', 'n'.repeat(5000), blob),
    Buffer.from('100644 cut'),
    treeEntry('120000', 'link', blobOf(gitDir, 'a\0b')),
    treeEntry('40000', 'not-a-tree', blob),
    treeEntry('100644', 'no-such-blob', '0123456789'.repeat(4)),
  ])
  const before = s.hashTree(base)
  const store = await s.open()
  const bad = names.length + 9
  const { added, problems, plan } = await importFrom(store, 'hermes', { path: base })
  expect({ added, problems: problems.length, planned: plan.problems.length }).toEqual({
    added: 2,
    problems: bad,
    // A missing blob is only noticed when it is read.
    planned: bad - 2,
  })
  const sourceForm = new RegExp(`^${join(base, hash16(s.project))} [0-9a-f]{40}$`)
  for (const { source, message } of problems) {
    expect(source).toMatch(sourceForm)
    expect(message).toMatch(/^(?:a tree|the tree|the blob|the link) /)
  }
  expect(new Set(problems.map(({ source }) => source)).size).toBe(bad)
  expect(s.hashTree(base)).toEqual(before)
  const project = await store.project(s.project)
  const checkpoints = await project.list()
  expect(checkpoints.map(({ reason }) => reason)).toEqual(['last', 'first'])
  expect(await importFrom(store, 'hermes', { path: base })).toMatchObject({ added: 0, known: 2 })
  expect((await store.verify()).problems).toEqual([])
})

test('unusual but harmless entries are kept: modes, links, submodules, large files', async () => {
  await using s = await scratch()
  const outside = join(s.folder, 'outside')
  mkdirSync(outside)
  const { base } = withTrees(s, (gitDir, blob) => [
    Buffer.concat([
      treeEntry('040000', 'zero', writeRawTree(gitDir, treeEntry('100664', 'group', blob))),
      treeEntry('100777', 'all', blob),
      treeEntry('120000', 'absolute', blobOf(gitDir, outside)),
      treeEntry('120000', 'up', blobOf(gitDir, '../outside')),
      treeEntry('160000', 'module', 'ab'.repeat(20)),
      treeEntry('100644', 'big', blobOf(gitDir, Buffer.alloc(2 << 20))),
      treeEntry('100644', '.savestate-tmp-bbbbbbbbbbbbbbbbbb-1', blob),
      treeEntry('100644', Buffer.from([0xff, 0x0a]), blob),
      treeEntry('40000', 'empty', git(gitDir, ['hash-object', '-t', 'tree', '-w', '/dev/null'])),
    ]),
    // A link and, in the next tree, a folder of the same name: nothing may be written through the link.
    treeEntry('40000', 'up', writeRawTree(gitDir, treeEntry('100644', 'escaped', blob))),
  ])
  const store = await s.open({ limits: { maxFileBytes: 1 << 20 } })
  expect(await importFrom(store, 'hermes', { path: base })).toMatchObject({
    added: 4,
    problems: [],
  })
  const project = await store.project(s.project)
  const { skippedPaths, fileCount } = await project.show('3')
  expect(fileCount).toBe(5)
  expect(skippedPaths.map(({ path, reason, sizeBytes }) => [path, reason, sizeBytes])).toEqual([
    ['module', 'vcs', null],
    ['big', 'too-large', 2 << 20],
    ['.savestate-tmp-bbbbbbbbbbbbbbbbbb-1', 'temporary', null],
  ])
  const [, folder, odd] = await project.list()
  await project.rewind(odd?.id ?? '')
  const seen = s.snapshotOf()
  expect([...seen].map(([path, { type, mode }]) => [path, type, mode])).toEqual([
    ['', 'folder', 0o755],
    ['absolute', 'link', 0],
    ['all', 'file', 0o755],
    ['empty', 'folder', 0o755],
    ['up', 'link', 0],
    ['zero', 'folder', 0o755],
    ['zero/group', 'file', 0o644],
    ['\xff\n', 'file', 0o644],
  ])
  expect(seen.get('up')?.content).toBe('../outside')
  await project.rewind(folder?.id ?? '')
  expect(readFileSync(join(s.project, 'up/escaped'), 'utf8')).toBe('content\n')
  expect(readdirSync(outside)).toEqual([])
})

test('secrets are left out unless the settings allow them', async () => {
  await using s = await scratch()
  const key = '-----BEGIN PRIVATE KEY-----\nMIIEvQ\n-----END PRIVATE KEY-----\n'
  const base = join(s.folder, 'hermes')
  const files = { 'a.txt': 'a\n', '.npmrc': 'token\n', 'sub/.npmrc': 'token\n', 'sub/notes': key }
  makeVersion1(base, s.project, [{ reason: 'one', at: T0, files }])
  const store = await s.open({ limits: { allowSecrets: ['/sub/.npmrc'] } })
  expect(await importFrom(store, 'hermes', { path: base })).toMatchObject({
    added: 1,
    problems: [],
  })
  const project = await store.project(s.project)
  const { skippedPaths } = await project.show('1')
  expect(skippedPaths.map(({ path, reason }) => [path, reason])).toEqual([
    ['.npmrc', 'secret'],
    ['sub/notes', 'secret'],
  ])
  await project.rewind('1')
  expect([...s.snapshotOf().keys()]).toEqual(['', 'a.txt', 'sub', 'sub/.npmrc'])
})

test('trees that would expand without limit are refused at once', async () => {
  await using s = await scratch()
  const { base } = withTrees(s, (gitDir, blob) => {
    let bomb = writeRawTree(gitDir, treeEntry('100644', 'f', blob))
    for (let level = 0; level < 12; level++) {
      const entries = '0123456789'.split('').map((name) => treeEntry('40000', name, bomb))
      bomb = writeRawTree(gitDir, Buffer.concat(entries))
    }
    let long = writeRawTree(gitDir, treeEntry('100644', 'f', blob))
    for (let level = 0; level < 25; level++)
      long = writeRawTree(gitDir, treeEntry('40000', 'd'.repeat(200), long))
    return [treeEntry('40000', 'bomb', bomb), treeEntry('40000', 'long', long)]
  })
  const store = await s.open()
  const { added, problems } = await importFrom(store, 'hermes', { path: base })
  expect(added).toBe(2)
  expect(problems.map(({ message }) => message)).toEqual([
    'it has more than the 200000 files that a project may have',
    'it has a path that no file system can store',
  ])
})

test('the intact parts of damaged repositories are imported', async () => {
  await using s = await scratch()
  const base = join(s.folder, 'hermes')
  const other = join(s.folder, 'other')
  const commit = (n: number) => ({ reason: `${n}`, at: T0 + n, files: { 'a.txt': `${n}\n` } })
  const ref = addVersion2(base, s.project, [commit(1), commit(2), commit(3)])
  addVersion2(base, other, [commit(4)])
  const store2 = join(base, 'store')
  const loose = (id: string) => join(store2, 'objects', id.slice(0, 2), id.slice(2))
  const idOf = (name: string) => git(store2, ['rev-parse', name])
  const [blob, first] = [idOf(`${ref}^:a.txt`), idOf(`${ref}~2`)]
  chmodSync(loose(blob), 0o600)
  writeFileSync(loose(blob), 'rubbish')
  rmSync(loose(first))
  git(store2, ['update-ref', '--no-deref', `refs/hermes/${'0'.repeat(16)}`, idOf(ref)])
  writeFileSync(join(store2, 'refs/hermes', 'f'.repeat(16)), `${'12'.repeat(20)}\n`)
  writeFileSync(join(store2, 'projects', `${'f'.repeat(16)}.json`), '{"workdir": "/x/y"}')
  writeFileSync(join(store2, 'refs/hermes', 'e'.repeat(16)), 'rubbish\n')
  writeFileSync(join(store2, 'projects', `${'e'.repeat(16)}.json`), '{"workdir": "/x/y"}')
  writeFileSync(join(store2, 'refs/hermes', 'd'.repeat(16)), `${idOf(ref)}\n`)
  writeFileSync(join(store2, 'projects', `${'d'.repeat(16)}.json`), '{"workdir": ')
  for (const [digit, workdir] of [
    ['a', '/'],
    ['b', 'relative/x'],
    ['c', 7],
  ] as const) {
    writeFileSync(join(store2, 'refs/hermes', digit.repeat(16)), `${idOf(ref)}\n`)
    const project = join(store2, 'projects', `${digit.repeat(16)}.json`)
    writeFileSync(project, JSON.stringify({ workdir }))
  }
  writeFileSync(join(store2, 'refs/hermes', 'odd-name'), `${idOf(ref)}\n`)
  mkdirSync(join(base, '9'.repeat(16)))
  symlinkSync('/etc', join(base, 'legacy-link'))
  const before = s.hashTree(base)
  const store = await s.open()
  const { added, problems } = await importFrom(store, 'hermes', { path: base })
  expect(added).toBe(2)
  const at = (name: string) => `${store2} refs/hermes/${name}`
  const known = [
    [join(base, '9'.repeat(16)), 'has no file HERMES_WORKDIR'],
    [join(base, 'legacy-link'), 'links are not followed'],
    [at('0'.repeat(16)), 'is missing, so its folder is not known'],
    [at('a'.repeat(16)), 'is the root of a disk'],
    [at('b'.repeat(16)), 'is not an absolute path'],
    [at('c'.repeat(16)), 'names no folder'],
    [at('d'.repeat(16)), 'is not JSON'],
    [at('e'.repeat(16)), 'points to no commit'],
    [`${at('f'.repeat(16))} ${'12'.repeat(20)}`, 'is missing or damaged'],
    [at('odd-name'), 'is not named after a project'],
    [`${at(hash16(s.project))} ${first}`, 'its earlier history is not known'],
    [`${at(hash16(s.project))} ${idOf(`${ref}^`)}`, `the blob ${blob} is missing or damaged`],
  ]
  expect(new Set(problems.map(({ source }) => source))).toEqual(
    new Set(known.map(([source]) => source)),
  )
  for (const [source, message] of known)
    expect(problems.find((problem) => problem.source === source)?.message).toContain(message)
  expect(s.hashTree(base)).toEqual(before)
  expect((await store.verify()).problems).toEqual([])
})

test('an object with a wrong size in its header does not stop the import; its file is left out', async () => {
  await using s = await scratch()
  const base = join(s.folder, 'hermes')
  const gitDir = makeVersion1(base, s.project, [
    { reason: 'one', at: T0, files: { 'a.txt': 'one\n' } },
    { reason: 'two', at: T0 + 1, files: { 'a.txt': 'two\n' } },
    { reason: 'three', at: T0 + 2, files: { 'a.txt': 'three\n', 'b.txt': 'huge\n' } },
  ])
  const claim = (revision: string, size: number) => {
    const id = git(gitDir, ['rev-parse', revision])
    const path = join(gitDir, 'objects', id.slice(0, 2), id.slice(2))
    chmodSync(path, 0o600)
    writeFileSync(path, deflateSync(`blob ${size}\0x`))
    return id
  }
  const short = claim('HEAD~1:a.txt', 1000)
  claim('HEAD:b.txt', 99_999_999_999)
  const store = await s.open()
  const { added, problems } = await importFrom(store, 'hermes', { path: base })
  expect({ added, messages: problems.map(({ message }) => message) }).toEqual({
    added: 2,
    messages: [`the blob ${short} is missing or damaged`],
  })
  const [newest] = await (await store.project(s.project)).list()
  expect(newest).toMatchObject({ reason: 'three', skipped: 1 })
})

test('nothing that the source configures is run, and nothing is fetched', async () => {
  await using s = await scratch()
  const base = join(s.folder, 'hermes')
  const marker = join(s.folder, 'marker')
  const gitDir = makeVersion1(base, s.project, [
    { reason: 'one', at: T0, files: { 'a.txt': 'one\n' } },
    { reason: 'two', at: T0 + 1, files: { 'a.txt': 'two\n' } },
  ])
  const missing = git(gitDir, ['rev-parse', 'HEAD:a.txt'])
  rmSync(join(gitDir, 'objects', missing.slice(0, 2), missing.slice(2)))
  const run = `touch ${marker}`
  writeFileSync(
    join(gitDir, 'config'),
    `[core]\n\trepositoryformatversion = 1\n\tbare = true\n\tfsmonitor = "${run}"\n\tsshCommand = "${run}"\n` +
      `\tpager = "${run}"\n[extensions]\n\tpartialClone = origin\n` +
      `[remote "origin"]\n\turl = "ext::${run}"\n\tpromisor = true\n[protocol "ext"]\n\tallow = always\n`,
  )
  const store = await s.open()
  const { added, problems } = await importFrom(store, 'hermes', { path: base })
  expect({ added, messages: problems.map(({ message }) => message) }).toEqual({
    added: 1,
    messages: [`the blob ${missing} is missing or damaged`],
  })
  expect(existsSync(marker)).toBe(false)
})
