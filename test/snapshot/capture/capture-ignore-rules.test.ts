// Default excludes and ignore files.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { DEFAULT_EXCLUDES } from '../../../src/internal.js'
import { scratch } from '../../support/scratch.js'
import {
  capturedFiles,
  openProject,
  saved,
  waitForStableStamps,
  skippedFor,
} from './capture-helpers.js'

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
