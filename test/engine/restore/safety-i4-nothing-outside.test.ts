// I4: a rewind changes nothing outside the project, and nothing in the user's .git.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Project } from '../../../src/index.js'
import { codeOf, openProject, rewindWhile } from '../../support/safety-project.js'
import { hashTree, type Scratch, scratch, sdk } from '../../support/scratch.js'

describe('I4: nothing outside is written or removed', () => {
  const OUTSIDE = {
    'a.txt': 'outside a',
    'b.txt': 'outside b',
    'new.txt': 'outside new',
    'sub/c.txt': 'outside c',
    'sub/new.txt': 'outside new',
    'made/d.txt': 'outside d',
  }

  /** Makes a checkpoint, then changes of every kind in `dir` and below it. */
  async function saveAndBreak(s: Scratch): Promise<{ project: Project; id: string }> {
    s.write({
      'dir/a.txt': 'one',
      'dir/b.txt': 'one',
      'dir/sub/c.txt': 'one',
      'dir/gone/e.txt': 'one',
      'other.txt': 'one',
    })
    s.write(OUTSIDE, join(s.folder, 'outside'))
    const project = await openProject(s)
    const { id } = await project.save({})
    s.write({
      'dir/a.txt': 'two',
      'dir/b.txt': null,
      'dir/new.txt': 'made later',
      'dir/sub/c.txt': 'two',
      'dir/sub/new.txt': 'made later',
      'dir/made/d.txt': 'made later',
      'dir/gone': null,
      'other.txt': 'two',
    })
    return { project, id }
  }

  test.each(['dir', 'dir/sub'])(
    'a link to an outside folder replaces %s between plan and apply',
    async (swapped) => {
      await using s = await scratch()
      const { project, id } = await saveAndBreak(s)
      const outside = join(s.folder, 'outside')
      const before = hashTree(outside)
      const away = join(s.folder, 'away')
      const rewound = await rewindWhile(project, id, () => {
        renameSync(join(s.project, swapped), away)
        symlinkSync(outside, join(s.project, swapped))
      })
      expect(hashTree(outside)).toEqual(before)
      expect(rewound).toEqual({ applied: true })
      // The folder that was moved away is not changed.
      expect(readFileSync(join(away, swapped === 'dir' ? 'a.txt' : 'c.txt'), 'utf8')).toBe('two')
      await project.rewind(id)
      expect(readFileSync(join(s.project, 'dir/sub/c.txt'), 'utf8')).toBe('one')
      expect(lstatSync(join(s.project, swapped)).isDirectory()).toBe(true)
      expect(hashTree(outside)).toEqual(before)
    },
  )

  test('a link to a sibling inside the project replaces a folder', async () => {
    await using s = await scratch()
    const { project, id } = await saveAndBreak(s)
    s.write(OUTSIDE, join(s.project, 'sibling'))
    await project.save({ reason: 'with a sibling' })
    const rewound = await rewindWhile(project, id, () => {
      renameSync(join(s.project, 'dir'), join(s.folder, 'away'))
      symlinkSync('sibling', join(s.project, 'dir'))
    })
    expect(rewound).toEqual({ applied: true })
    await project.rewind(id)
    expect([...s.snapshotOf().keys()].sort()).toEqual(
      ['', 'dir', 'dir/a.txt', 'dir/b.txt', 'dir/gone', 'dir/gone/e.txt', 'dir/sub']
        .concat('dir/sub/c.txt', 'other.txt')
        .sort(),
    )
  })

  test('a link replaces the project itself', async () => {
    await using s = await scratch()
    const { project, id } = await saveAndBreak(s)
    const outside = join(s.folder, 'outside')
    const moved = join(s.folder, 'moved')
    // The same names as in the project, so that every path of the plan exists there.
    s.write({ 'dir/a.txt': 'outside', 'dir/new.txt': 'outside', 'other.txt': 'outside' }, outside)
    const before = hashTree(outside)
    const content = s.snapshotOf()
    const { code } = await rewindWhile(project, id, () => {
      renameSync(s.project, moved)
      symlinkSync(outside, s.project)
    })
    expect(code).toBe('REWIND_DISTURBED')
    expect(hashTree(outside)).toEqual(before)
    expect(s.snapshotOf(moved)).toEqual(content)
    // Once the folder is moved back, a rewind works again.
    rmSync(s.project)
    renameSync(moved, s.project)
    await project.rewind(id)
    expect(readFileSync(join(s.project, 'dir/a.txt'), 'utf8')).toBe('one')
    expect(s.snapshotOf().has('dir/new.txt')).toBe(false)
  })

  test('another folder replaces the project', async () => {
    await using s = await scratch()
    const { project, id } = await saveAndBreak(s)
    const moved = join(s.folder, 'moved')
    const content = s.snapshotOf()
    const { code } = await rewindWhile(project, id, () => {
      renameSync(s.project, moved)
      mkdirSync(s.project)
      s.write({ 'dir/a.txt': 'another', 'other.txt': 'another', 'dir/new.txt': 'another' })
    })
    expect(code).toBe('REWIND_DISTURBED')
    expect(s.snapshotOf(moved)).toEqual(content)
    for (const path of ['dir/a.txt', 'other.txt', 'dir/new.txt']) {
      expect(readFileSync(join(s.project, path), 'utf8')).toBe('another')
    }
  })

  test('a folder that another process keeps swapping with a link', async () => {
    await using s = await scratch()
    const { project, id } = await saveAndBreak(s)
    const outside = join(s.folder, 'outside')
    const before = hashTree(outside)
    const [dir, away, link] = ['project/dir', 'away', 'link'].map((name) => join(s.folder, name))
    const script = `
      const { renameSync, symlinkSync } = require('node:fs')
      const [dir, away, link, outside] = process.argv.slice(1)
      symlinkSync(outside, link)
      process.stdout.write('started')
      const attempt = (from, to) => { try { renameSync(from, to) } catch {} }
      for (;;) {
        attempt(dir, away); attempt(link, dir)
        attempt(dir, link); attempt(away, dir)
      }`
    const args = ['--eval', script, dir ?? '', away ?? '', link ?? '', outside]
    const swapper = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    await once(swapper.stdout, 'data')
    const codes = new Set<unknown>()
    try {
      for (let round = 0; round < 8; round++) {
        await project.rewind(id).catch((error: unknown) => codes.add(codeOf(error)))
        await project.undo().catch((error: unknown) => codes.add(codeOf(error)))
        expect(hashTree(outside)).toEqual(before)
      }
    } finally {
      swapper.kill('SIGKILL')
      await once(swapper, 'exit')
    }
    expect(Object.keys(sdk.ERROR_CODES)).toEqual(expect.arrayContaining([...codes]))
    await project.rewind(id)
    expect(readFileSync(join(s.project, 'dir/a.txt'), 'utf8')).toBe('one')
    expect(hashTree(outside)).toEqual(before)
  })

  test('a rewind replaces a link in the project, not its target', async () => {
    await using s = await scratch({ files: { 'x.txt': 'one', 'y.txt': 'one', 'dir/z': 'one' } })
    s.write(OUTSIDE, join(s.folder, 'outside'))
    const outside = join(s.folder, 'outside')
    const before = hashTree(outside)
    const project = await openProject(s)
    const { id } = await project.save({})
    s.write({ 'x.txt': null, dir: null })
    s.write({ 'x.txt': { link: join(outside, 'a.txt') }, dir: { link: outside } })
    s.write({ 'made-link': { link: outside } })
    await project.rewind(id)
    expect(readFileSync(join(s.project, 'x.txt'), 'utf8')).toBe('one')
    expect(readFileSync(join(s.project, 'dir/z'), 'utf8')).toBe('one')
    expect(hashTree(outside)).toEqual(before)
    await project.undo()
    expect(lstatSync(join(s.project, 'dir')).isSymbolicLink()).toBe(true)
    expect(hashTree(outside)).toEqual(before)
  })

  test('a rewind replaces a file with a hard link outside instead of writing into it', async () => {
    await using s = await scratch({ files: { 'x.txt': 'one' } })
    const project = await openProject(s)
    const { id } = await project.save({})
    s.write({ 'x.txt': 'two' })
    linkSync(join(s.project, 'x.txt'), join(s.folder, 'second-name'))
    await project.rewind(id)
    expect(readFileSync(join(s.project, 'x.txt'), 'utf8')).toBe('one')
    expect(readFileSync(join(s.folder, 'second-name'), 'utf8')).toBe('two')
  })

  test('a path that leads outside is refused', async () => {
    await using s = await scratch({ files: { 'x.txt': 'one' } })
    const project = await openProject(s)
    const { id } = await project.save({})
    s.write({ 'x.txt': 'two' })
    for (const path of ['..', '../x.txt', 'a/../../x', '/etc/passwd', '"\\056\\056/x"', 'a\0b']) {
      const refused = expect.objectContaining({ code: 'BAD_INPUT' })
      await expect(project.rewind(id, { paths: [path] })).rejects.toThrow(refused)
      await expect(project.diff(id, { paths: [path] })).rejects.toThrow(refused)
    }
    expect(readFileSync(join(s.project, 'x.txt'), 'utf8')).toBe('two')
  })

  test('a project in a subfolder does not touch its siblings', async () => {
    await using s = await scratch({
      files: { 'packages/a/x.txt': 'one', 'packages/b/x.txt': 'one', 'top.txt': 'one' },
    })
    s.git(['init', '-q'])
    s.git(['add', '-A'])
    s.git(['commit', '-qm', 'x'])
    const store = await s.open()
    const project = await store.project(join(s.project, 'packages/a'))
    const { id } = await project.save({})
    s.write({
      'packages/a/x.txt': 'two',
      'packages/a/new.txt': 'made later',
      'packages/b/x.txt': 'two',
      'packages/b/new.txt': 'made later',
      'top.txt': 'two',
    })
    const except = ['packages/a']
    const others = s.snapshotOf(s.project, { except })
    const times = hashTree(join(s.project, 'packages/b'))
    await project.rewind(id)
    expect([...s.snapshotOf(join(s.project, 'packages/a')).keys()]).toEqual(['', 'x.txt'])
    expect(s.snapshotOf(s.project, { except })).toEqual(others)
    expect(hashTree(join(s.project, 'packages/b'))).toEqual(times)
    await project.undo()
    expect(s.snapshotOf(s.project, { except })).toEqual(others)
  })
})

describe("I4: the user's own .git is never written", () => {
  test('save, diff, show, rewind, undo and redo change no byte and no time of it', async () => {
    await using s = await scratch({
      files: { 'a.txt': 'one\n', 'b.txt': 'one\n', 'sub/c.txt': 'one\n', '.gitignore': '*.tmp\n' },
    })
    s.git(['init', '-q'])
    s.git(['add', '-A'])
    s.git(['commit', '-qm', 'first'])
    s.git(['branch', 'other'])
    s.git(['tag', '-a', '-m', 'tagged', 'v1'])
    s.write({ 'b.txt': 'stashed\n' })
    s.git(['stash', '-q'])
    s.write({ 'a.txt': 'staged\n', 'new.txt': 'staged\n' })
    s.git(['add', '-A'])
    s.write({ 'a.txt': 'staged, then edited\n', 'untracked.txt': 'u\n', 'x.tmp': 'ignored\n' })
    // A nested repository has its own .git.
    s.git(['init', '-q', 'nested'])
    s.write({ 'nested/n.txt': 'n\n' })
    s.git(['add', '-A'], { cwd: join(s.project, 'nested') })
    const hashGit = () => [
      hashTree(join(s.project, '.git')),
      hashTree(join(s.project, 'nested/.git')),
    ]
    const before = hashGit()
    const status = () => s.git(['--no-optional-locks', 'status', '--porcelain', '-uall'])
    const statusBefore = status()

    const project = await openProject(s)
    const { id } = await project.save({ reason: 'first' })
    s.write({ 'a.txt': 'broken\n', 'b.txt': null, 'sub/c.txt': null, 'made.txt': 'later\n' })
    s.write({ 'nested/n.txt': 'broken\n' })
    await project.diff(id)
    await project.show(id)
    await project.rewind(id)
    expect(hashGit()).toEqual(before)
    expect(status()).toBe(statusBefore)
    await project.undo()
    await project.redo()
    expect(hashGit()).toEqual(before)
    expect(status()).toBe(statusBefore)
    expect(s.git(['stash', 'list'])).toContain('stash@{0}')
    expect(s.git(['branch', '--list'])).toContain('other')
  })

  test('a rewind across commits moves neither branches nor commits', async () => {
    await using s = await scratch({ files: { 'a.txt': 'one\n' } })
    s.git(['init', '-q'])
    s.git(['add', '-A'])
    s.git(['commit', '-qm', 'first'])
    const project = await openProject(s)
    const { id } = await project.save({})
    s.write({ 'a.txt': 'two\n' })
    s.git(['commit', '-qam', 'second'])
    const before = hashTree(join(s.project, '.git'))
    await project.rewind(id)
    expect(hashTree(join(s.project, '.git'))).toEqual(before)
    expect(readFileSync(join(s.project, 'a.txt'), 'utf8')).toBe('one\n')
    expect(s.git(['log', '--format=%s'])).toBe('second\nfirst')
  })
})
