// Skipped paths: for every reason, the path is skipped and listed, and does not stop the save.
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { CheckpointDetails } from '../../../src/index.js'
import {
  capturedFiles,
  inChild,
  openProject,
  saved,
  waitForStableStamps,
  skippedFor,
} from './capture-helpers.js'
import { DEFAULT_EXCLUDES } from '../../../src/internal.js'
import { scratch } from '../../support/scratch.js'

test('every default exclude applies at any depth, unless the user includes the path', async () => {
  await using s = await scratch()
  const samples = DEFAULT_EXCLUDES.map((exclude, i) => {
    const sample = exclude.replace('*', 'sample').replace(/\/$/, '/inside/file')
    const folder = `e${String(i).padStart(2, '0')}`
    s.write({ [`${folder}/${sample}`]: 'x', [`${folder}/sub/${sample}`]: 'x' })
    s.write({ [`${folder}/kept`]: 'x' })
    return { exclude, folder, sample, top: sample.split('/')[0] ?? '' }
  })
  const { project } = await openProject(s)
  const details = await saved(project)
  expect(capturedFiles(s, details.ref)).toEqual(samples.map(({ folder }) => `${folder}/kept`))
  const left = samples.flatMap(({ exclude, folder, top }) => {
    const reason = exclude === '.git/' ? 'vcs' : 'ignored'
    return [`${folder}/${top} ${reason}`, `${folder}/sub/${top} ${reason}`]
  })
  expect(details.skippedPaths.map(({ path, reason }) => `${path} ${reason}`).sort()).toEqual(
    left.sort(),
  )

  const asked = samples.filter(({ exclude }) => exclude !== '.git/')
  for (const { exclude, folder } of asked)
    s.write({ [`${folder}/.savestateignore`]: `!${exclude}\n` })
  const files = asked.flatMap(({ folder, sample }) =>
    ['.savestateignore', sample, `sub/${sample}`].map((path) => `${folder}/${path}`),
  )
  expect(capturedFiles(s, (await saved(project)).ref)).toEqual(
    [...files, ...samples.map(({ folder }) => `${folder}/kept`)].sort(),
  )
})

test('the default excludes are the documented ones', () => {
  const promised = `node_modules/ dist/ build/ target/ out/ .next/ .nuxt/ __pycache__/ *.pyc *.pyo .cache/
    .pytest_cache/ .mypy_cache/ .ruff_cache/ coverage/ .coverage .venv/ venv/ env/ .git/ .hg/ .svn/
    .worktrees/ *.so *.dylib *.dll *.o *.a *.jar *.class *.exe *.obj *.mp4 *.mov *.mkv *.webm *.zip *.tar
    *.tar.gz *.tgz *.7z *.rar *.iso .env/ .env.*/ .DS_Store Thumbs.db *.log`
  expect([...DEFAULT_EXCLUDES]).toEqual(promised.split(/\s+/))
})

test('a folder exclude matches neither files of that name nor similar names', async () => {
  const files = { dist: 'a file', 'src/build': 'a file', 'distx/a': 'x', 'a.logs': 'x', log: 'x' }
  await using s = await scratch({ files: { ...files, '.environment/a': 'x', 'env.txt': 'x' } })
  const { project } = await openProject(s)
  const { ref, skipped } = await saved(project)
  expect(skipped).toBe(0)
  expect(capturedFiles(s, ref)).toEqual([...Object.keys(files), '.environment/a', 'env.txt'].sort())
})

test('.gitignore files at every level and info/exclude apply, with or without a repository', async () => {
  const files = {
    '.gitignore': '*.tmp\n/only-top\n!keep.tmp\n',
    'a.tmp': '',
    'keep.tmp': '',
    'only-top': '',
    'sub/only-top': '',
    'sub/.gitignore': 'secret\n!b.tmp\n/deep/*\n!/deep/kept\n',
    'sub/b.tmp': '',
    'sub/c.tmp': '',
    'sub/secret': '',
    'sub/deep/lost': '',
    'sub/deep/kept': '',
    secret: '',
    'by-exclude': '',
  }
  await using s = await scratch({ files })
  const { project } = await openProject(s)
  const plain = await saved(project)
  const left = ['a.tmp', 'only-top', 'sub/c.tmp', 'sub/deep/lost', 'sub/secret']
  expect(skippedFor(plain, 'ignored')).toEqual(left)

  s.git(['init', '-q'])
  writeFileSync(join(s.project, '.git/info/exclude'), 'by-exclude\n')
  const inRepository = await saved(project)
  expect(skippedFor(inRepository, 'ignored')).toEqual([...left, 'by-exclude'].sort())
  expect(capturedFiles(s, inRepository.ref)).toEqual(
    Object.keys(files)
      .filter((path) => ![...left, 'by-exclude'].includes(path))
      .sort(),
  )
})

test('a changed ignore file applies to the next save', async () => {
  await using s = await scratch({ files: { 'a.tmp': '', 'b.tmp': '', 'sub/c.tmp': '' } })
  s.git(['init', '-q'])
  const { project } = await openProject(s)
  await project.save()
  const steps: [string, string, string[]][] = [
    ['.gitignore', 'a.tmp\n', ['.gitignore', 'b.tmp', 'sub/c.tmp']],
    ['.gitignore', '*.tmp\n', ['.gitignore']],
    ['.savestateignore', '!b.tmp\n', ['.gitignore', '.savestateignore', 'b.tmp']],
    ['.gitignore', '', ['.gitignore', '.savestateignore', 'a.tmp', 'b.tmp', 'sub/c.tmp']],
    ['.git/info/exclude', 'sub/\n', ['.gitignore', '.savestateignore', 'a.tmp', 'b.tmp']],
    [
      '.git/info/exclude',
      '\n\n\n\n\n',
      ['.gitignore', '.savestateignore', 'a.tmp', 'b.tmp', 'sub/c.tmp'],
    ],
  ]
  for (const [path, text, expected] of steps) {
    await waitForStableStamps()
    s.write({ [path]: text })
    expect(capturedFiles(s, (await saved(project)).ref), `${path}: ${text}`).toEqual(expected)
  }
})

test('.savestateignore overrides defaults and .gitignore, at every level', async () => {
  await using s = await scratch({
    files: {
      '.gitignore': 'ignored-by-git\nsub/also\n',
      '.savestateignore': '!ignored-by-git\n!dist/\nmine\n',
      'ignored-by-git': '',
      'dist/bundle.js': '',
      mine: '',
      'sub/.savestateignore': '!also\n!mine\n!*.log\nnot-this.log\n',
      'sub/also': '',
      'sub/mine': '',
      'sub/a.log': '',
      'sub/not-this.log': '',
      'top.log': '',
      'node_modules/x/index.js': '',
    },
  })
  const { project } = await openProject(s)
  const details = await saved(project)
  expect(capturedFiles(s, details.ref)).toEqual([
    '.gitignore',
    '.savestateignore',
    'dist/bundle.js',
    'ignored-by-git',
    'sub/.savestateignore',
    'sub/a.log',
    'sub/also',
    'sub/mine',
  ])
  expect(skippedFor(details, 'ignored')).toEqual([
    'mine',
    'node_modules',
    'sub/not-this.log',
    'top.log',
  ])
})

test('no rule can include a .git', async () => {
  await using s = await scratch({ files: { '.savestateignore': '!.git\n!.git/\n!*\n', a: '' } })
  s.git(['init', '-q'])
  const { project } = await openProject(s)
  const details = await saved(project)
  expect(capturedFiles(s, details.ref)).toEqual(['.savestateignore', 'a'])
  expect(details.skippedByReason).toEqual({ vcs: 1 })
})

test('tracked files are captured in spite of ignore rules and excludes', async () => {
  const tracked = {
    'dist/bundle.js': 'x',
    'out/deep/er/page.html': 'x',
    'server.log': 'x',
    '.env': 'SECRET=1',
    'ignored.txt': 'x',
    'a.txt': 'x',
  }
  await using s = await scratch({ files: { ...tracked, '.gitignore': 'ignored.txt\n' } })
  s.git(['init', '-q'])
  s.git(['add', '-f', '-A'])
  s.write({ 'dist/new.js': 'x', 'out/deep/other': 'x', 'client.log': 'x', 'dist/sub/y': 'x' })
  const { project } = await openProject(s)
  const details = await saved(project)
  expect(capturedFiles(s, details.ref)).toEqual(['.gitignore', ...Object.keys(tracked)].sort())
  expect(skippedFor(details, 'ignored')).toEqual([
    'client.log',
    'dist/new.js',
    'dist/sub',
    'out/deep/other',
  ])
})

test('the index of a nested repository decides its tracked files', async () => {
  await using s = await scratch({
    files: {
      'lib/dist/index.js': 'x',
      'lib/dist/other.js': 'x',
      'lib/debug.log': 'x',
      'a.log': 'x',
    },
  })
  s.git(['init', '-q'])
  s.git(['init', '-q', 'lib'])
  s.git(['-C', 'lib', 'add', '-f', 'dist/index.js', 'debug.log'])
  const { project } = await openProject(s)
  const { ref } = await saved(project)
  expect(capturedFiles(s, ref)).toEqual(['lib/debug.log', 'lib/dist/index.js'])
})

test('a project inside a repository captures the files that this repository tracks', async () => {
  await using s = await scratch({ files: { 'dist/a.js': 'x', 'dist/b.js': 'x', 'x.skip': 'x' } })
  writeFileSync(join(s.folder, '.gitignore'), '*.skip\n')
  const git = (...args: string[]) => s.git(args, { cwd: s.folder })
  git('init', '-q')
  git('add', '-f', 'project/dist/a.js')
  const { project } = await openProject(s)
  const details = await saved(project)
  expect(capturedFiles(s, details.ref)).toEqual(['dist/a.js'])
  expect(skippedFor(details, 'ignored')).toEqual(['dist/b.js', 'x.skip'])
})

test('a change of the index alone changes what is captured', async () => {
  await using s = await scratch({ files: { 'dist/a.js': 'x', 'sub/b.log': 'x', 'c.txt': 'x' } })
  s.git(['init', '-q'])
  s.git(['add', 'c.txt'])
  const { store, project } = await openProject(s)
  const files = async () => capturedFiles(s, (await saved(project)).ref)
  expect(await files()).toEqual(['c.txt'])
  await waitForStableStamps()
  s.git(['add', '-f', 'dist/a.js'])
  expect(await files()).toEqual(['c.txt', 'dist/a.js'])
  s.git(['add', '-f', 'sub/b.log'])
  expect(await files()).toEqual(['c.txt', 'dist/a.js', 'sub/b.log'])
  await waitForStableStamps()
  s.git(['rm', '-q', '--cached', 'dist/a.js'])
  expect(await files()).toEqual(['c.txt', 'sub/b.log'])
  s.git(['rm', '-q', '--cached', 'sub/b.log', 'c.txt'])
  expect(await files()).toEqual(['c.txt'])
  // The same with the stat cache of another process.
  await store.close()
  s.git(['add', '-f', 'sub/b.log'])
  const again = await openProject(s)
  expect(capturedFiles(s, (await saved(again.project)).ref)).toEqual(['c.txt', 'sub/b.log'])
})

test('after git rm --cached, a rewind does not delete or overwrite the file', async () => {
  await using s = await scratch({ files: { 'dist/a.js': 'one', 'b.txt': 'x' } })
  s.git(['init', '-q'])
  const { project } = await openProject(s)
  const without = await project.save()
  s.git(['add', '-f', 'dist/a.js'])
  const withIt = await saved(project)
  expect(capturedFiles(s, withIt.ref)).toEqual(['b.txt', 'dist/a.js'])
  const before = s.snapshotOf(s.project, { except: ['.git'] })
  await project.rewind(without.id)
  expect(s.snapshotOf(s.project, { except: ['.git'] })).toEqual(before)
})

test('a file over the limit is listed with its size, and its neighbors are captured', async () => {
  await using s = await scratch({ files: { small: 'x', 'sub/exact': 'y'.repeat(1000) } })
  writeFileSync(join(s.project, 'sub/large'), 'z'.repeat(1001))
  const { project } = await openProject(s, { limits: { maxFileBytes: 1000 } })
  const details = await saved(project)
  expect(capturedFiles(s, details.ref)).toEqual(['small', 'sub/exact'])
  expect(details.skippedPaths).toEqual([
    { path: 'sub/large', reason: 'too-large', sizeBytes: 1001 },
  ])
  // It shrinks without a change of its folder.
  await waitForStableStamps()
  truncateSync(join(s.project, 'sub/large'), 1000)
  expect(capturedFiles(s, (await saved(project)).ref)).toContain('sub/large')
  await waitForStableStamps()
  truncateSync(join(s.project, 'sub/large'), 1001)
  const grown = await saved(project)
  expect([capturedFiles(s, grown.ref), grown.skippedByReason]).toEqual([
    ['small', 'sub/exact'],
    { 'too-large': 1 },
  ])
})

test('the default limit is 10 MB, and a new limit applies to the next save', async () => {
  await using s = await scratch({ files: { 'exactly-10mb': '', 'over-10mb': '' } })
  const limit = 10 * 1024 * 1024
  truncateSync(join(s.project, 'exactly-10mb'), limit)
  truncateSync(join(s.project, 'over-10mb'), limit + 1)
  const first = await openProject(s)
  const details = await saved(first.project)
  expect(capturedFiles(s, details.ref)).toEqual(['exactly-10mb'])
  expect(details.skippedPaths).toEqual([
    { path: 'over-10mb', reason: 'too-large', sizeBytes: limit + 1 },
  ])
  await first.store.close()
  const higher = await openProject(s, { limits: { maxFileBytes: limit + 1 } })
  expect(capturedFiles(s, (await saved(higher.project)).ref)).toEqual(['exactly-10mb', 'over-10mb'])
})

test('a rewind deletes nothing if the list of skipped paths was truncated', async () => {
  const large = Array.from({ length: 1003 }, (_, n) => `large/${String(n).padStart(4, '0')}`)
  await using s = await scratch({
    files: Object.fromEntries(large.map((name) => [name, 'ten bytes.'])),
  })
  s.write({ small: 'one' })
  const first = await openProject(s, { limits: { maxFileBytes: 5 } })
  const then = await saved(first.project)
  expect([then.skippedPaths.length, then.skipped]).toEqual([1000, 1003])
  await first.store.close()
  const higher = await openProject(s)
  s.write({ small: 'two' })
  await higher.project.save()
  const { plan } = await higher.project.rewind(then.id)
  expect([plan.write.map(({ path }) => path), plan.remove]).toEqual([['small'], []])
  expect(new Set(plan.keep.map(({ reason }) => reason))).toEqual(
    new Set([
      'existed then but was not captured (too-large)',
      'may have existed: not all paths that were skipped then are listed',
    ]),
  )
  expect(large.every((name) => existsSync(join(s.project, name)))).toBe(true)
})

test('pipes, sockets and devices are listed and never block a save', async () => {
  await using s = await scratch({ files: { file: 'x' } })
  execFileSync('mkfifo', [join(s.project, 'pipe')])
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(join(s.project, 'socket'), resolve))
  const names = ['pipe', 'socket']
  if (process.getuid?.() === 0) {
    execFileSync('mknod', [join(s.project, 'null'), 'c', '1', '3'])
    execFileSync('mknod', [join(s.project, 'disk'), 'b', '7', '250'])
    names.push('null', 'disk')
  }
  try {
    const { project } = await openProject(s)
    const details = await saved(project)
    expect(capturedFiles(s, details.ref)).toEqual(['file'])
    expect(skippedFor(details, 'special')).toEqual(names.sort())
    const before = s.snapshotOf()
    s.write({ file: 'y', later: 'z' })
    await project.rewind(details.id)
    expect(s.snapshotOf()).toEqual(before)
  } finally {
    await new Promise((resolve) => server.close(resolve))
  }
})

test('ignore files and .git that are pipes or folders do not block a save', async () => {
  await using s = await scratch({ files: { 'a/x.tmp': 'x', 'b/.gitignore/x': 'x', 'b/y': 'x' } })
  execFileSync('mkfifo', [join(s.project, 'a/.gitignore'), join(s.project, 'a/.savestateignore')])
  const { project } = await openProject(s)
  const details = await saved(project)
  expect(capturedFiles(s, details.ref)).toEqual(['a/x.tmp', 'b/.gitignore/x', 'b/y'])
  expect(skippedFor(details, 'special')).toEqual(['a/.gitignore', 'a/.savestateignore'])
})

test('a leftover of a killed rewind is skipped, a file with a similar name is captured', async () => {
  const temporary = `.savestate-tmp-${'b'.repeat(18)}-0`
  await using s = await scratch({ files: { [temporary]: 'x', '.savestate-tmp-mine': 'x', a: 'x' } })
  const { project } = await openProject(s)
  const details = await saved(project)
  expect(capturedFiles(s, details.ref)).toEqual(['.savestate-tmp-mine', 'a'])
  expect(skippedFor(details, 'temporary')).toEqual([temporary])
})

test('unreadable files and folders are listed, and the rest is captured', async () => {
  await using s = await scratch({
    files: { open: 'x', 'sub/open': 'x', closed: 'x', 'locked/inside': 'x', 'listed/inside': 'x' },
  })
  chmodSync(join(s.project, 'closed'), 0)
  chmodSync(join(s.project, 'locked'), 0)
  chmodSync(join(s.project, 'listed'), 0o444)
  const answer = await inChild(
    s,
    `
    const first = await project.show((await project.save()).id)
    await new Promise((resolve) => setTimeout(resolve, 150))
    const again = await project.save()
    fs.chmodSync(path.join(scratch.project, 'closed'), 0o600)
    fs.chmodSync(path.join(scratch.project, 'locked'), 0o700)
    fs.chmodSync(path.join(scratch.project, 'listed'), 0o700)
    const opened = await project.show((await project.save()).id)
    return { first, again: again.created, opened }
    `,
    { asOrdinaryUser: true },
  )
  const { first, again, opened } = answer as {
    first: CheckpointDetails
    again: boolean
    opened: CheckpointDetails
  }
  expect(skippedFor(first, 'unreadable')).toEqual(['closed', 'listed/inside', 'locked'])
  expect(first.skippedByReason).toEqual({ unreadable: 3 })
  expect(capturedFiles(s, first.ref)).toEqual(['open', 'sub/open'])
  expect(again).toBe(false)
  expect(capturedFiles(s, opened.ref)).toEqual([
    'closed',
    'listed/inside',
    'locked/inside',
    'open',
    'sub/open',
  ])
  expect(opened.skippedByReason).toEqual({})
})

test('an unreadable part of .git does not stop a checkpoint', async () => {
  const closed = ['.git', '.git/HEAD', '.git/index', '.git/info', '.git/config', '.git/refs']
  await using s = await scratch()
  const folders = closed.map((_, i) => join(s.folder, `project-${i}`))
  for (const [i, part] of closed.entries()) {
    const nested = join(folders[i] ?? '', 'lib')
    s.write({ 'b.txt': 'x' }, nested)
    s.git(['init', '-q'], { cwd: nested })
    s.git(['add', 'b.txt'], { cwd: nested })
    s.git(['commit', '-q', '-m', 'x'], { cwd: nested })
    chmodSync(join(nested, part), 0)
  }
  const outcomes = await inChild(
    s,
    `
    const outcomes = []
    for (const folder of ${JSON.stringify(folders)}) {
      const other = await store.project(folder)
      outcomes.push(await other.save().then(
        async ({ id }) => (await other.show(id)).fileCount + ' captured',
        (error) => error.message,
      ))
    }
    return outcomes
    `,
    { asOrdinaryUser: true },
  )
  expect(Object.fromEntries(closed.map((part, i) => [part, (outcomes as string[])[i]]))).toEqual(
    Object.fromEntries(closed.map((part) => [part, '1 captured'])),
  )
})

test('an unreadable .git is listed once, as unreadable', async () => {
  await using s = await scratch({ files: { a: 'x', 'lib/b': 'x', 'open/c': 'x' } })
  for (const folder of ['.', 'lib', 'open']) s.git(['init', '-q', folder])
  for (const folder of ['.', 'lib']) chmodSync(join(s.project, folder, '.git'), 0)
  const details = (await inChild(s, 'return project.show((await project.save()).id)', {
    asOrdinaryUser: true,
  })) as CheckpointDetails
  expect(details.skippedPaths).toEqual([
    { path: '.git', reason: 'unreadable', sizeBytes: null },
    { path: 'lib/.git', reason: 'unreadable', sizeBytes: null },
    { path: 'open/.git', reason: 'vcs', sizeBytes: null },
  ])
  expect(details.skippedByReason).toEqual({ unreadable: 2, vcs: 1 })
})

test('an unreadable ignore file has no rules and is listed', async () => {
  await using s = await scratch({ files: { '.gitignore': '*.txt', 'a.txt': 'x' } })
  chmodSync(join(s.project, '.gitignore'), 0)
  const details = (await inChild(s, 'return project.show((await project.save()).id)', {
    asOrdinaryUser: true,
  })) as CheckpointDetails
  expect(capturedFiles(s, details.ref)).toEqual(['a.txt'])
  expect(details.skippedPaths).toEqual([
    { path: '.gitignore', reason: 'unreadable', sizeBytes: null },
  ])
})

test.each([
  ['garbage', (index: string) => writeFileSync(index, 'this is no index')],
  ['cut off', (index: string) => truncateSync(index, 40)],
  ['empty', (index: string) => truncateSync(index, 0)],
  [
    'a folder',
    (index: string) => {
      rmSync(index)
      mkdirSync(index)
    },
  ],
])('an index that is %s is listed in every checkpoint made with it', async (_, damage) => {
  await using s = await scratch({ files: { 'dist/a.js': 'x', 'b.txt': 'x' } })
  s.git(['init', '-q'])
  s.git(['add', '-f', '-A'])
  damage(join(s.project, '.git/index'))
  await waitForStableStamps()
  const { store, project } = await openProject(s)
  const first = await saved(project)
  expect(capturedFiles(s, first.ref)).toEqual(['b.txt'])
  expect(skippedFor(first, 'unreadable')).toEqual(['.git/index'])
  await waitForStableStamps()
  s.write({ 'b.txt': 'changed' })
  expect(skippedFor(await saved(project), 'unreadable')).toEqual(['.git/index'])
  await store.close()
  s.write({ 'b.txt': 'changed again' })
  const again = await openProject(s)
  expect(skippedFor(await saved(again.project), 'unreadable')).toEqual(['.git/index'])
})

test('all skipped paths are counted, the list is bounded, and surprising paths come first', async () => {
  await using s = await scratch({ files: { kept: 'x', '\u200c.git': 'x' } })
  for (let i = 0; i < 1500; i++) writeFileSync(join(s.project, `file-${i}.log`), '')
  writeFileSync(join(s.project, 'zz-large'), 'x'.repeat(2000))
  execFileSync('mkfifo', [join(s.project, 'zz-pipe')])
  const { project } = await openProject(s, { limits: { maxFileBytes: 1000 } })
  const details = await saved(project)
  expect(details.skippedByReason).toEqual({
    ignored: 1500,
    'too-large': 1,
    special: 1,
    reserved: 1,
  })
  expect(details.skipped).toBe(1503)
  expect(details.skippedPaths.length).toBe(1000)
  expect(details.skippedPaths.slice(0, 4).map(({ path, reason }) => [path, reason])).toEqual([
    ['zz-large', 'too-large'],
    ['\u200c.git', 'reserved'],
    ['zz-pipe', 'special'],
    ['file-0.log', 'ignored'],
  ])
})

test('the list of skipped paths is that of the checkpoint', async () => {
  await using s = await scratch({ files: { 'a.txt': 'one' } })
  const { project } = await openProject(s, { limits: { maxFileBytes: 1000 } })
  const first = await project.save()
  s.write({ 'a.txt': 'two' })
  await waitForStableStamps()
  await project.diff(first.id)
  s.write({ 'large.bin': 'x'.repeat(1001) })
  const details = await saved(project)
  expect(details.skippedPaths).toEqual([
    { path: 'large.bin', reason: 'too-large', sizeBytes: 1001 },
  ])
})

test('a path that can no longer be saved makes a checkpoint, though the files are unchanged', async () => {
  await using s = await scratch({ files: { 'a.txt': 'one' } })
  const { project } = await openProject(s, { limits: { maxFileBytes: 1000 } })
  const first = await saved(project)
  s.write({ 'large.bin': 'x'.repeat(1001) })
  const second = await saved(project)
  expect(second).toMatchObject({ created: true, files: 0 })
  expect(second.skippedPaths).toEqual([{ path: 'large.bin', reason: 'too-large', sizeBytes: 1001 }])
  // It makes only one checkpoint. Ignored paths and paths that became readable make none.
  s.write({ 'large.bin': 'x'.repeat(1002), 'some.log': 'ignored' })
  expect(await project.save()).toMatchObject({ created: false, id: second.id })
  s.write({ 'large.bin': null })
  expect(await project.save()).toMatchObject({ created: false, id: second.id })
  expect(first.skipped).toBe(0)
})

test('folders deeper than the longest path do not stop a save', async () => {
  await using s = await scratch({ files: { 'a.txt': 'x' } })
  // The kernel rejects paths over 4,096 bytes, but a process can still descend step by step.
  const script = `
    process.chdir(${JSON.stringify(s.project)})
    const fs = require('node:fs')
    for (let i = 0; i < 25; i++) {
      fs.mkdirSync('d'.repeat(200))
      process.chdir('d'.repeat(200))
      fs.writeFileSync('.gitignore', 'x')
      fs.mkdirSync('.git')
      fs.writeFileSync('.git/HEAD', 'ref: refs/heads/main')
      fs.writeFileSync('f', 'x')
    }
  `
  execFileSync(process.execPath, ['-e', script])
  try {
    const { project } = await openProject(s)
    const details = await saved(project)
    expect(capturedFiles(s, details.ref)).toContain('a.txt')
    expect(details.skippedByReason.unreadable).toBeGreaterThan(0)
  } finally {
    execFileSync('rm', ['-rf', join(s.project, 'd'.repeat(200))])
  }
})
