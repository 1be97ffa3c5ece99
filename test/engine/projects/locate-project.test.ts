// Which folder `projectFor` returns as the project of a path.
import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { inChild } from '../../snapshot/capture/capture-helpers.js'
import { scratch } from '../../support/scratch.js'

const MARKERS = [
  '.git',
  'pyproject.toml',
  'package.json',
  'Cargo.toml',
  'go.mod',
  'Makefile',
  'pom.xml',
  '.hg',
  'Gemfile',
]

test('each marker makes its folder the project of everything in it', async () => {
  await using s = await scratch()
  const store = await s.open()
  for (const marker of MARKERS) {
    const root = join(s.folder, `with-${marker}`)
    const isFolder = marker === '.git' || marker === '.hg'
    s.write({ [marker]: isFolder ? { folder: 0o755 } : '', 'a/b/file': 'x' }, root)
    for (const path of ['a/b/file', 'a/b', 'a', '', marker])
      expect([path, (await store.projectFor(join(root, path))).path]).toEqual([path, root])
  }
})

test('a .git that is a file marks a worktree or submodule as a project of its own', async () => {
  await using s = await scratch({
    files: { '.git': { folder: 0o755 }, 'sub/.git': 'gitdir: ../.git/modules/sub', 'sub/a/b': 'x' },
  })
  const store = await s.open()
  expect((await store.projectFor(join(s.project, 'sub/a/b'))).path).toBe(join(s.project, 'sub'))
})

test('the nearest marker wins', async () => {
  await using s = await scratch({
    files: { 'package.json': '{}', 'packages/one/package.json': '{}', 'packages/one/src/a': 'x' },
  })
  const store = await s.open()
  const rootOf = async (path: string) => (await store.projectFor(join(s.project, path))).path
  expect(await rootOf('packages/one/src/a')).toBe(join(s.project, 'packages/one'))
  expect(await rootOf('packages/one')).toBe(join(s.project, 'packages/one'))
  expect(await rootOf('packages')).toBe(s.project)
})

test('without a marker the folder of the file is the project', async () => {
  await using s = await scratch({ files: { 'a/b/file': 'x' } })
  const store = await s.open()
  expect((await store.projectFor(join(s.project, 'a/b/file'))).path).toBe(join(s.project, 'a/b'))
  expect((await store.projectFor(join(s.project, 'a/b'))).path).toBe(join(s.project, 'a/b'))
  // A file that an agent is about to write does not exist yet.
  expect((await store.projectFor(join(s.project, 'a/b/new'))).path).toBe(join(s.project, 'a/b'))
})

test('a folder that has been saved is a marker', async () => {
  await using s = await scratch({ files: { 'a/b/file': 'x' } })
  const store = await s.open()
  await (await store.project(s.project)).save()
  expect((await store.projectFor(join(s.project, 'a/b/file'))).path).toBe(s.project)
})

test('a package belongs to the saved project around it, unless that excludes it or it was saved itself', async () => {
  const packages = ['packages/a', 'node_modules/b', 'generated/c', 'saved', 'clone']
  const files = Object.fromEntries(packages.map((name) => [`${name}/package.json`, '{}']))
  await using s = await scratch({
    files: { ...files, '.gitignore': 'generated\n', 'clone/.git': { folder: 0o755 } },
  })
  s.git(['init', '-q'])
  const store = await s.open()
  await (await store.project(join(s.project, 'saved'))).save()
  await (await store.project(s.project)).save()
  const notices: string[] = []
  const onWarning = (text: string) => notices.push(text)
  const found: Record<string, string> = {}
  for (const name of packages) {
    const { path } = await store.projectFor(join(s.project, name), { onWarning })
    found[name] = path.slice(s.project.length)
  }
  expect(found).toEqual({
    'packages/a': '',
    'node_modules/b': '/node_modules/b',
    'generated/c': '/generated/c',
    saved: '/saved',
    clone: '/clone',
  })
  expect(notices).toEqual([`${join(s.project, 'packages/a')} is saved as part of ${s.project}.`])
})

test('a project reached through a link is the same project', async () => {
  await using s = await scratch({ files: { 'package.json': '{}', 'src/a': 'x' } })
  symlinkSync(s.project, join(s.folder, 'link'))
  symlinkSync(join(s.project, 'src'), join(s.folder, 'src-link'))
  const store = await s.open()
  for (const path of ['link', 'link/src', 'link/src/a', 'src-link', 'src-link/a'])
    expect([path, (await store.projectFor(join(s.folder, path))).path]).toEqual([path, s.project])
})

test('home and its parents are never the project, even with markers', async () => {
  await using s = await scratch()
  const home = join(s.folder, 'users/me')
  const files = { '.git/HEAD': '', 'package.json': '{}', Makefile: '' }
  s.write(files, home)
  s.write(files, join(s.folder, 'users'))
  s.write(files, s.folder)
  s.write({ file: 'x' }, join(home, 'notes/deep'))
  s.write({ 'src/a': 'x', 'go.mod': '' }, join(home, 'work'))
  mkdirSync(join(s.folder, 'users/you/docs'), { recursive: true })
  const answers = await inChild(
    s,
    `
    const rootOf = (at) => store.projectFor(at).then(({ path }) => path, ({ code }) => code)
    const home = ${JSON.stringify(home)}
    return Promise.all([
      rootOf(path.join(home, 'notes/deep/file')),
      rootOf(path.join(home, 'notes/deep')),
      rootOf(path.join(home, 'work/src/a')),
      rootOf(path.join(home, 'package.json')),
      rootOf(home),
      rootOf(path.join(home, '..')),
      rootOf(path.join(home, '../you/docs')),
      rootOf('/'),
    ])
    `,
    { env: { HOME: home } },
  )
  expect(answers).toEqual([
    join(home, 'notes/deep'),
    join(home, 'notes/deep'),
    join(home, 'work'),
    'PROJECT_REFUSED',
    'PROJECT_REFUSED',
    'PROJECT_REFUSED',
    join(s.folder, 'users/you/docs'),
    'PROJECT_REFUSED',
  ])
})

test('a marker in a refused folder is ignored', async () => {
  await using s = await scratch()
  const temporary = join(s.folder, 'temporary')
  s.write({ 'package.json': '{}', 'work/file': 'x' }, temporary)
  const answer = await inChild(
    s,
    `return store.projectFor(${JSON.stringify(join(temporary, 'work/file'))})
      .then(({ path }) => path, ({ code }) => code)`,
    { env: { TMPDIR: temporary } },
  )
  expect(answer).toBe(join(temporary, 'work'))
})

test('a missing home folder causes no error', async () => {
  await using s = await scratch({ files: { 'package.json': '{}', 'src/a': 'x' } })
  const answer = await inChild(
    s,
    `return store.projectFor(path.join(scratch.project, 'src/a'))
      .then(({ path }) => path, ({ code }) => code)`,
    { env: { HOME: '/nonexistent/home' } },
  )
  expect(answer).toBe(s.project)
})

test('a path in a missing folder throws PROJECT_MISSING', async () => {
  await using s = await scratch()
  const store = await s.open()
  for (const path of ['none/file', 'none/deeper/file'])
    await expect(store.projectFor(join(s.folder, path))).rejects.toMatchObject({
      code: 'PROJECT_MISSING',
    })
})
