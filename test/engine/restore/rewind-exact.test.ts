// A rewind restores contents, modes and times exactly, and leaves everything else alone.
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openProject } from '../../support/safety-project.js'
import { hashTree, runGit, scratch } from '../../support/scratch.js'

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
    await project.rewind({ to: id })
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
    await project.rewind({ to: id })
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
    const { applied, plan } = await project.rewind({ to: id })
    expect([applied, plan.write.length]).toEqual([true, 600])
    expect(s.snapshotOf()).toEqual(before)
  })

  test('a path that is neither in the folder nor in the checkpoint is an error', async () => {
    await using s = await scratch({ files: { 'd/x.txt': 'one' } })
    const project = await openProject(s)
    const { id } = await project.save({})
    s.write({ 'd/x.txt': 'two' })
    for (const path of ['d/y.txt', 'e', 'd/x.txt/z']) {
      await expect(project.rewind({ to: id, paths: [path] })).rejects.toThrow(
        expect.objectContaining({ code: 'BAD_INPUT' }),
      )
    }
    rmSync(join(s.project, 'd'), { recursive: true })
    const { applied } = await project.rewind({ to: id, paths: ['d/x.txt'] })
    expect(applied).toBe(true)
  })

  test('a rewind without differences adds no checkpoint', async () => {
    await using s = await scratch({ files: { x: 'x' } })
    const project = await openProject(s)
    const { id } = await project.save({})
    const before = hashTree(s.project)
    expect(await project.rewind({ to: id })).toEqual({
      to: expect.objectContaining({ id, number: 1 }),
      notRestored: [],
      target: id,
      plan: { write: [], remove: [], keep: [], conflict: [] },
      applied: false,
      declined: false,
      safety: null,
      checkpoint: id,
    })
    expect(hashTree(s.project)).toEqual(before)
    expect((await project.list()).checkpoints).toHaveLength(1)
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
