import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  enclosingRepository,
  excludeFileOf,
  headOf,
  openRepository,
} from '../../../src/snapshot/checkout/repository.js'
import { READABLE, started } from '../../support/sample-repositories.js'
import { commit, git, gitText, open, scratchFolders } from '../../support/scratch-git.js'

const newFolder = scratchFolders()
const NOWHERE = { commit: null, branch: null }

describe('openRepository', () => {
  test('finds the repository whose worktree is this folder, and no other', () => {
    const folder = started(newFolder(), { 'sub/file': '1' })
    const gitDir = `${folder}/.git`
    expect(openRepository(folder)).toEqual({ worktree: folder, gitDir, commonDir: gitDir })
    for (const other of ['sub', 'sub/file', 'missing', '.git', '.git/refs']) {
      expect(openRepository(join(folder, other))).toBeUndefined()
    }
  })

  test('finds the repository of a submodule', () => {
    const worktree = READABLE['a submodule']?.(newFolder()) ?? ''
    const gitDir = worktree.replace('/nested/sub', '/.git/modules/nested/sub')
    expect(openRepository(worktree)).toEqual({ worktree, gitDir, commonDir: gitDir })
  })

  test('finds the repository of a linked worktree', () => {
    const worktree = READABLE['a linked worktree']?.(newFolder()) ?? ''
    const commonDir = worktree.replace(/linked$/, 'main/.git')
    const gitDir = `${commonDir}/worktrees/linked`
    expect(readFileSync(join(worktree, '.git'), 'utf8')).toBe(`gitdir: ${gitDir}\n`)
    expect(openRepository(worktree)).toEqual({ worktree, gitDir, commonDir })
    expect(excludeFileOf(open(worktree))).toBe(`${commonDir}/info/exclude`)
  })

  test('finds a repository by a relative gitfile in a folder reached through a link', () => {
    const folder = newFolder()
    started(join(folder, 'real', 'store'))
    mkdirSync(join(folder, 'real', 'tree'))
    mkdirSync(join(folder, 'elsewhere'))
    writeFileSync(join(folder, 'real/tree/.git'), 'gitdir: ../store/.git\r\n')
    const worktree = join(folder, 'elsewhere', 'link')
    symlinkSync(join(folder, 'real', 'tree'), worktree)
    const gitDir = join(folder, 'real/store/.git')
    expect(openRepository(worktree)).toEqual({ worktree, gitDir, commonDir: gitDir })
  })

  test('finds a repository whose .git is a link', () => {
    const folder = newFolder()
    started(join(folder, 'store'))
    symlinkSync('store/.git', join(folder, '.git'))
    const gitDir = `${folder}/.git`
    expect(openRepository(folder)).toEqual({ worktree: folder, gitDir, commonDir: gitDir })
  })

  test('rejects any other .git', () => {
    const folder = newFolder()
    const dotGit = join(folder, '.git')
    mkdirSync(dotGit)
    expect(openRepository(folder)).toBeUndefined()
    mkdirSync(join(dotGit, 'HEAD'))
    expect(openRepository(folder)).toBeUndefined()
    rmSync(dotGit, { recursive: true })
    const store = started(join(folder, 'store'))
    for (const content of [
      '',
      'gitdir: ',
      'gitdir:\n',
      'gitdir: missing',
      'gitdir: store',
      `gitdir: ${store}/.git\0`,
      `gitdir: ${'x'.repeat(300)}`,
      `gitdir: ${'x/'.repeat(2_000)}`,
      `${' '.repeat(5_000)}gitdir: store/.git`,
      'some text',
    ]) {
      writeFileSync(dotGit, content)
      expect(openRepository(folder)).toBeUndefined()
    }
    for (const target of ['.git', 'missing']) {
      rmSync(dotGit)
      symlinkSync(target, dotGit)
      expect(openRepository(folder)).toBeUndefined()
    }
    rmSync(dotGit)
    execFileSync('mkfifo', [dotGit])
    expect(openRepository(folder)).toBeUndefined()
  })

  test('throws if .git cannot be read', () => {
    expect(() => openRepository(`/${'x/'.repeat(3_000)}y`)).toThrow('ENAMETOOLONG')
  })

  test('throws without permission', () => {
    const folder = started(newFolder())
    execFileSync('chmod', ['000', folder])
    // Root can read everything, so become another user for the test.
    const isRoot = process.geteuid?.() === 0
    if (isRoot) process.seteuid?.(65534)
    try {
      expect(() => openRepository(folder)).toThrow('EACCES')
    } finally {
      if (isRoot) process.seteuid?.(0)
      execFileSync('chmod', ['700', folder])
    }
  })
})

test('the enclosing repository is the nearest at or above a folder', () => {
  const outside = newFolder()
  const folder = started(join(outside, 'outer'), { 'a/b/file': '1', 'inner/c/file': '1' })
  const outer = open(folder)
  const inner = open(started(join(folder, 'inner')))
  expect(enclosingRepository(folder)).toEqual({ repository: outer, prefix: '' })
  expect(enclosingRepository(`${folder}/a/b`)).toEqual({ repository: outer, prefix: 'a/b' })
  expect(enclosingRepository(`${folder}/inner/c`)).toEqual({ repository: inner, prefix: 'c' })
  expect(enclosingRepository(`${folder}/not/there`)).toEqual({
    repository: outer,
    prefix: 'not/there',
  })
  expect(enclosingRepository(outside)).toBeUndefined()
  expect(enclosingRepository('/')).toBeUndefined()
})

describe('headOf', () => {
  test('follows HEAD from an unborn branch to a commit, packed, and detached', () => {
    const folder = started(newFolder())
    const head = () => headOf(open(folder))
    expect(head()).toEqual({ commit: null, branch: 'main' })
    const first = commit(folder, { a: '1' })
    expect(head()).toEqual({ commit: first, branch: 'main' })
    git(folder, ['checkout', '-q', '-b', 'topic/one'])
    git(folder, ['tag', '-a', '-m', 'peeled in packed-refs', 'v1'])
    git(folder, ['pack-refs', '--all'])
    expect(head()).toEqual({ commit: first, branch: 'topic/one' })
    const second = commit(folder, { a: '2' })
    expect(head()).toEqual({ commit: second, branch: 'topic/one' })
    git(folder, ['checkout', '-q', '--detach', 'HEAD^'])
    expect(head()).toEqual({ commit: first, branch: null })
    git(folder, ['checkout', '-q', '--orphan', 'topic'])
    expect(head()).toEqual({ commit: null, branch: 'topic' })
  })

  test('finds a packed branch where a folder of branches was', () => {
    const folder = started(newFolder())
    const first = commit(folder, {})
    git(folder, ['checkout', '-q', '-b', 'a'])
    git(folder, ['pack-refs', '--all'])
    mkdirSync(join(folder, '.git/refs/heads/a/b'), { recursive: true })
    expect(headOf(open(folder))).toEqual({ commit: first, branch: 'a' })
  })

  test('finds the heads of linked worktrees and submodules', () => {
    for (const kind of ['a linked worktree', 'a submodule']) {
      const worktree = READABLE[kind]?.(newFolder()) ?? ''
      const expected = {
        commit: gitText(worktree, 'rev-parse', 'HEAD'),
        branch: gitText(worktree, 'branch', '--show-current'),
      }
      expect(headOf(open(worktree))).toEqual(expected)
      git(worktree, ['pack-refs', '--all'])
      expect(headOf(open(worktree))).toEqual(expected)
    }
  })

  test('reads a commit of a SHA-256 repository', () => {
    const folder = started(newFolder(), {}, ['--object-format=sha256'])
    const first = commit(folder, {})
    expect(first).toHaveLength(64)
    expect(headOf(open(folder))).toEqual({ commit: first, branch: 'main' })
    git(folder, ['pack-refs', '--all'])
    expect(headOf(open(folder))).toEqual({ commit: first, branch: 'main' })
  })

  test('returns the branch as text, even if its bytes are not UTF-8', () => {
    const folder = started(newFolder())
    const first = commit(folder, {})
    git(folder, ['checkout', '-q', '-b', 'voilà'])
    expect(headOf(open(folder))).toEqual({ commit: first, branch: 'voilà' })
    git(folder, ['pack-refs', '--all'])
    expect(headOf(open(folder))).toEqual({ commit: first, branch: 'voilà' })
    writeFileSync(join(folder, '.git/HEAD'), Buffer.from('ref: refs/heads/\xff\n', 'latin1'))
    expect(headOf(open(folder))).toEqual({ commit: null, branch: '"\\377"' })
  })

  test('follows links and symbolic refs, but no cycles', () => {
    const folder = started(newFolder())
    const first = commit(folder, {})
    git(folder, ['symbolic-ref', 'refs/heads/alias', 'refs/heads/main'])
    const headFile = join(folder, '.git/HEAD')
    writeFileSync(headFile, 'ref: refs/heads/alias\n')
    expect(headOf(open(folder))).toEqual({ commit: first, branch: 'main' })
    for (const branch of ['main', 'unborn']) {
      rmSync(headFile)
      symlinkSync(`refs/heads/${branch}`, headFile)
      const commit = branch === 'main' ? first : null
      expect(headOf(open(folder))).toEqual({ commit, branch })
    }
    rmSync(headFile)
    writeFileSync(headFile, 'ref: refs/heads/circle\n')
    writeFileSync(join(folder, '.git/refs/heads/circle'), 'ref: refs/heads/circle\n')
    expect(headOf(open(folder))).toEqual(NOWHERE)
    rmSync(headFile)
    symlinkSync('HEAD', headFile)
    expect(headOf(open(folder))).toEqual(NOWHERE)
  })

  test('an invalid HEAD has no commit, at any size', () => {
    const folder = started(newFolder())
    const first = commit(folder, {})
    const headFile = join(folder, '.git/HEAD')
    writeFileSync(join(folder, '.git/secret'), first)
    for (const content of [
      '',
      'ref: refs/heads/.invalid\n',
      'ref: refs/heads/../../secret\n',
      'ref: secret\n',
      'ref: refs/heads/\n',
      `${first}0\n`,
      first.slice(1),
      `ref: refs/heads/main${' '.repeat(5_000)}`,
    ]) {
      writeFileSync(headFile, content)
      expect(headOf(open(folder))).toEqual(NOWHERE)
    }
    truncateSync(headFile, 4 * 1024 ** 3)
    expect(headOf(open(folder))).toEqual(NOWHERE)
    writeFileSync(headFile, `ref: refs/heads/${'x'.repeat(300)}\n`)
    expect(headOf(open(folder))).toEqual({ commit: null, branch: 'x'.repeat(300) })
    writeFileSync(headFile, 'ref: refs/heads/main\n')
    writeFileSync(join(folder, '.git/refs/heads/main'), '')
    expect(headOf(open(folder))).toEqual({ commit: null, branch: 'main' })
  })
})
