// A rewind restores contents, modes and times exactly, and leaves everything else alone. A rewind of given paths restores
// only these, with any file name.
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parsePathText } from '../../../src/model/index.js'
import { openProject } from '../../support/safety-project.js'
import { hashTree, inFolder, runGit, scratch } from '../../support/scratch.js'

describe('a rewind changes exactly what differs', () => {
  test('an unchanged entry keeps its time and its inode', async () => {
    await using s = await scratch({
      files: {
        'same.txt': 'same',
        'dir/same.txt': 'same',
        'dir/changed.txt': 'one',
        link: { link: 'same.txt' },
        untouched: { folder: 0o755 },
        'untouched/deep/same.txt': 'same',
      },
    })
    const old = new Date('2020-01-02T03:04:05.678Z')
    for (const path of ['same.txt', 'dir/same.txt', 'untouched/deep/same.txt', 'untouched/deep']) {
      utimesSync(join(s.project, path), old, old)
    }
    const project = await openProject(s)
    const { id } = await project.save({})
    s.write({ 'dir/changed.txt': 'two' })
    const paths = ['same.txt', 'dir/same.txt', 'link', 'untouched', 'untouched/deep/same.txt']
    const statAll = () =>
      paths.map((path) => {
        const { ino, mtimeNs, ctimeNs } = lstatSync(join(s.project, path), { bigint: true })
        return { path, ino, mtimeNs, ctimeNs }
      })
    const before = statAll()
    await project.rewind(id)
    expect(readFileSync(join(s.project, 'dir/changed.txt'), 'utf8')).toBe('one')
    expect(statAll()).toEqual(before)
    await project.undo()
    expect(statAll()).toEqual(before)
  })

  test('a changed mode is restored without rewriting the file', async () => {
    await using s = await scratch({
      files: { x: { content: 'x', mode: 0o640 }, d: { folder: 0o750 }, 'd/y': 'y' },
    })
    chmodSync(s.project, 0o751)
    const project = await openProject(s)
    const before = s.snapshotOf()
    const { id } = await project.save({})
    const { ino, mtimeNs } = statSync(join(s.project, 'x'), { bigint: true })
    chmodSync(join(s.project, 'x'), 0o4755)
    chmodSync(join(s.project, 'd'), 0o2777)
    chmodSync(s.project, 0o700)
    const after = s.snapshotOf()
    await project.rewind(id)
    expect(s.snapshotOf()).toEqual(before)
    expect(statSync(join(s.project, 'x'), { bigint: true })).toMatchObject({ ino, mtimeNs })
    await project.undo()
    expect(s.snapshotOf()).toEqual(after)
  })

  test('hundreds of folders are restored completely with fsync', async () => {
    const files = Array.from({ length: 600 }, (_, i) => [`p${i % 30}/q${i}/file.txt`, `first ${i}`])
    await using s = await scratch({ files: Object.fromEntries(files) })
    const store = await s.open({ durability: 'fsync' })
    const project = await store.project(s.project)
    const { id } = await project.save({})
    const before = s.snapshotOf()
    for (const [path] of files) s.write({ [path ?? '']: 'second' })
    const { applied, plan } = await project.rewind(id)
    expect([applied, plan.write.length]).toEqual([true, 600])
    expect(s.snapshotOf()).toEqual(before)
  })

  test('a path that is neither in the folder nor in the checkpoint is an error', async () => {
    await using s = await scratch({ files: { 'd/x.txt': 'one' } })
    const project = await openProject(s)
    const { id } = await project.save({})
    s.write({ 'd/x.txt': 'two' })
    for (const path of ['d/y.txt', 'e', 'd/x.txt/z']) {
      await expect(project.rewind(id, { paths: [path] })).rejects.toThrow(
        expect.objectContaining({ code: 'BAD_INPUT' }),
      )
    }
    rmSync(join(s.project, 'd'), { recursive: true })
    const { applied } = await project.rewind(id, { paths: ['d/x.txt'] })
    expect(applied).toBe(true)
  })

  test('a rewind without differences adds no checkpoint', async () => {
    await using s = await scratch({ files: { x: 'x' } })
    const project = await openProject(s)
    const { id } = await project.save({})
    const before = hashTree(s.project)
    expect(await project.rewind(id)).toEqual({
      to: expect.objectContaining({ id, number: 1 }),
      notRestored: [],
      outside: [],
      target: id,
      plan: { write: [], remove: [], keep: [], conflict: [] },
      applied: false,
      declined: false,
      safety: null,
      checkpoint: id,
    })
    expect(hashTree(s.project)).toEqual(before)
    expect(await project.list()).toHaveLength(1)
  })
})

test('git alone can restore the files, without Savestate', async () => {
  await using s = await scratch({
    files: { 'a.txt': 'one\n', 'sub/b.sh': { content: 'b', mode: 0o755 } },
  })
  const project = await openProject(s)
  const { id } = await project.save({})
  const { commit } = await project.show(id)
  const target = join(s.folder, 'out')
  mkdirSync(target)
  const archive = join(s.folder, 'out.tar')
  runGit(
    [`--git-dir=${join(s.home, 'objects.git')}`, 'archive', '-o', archive, `${commit}:files`],
    {
      cwd: s.folder,
    },
  )
  execFileSync('tar', ['-xf', archive, '-C', target])
  expect(readFileSync(join(target, 'a.txt'), 'utf8')).toBe('one\n')
  expect(statSync(join(target, 'sub/b.sh')).mode & 0o100).toBe(0o100)
})

describe('a rewind of some paths', () => {
  const NAMES = [
    'plain.txt',
    'new\nline',
    ' leading blank',
    'trailing blank ',
    '-rf',
    '--help',
    ':(glob)*',
    ':!plain.txt',
    '*',
    '?[a-z]',
    '"quoted"',
    'back\\slash',
    'größe €',
    'tab\there',
    '"\\377\\376 not UTF-8"',
    '"a\\200\\"b"',
  ]
  /** The text form that the SDK takes: a name that starts with a double quote must be quoted. */
  const textOf = (name: string) => (name === '"quoted"' ? '"\\"quoted\\""' : name)
  const keyOf = (name: string) => parsePathText(textOf(name))

  test.each(NAMES)('restores the file %j and nothing else', async (name) => {
    const all = Object.fromEntries(NAMES.map((other) => [textOf(other), 'one']))
    await using s = await scratch({ files: all })
    const project = await openProject(s)
    const { id } = await project.save({})
    const first = s.snapshotOf()
    s.write(Object.fromEntries(NAMES.map((other) => [textOf(other), 'two'])))
    const expected = s.snapshotOf()
    const own = first.get(keyOf(name))
    if (own !== undefined) expected.set(keyOf(name), own)
    const { changes } = await project.diff(id, { paths: [textOf(name)] })
    expect(changes.map(({ path }) => path)).toEqual([textOf(name)])
    const { plan } = await project.rewind(id, { paths: [textOf(name)] })
    expect(plan.write.map(({ path }) => path)).toEqual([textOf(name)])
    expect(s.snapshotOf()).toEqual(expected)
  })

  test.each(NAMES)('restores the folder %j and nothing else', async (name) => {
    const inside = (folder: string, file: string) =>
      textOf(folder).startsWith('"')
        ? `${textOf(folder).slice(0, -1)}/${file}"`
        : `${folder}/${file}`
    const others = NAMES.filter((other) => other !== name)
    await using s = await scratch({
      files: { [inside(name, 'gone')]: 'one', [inside(name, 'sub/changed')]: 'one' },
    })
    s.write(Object.fromEntries(others.map((other) => [inside(other, 'x'), 'one'])))
    const project = await openProject(s)
    const { id } = await project.save({})
    const first = s.snapshotOf()
    s.write({
      [inside(name, 'gone')]: null,
      [inside(name, 'sub/changed')]: 'two',
      [inside(name, 'made')]: 'made later',
    })
    s.write(Object.fromEntries(others.map((other) => [inside(other, 'x'), 'two'])))
    const second = s.snapshotOf()
    await project.rewind(id, { paths: [textOf(name)] })
    const isInside = (path: string) => path === keyOf(name) || path.startsWith(`${keyOf(name)}/`)
    const expected = [
      ...[...second].filter(([path]) => !isInside(path)),
      ...[...first].filter(([path]) => isInside(path)),
    ]
    expect(s.snapshotOf()).toEqual(new Map(expected))
  })

  test('several paths, redundant dots and slashes, and a deleted parent folder', async () => {
    await using s = await scratch({
      files: { 'a/b/c/x': 'one', 'a/b/y': 'one', 'd/z': 'one', 'e.txt': 'one' },
    })
    chmodSync(join(s.project, 'a/b'), 0o710)
    const project = await openProject(s)
    const { id } = await project.save({})
    s.write({ a: null, 'd/z': 'two', 'e.txt': 'two' })
    await project.rewind(id, { paths: ['./a/b/c/', 'd//z'] })
    expect([...s.snapshotOf().keys()]).toEqual([
      '',
      'a',
      'a/b',
      'a/b/c',
      'a/b/c/x',
      'd',
      'd/z',
      'e.txt',
    ])
    expect(s.snapshotOf().get('a/b')?.mode).toBe(0o710)
    expect(readFileSync(join(s.project, 'd/z'), 'utf8')).toBe('one')
    expect(readFileSync(join(s.project, 'e.txt'), 'utf8')).toBe('two')
  })

  test('a named file that was made later is removed, and no other', async () => {
    await using s = await scratch({ files: { x: 'one' } })
    const project = await openProject(s)
    const { id } = await project.save({})
    writeFileSync(inFolder(s.project, '"\\377"'), 'made later')
    s.write({ 'made/a': 'made later', 'made/b': 'made later' })
    await project.rewind(id, { paths: ['made/a', '"\\377"'] })
    expect([...s.snapshotOf().keys()]).toEqual(['', 'made', 'made/b', 'x'])
  })
})
