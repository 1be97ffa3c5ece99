// Git repositories inside a project: their files are captured, their `.git` never is, and their HEAD is recorded.
import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  capturedFiles,
  openProject,
  saved,
  waitForStableStamps,
  skippedFor,
} from './capture-helpers.js'
import { GIT_ENVIRONMENT, type Scratch, scratch } from '../../support/scratch.js'

test('the files of a nested repository are captured and restored, without its .git', async () => {
  await using s = await scratch({ files: { 'outer.txt': 'x' } })
  const inner = repository(s, 'libs/inner', { 'a.txt': 'tracked', 'src/b.txt': 'tracked' })
  s.write({ 'libs/inner/untracked.txt': 'too' })
  const { project } = await openProject(s)
  const details = await saved(project)
  expect(capturedFiles(s, details.ref)).toEqual([
    'libs/inner/a.txt',
    'libs/inner/src/b.txt',
    'libs/inner/untracked.txt',
    'outer.txt',
  ])
  expect(skippedFor(details, 'vcs')).toEqual(['libs/inner/.git'])
  expect(details.repositories).toEqual([
    { path: 'libs/inner', branch: 'main', commit: inner.head() },
  ])

  const before = s.snapshotOf()
  const git = s.hashTree(join(s.project, 'libs/inner/.git'))
  s.write({ 'libs/inner/a.txt': 'changed', 'libs/inner/src': null, 'libs/inner/new': 'x' })
  await project.rewind(details.id)
  expect(s.snapshotOf()).toEqual(before)
  expect(s.hashTree(join(s.project, 'libs/inner/.git'))).toEqual(git)
})

test('the HEAD of every repository is recorded: on a branch, detached, unborn, the project itself', async () => {
  await using s = await scratch()
  const top = repository(s, '.', { 'top.txt': 'x' })
  const onBranch = repository(s, 'on-branch', { a: 'x' })
  onBranch.git('checkout', '-q', '-b', 'feature/x')
  const detached = repository(s, 'detached', { a: 'x' })
  detached.git('checkout', '-q', '--detach')
  mkdirSync(join(s.project, 'unborn'))
  run(s, 'unborn', 'init', '-q')
  const packed = repository(s, 'packed', { a: 'x' })
  packed.git('pack-refs', '--all')
  const { project } = await openProject(s)
  const { repositories } = await saved(project)
  expect(byPath(repositories)).toEqual([
    { path: '', branch: 'main', commit: top.head() },
    { path: 'detached', branch: null, commit: detached.head() },
    { path: 'on-branch', branch: 'feature/x', commit: onBranch.head() },
    { path: 'packed', branch: 'main', commit: packed.head() },
    { path: 'unborn', branch: 'main', commit: null },
  ])
})

test('a submodule and a worktree, whose .git is a file, are recorded like any repository', async () => {
  await using s = await scratch()
  const library = join(s.folder, 'library')
  mkdirSync(library)
  writeFileSync(join(library, 'lib.c'), 'int x;\n')
  const inLibrary = (...args: string[]) => gitIn(library, args)
  inLibrary('init', '-q')
  inLibrary('add', '-A')
  inLibrary('commit', '-q', '-m', 'x')
  const top = repository(s, '.', { 'top.txt': 'x' })
  top.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', library, 'sub')
  top.git('worktree', 'add', '-q', '-b', 'side', 'tree')
  const { project } = await openProject(s)
  const details = await saved(project)
  expect(byPath(details.repositories)).toEqual([
    { path: '', branch: 'main', commit: top.head() },
    { path: 'sub', branch: 'main', commit: inLibrary('rev-parse', 'HEAD') },
    { path: 'tree', branch: 'side', commit: top.head() },
  ])
  expect(capturedFiles(s, details.ref)).toEqual([
    '.gitmodules',
    'sub/lib.c',
    'top.txt',
    'tree/top.txt',
  ])
  expect(skippedFor(details, 'vcs')).toEqual(['.git', 'sub/.git', 'tree/.git'])

  const before = s.snapshotOf()
  s.write({ 'sub/lib.c': 'gone\n', 'tree/top.txt': null })
  await project.rewind(details.id)
  expect(s.snapshotOf()).toEqual(before)
})

test('a project inside a repository records the HEAD of that repository', async () => {
  await using s = await scratch()
  writeFileSync(join(s.folder, 'above.txt'), 'x')
  gitIn(s.folder, ['init', '-q'])
  gitIn(s.folder, ['add', 'above.txt'])
  gitIn(s.folder, ['commit', '-q', '-m', 'x'])
  s.write({ 'inside.txt': 'x' })
  const { project } = await openProject(s)
  const { repositories, ref } = await saved(project)
  expect(repositories).toEqual([
    { path: '', branch: 'main', commit: gitIn(s.folder, ['rev-parse', 'HEAD']) },
  ])
  expect(capturedFiles(s, ref)).toEqual(['inside.txt'])
})

test('the recorded HEAD is that of the checkpoint, not of the last scan of the folder', async () => {
  await using s = await scratch()
  const top = repository(s, '.', { 'a.txt': 'one' })
  const { project } = await openProject(s)
  const first = await project.save()
  s.write({ 'a.txt': 'two' })
  await waitForStableStamps()
  await project.diff(first.id)
  top.git('commit', '-q', '-am', 'second')
  const { repositories } = await saved(project)
  expect(repositories).toEqual([{ path: '', branch: 'main', commit: top.head() }])
})

test('a commit without file changes makes no checkpoint; the next change records it', async () => {
  await using s = await scratch()
  const top = repository(s, '.', { 'a.txt': 'one' })
  const { project } = await openProject(s)
  await project.save()
  top.git('commit', '-q', '--allow-empty', '-m', 'empty')
  expect((await project.save()).created).toBe(false)
  s.write({ 'a.txt': 'two' })
  expect((await saved(project)).repositories).toEqual([
    { path: '', branch: 'main', commit: top.head() },
  ])
})

test('a .git that is no repository is skipped and does not stop a save', async () => {
  await using s = await scratch({
    files: {
      'file/.git': 'not a pointer',
      'file/x': 'x',
      'nowhere/.git': 'gitdir: ../no/such/folder\n',
      'nowhere/x': 'x',
      'empty/.git': { folder: 0o755 },
      'empty/x': 'x',
      'loop/.git': { link: '.git' },
      'loop/x': 'x',
      'dangling/.git': { link: 'no/such' },
      'dangling/x': 'x',
      'odd-head/.git/HEAD': 'ref: ../../../etc/passwd\n',
      'odd-head/x': 'x',
      'huge-head/.git/HEAD': 'x'.repeat(100_000),
      'huge-head/x': 'x',
    },
  })
  execFileSync('mkfifo', [join(s.project, 'fifo.git')])
  mkdirSync(join(s.project, 'fifo'))
  execFileSync('mv', [join(s.project, 'fifo.git'), join(s.project, 'fifo/.git')])
  s.write({ 'fifo/x': 'x' })
  const { project } = await openProject(s)
  const details = await saved(project)
  const folders = ['dangling', 'empty', 'fifo', 'file', 'huge-head', 'loop', 'nowhere', 'odd-head']
  expect(capturedFiles(s, details.ref)).toEqual(folders.map((folder) => `${folder}/x`))
  expect(skippedFor(details, 'vcs')).toEqual(folders.map((folder) => `${folder}/.git`))
  expect(byPath(details.repositories).filter(({ commit }) => commit !== null)).toEqual([])
})

test('the next save notices a repository that was created or removed', async () => {
  await using s = await scratch({ files: { 'lib/a': 'x' } })
  const { project } = await openProject(s)
  expect((await saved(project)).repositories).toEqual([])
  await waitForStableStamps()
  run(s, 'lib', 'init', '-q')
  s.write({ 'lib/b': 'x' })
  expect((await saved(project)).repositories).toEqual([
    { path: 'lib', branch: 'main', commit: null },
  ])
  rmSync(join(s.project, 'lib/.git'), { recursive: true })
  s.write({ 'lib/c': 'x' })
  const last = await saved(project)
  expect([last.repositories, last.skipped]).toEqual([[], 0])
})

function repository(s: Scratch, path: string, files: Readonly<Record<string, string>>) {
  const folder = join(s.project, path)
  s.write(files, folder)
  const git = (...args: string[]) => gitIn(folder, args)
  git('init', '-q')
  git('add', '-A')
  git('commit', '-q', '-m', 'x')
  return { git, head: () => git('rev-parse', 'HEAD') }
}

function run(s: Scratch, path: string, ...args: readonly string[]): string {
  return gitIn(join(s.project, path), args)
}

function gitIn(cwd: string, args: readonly string[]): string {
  const output = execFileSync('git', ['-c', 'init.defaultBranch=main', ...args], {
    cwd,
    env: { ...GIT_ENVIRONMENT, GIT_ALLOW_PROTOCOL: 'file' },
    stdio: 'pipe',
  })
  return output.toString('utf8').trimEnd()
}

function byPath<T extends { readonly path: string }>(notes: readonly T[]): T[] {
  return [...notes].sort((a, b) => (a.path < b.path ? -1 : 1))
}
