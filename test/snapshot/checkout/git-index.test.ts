import { execFileSync } from 'node:child_process'
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { type BytePath, bytePath, fsPath, parentOf, ROOT } from '../../../src/model/index.js'
import {
  indexStamp,
  newTrackedPaths,
  readTrackedPaths,
  type TrackedPaths,
  trackedPaths,
} from '../../../src/snapshot/checkout/git-index.js'
import {
  enclosingRepository,
  excludeFileOf,
  headOf,
  openRepository,
} from '../../../src/snapshot/checkout/repository.js'
import { IndexUnsupported, readObjectFormat } from '../../../src/snapshot/checkout/index-format.js'
import { listNamesWithGit } from '../../../src/snapshot/checkout/list-with-git.js'
import { readRegularFile } from '../../../src/snapshot/checkout/regular-file.js'
import { FOR_GIT, forGit, READABLE, SPARSE, started } from '../../support/sample-repositories.js'
import {
  commit,
  fingerprint,
  git,
  listed,
  open,
  scratchFolders,
} from '../../support/scratch-git.js'

const newFolder = scratchFolders()

type Sample = { readonly root: string; readonly worktree: string }
const samples = new Map<(folder: string) => string, Sample>()

/** Created once, for tests that only read it. */
function sampleOf(make: (folder: string) => string): Sample {
  const known = samples.get(make)
  if (known !== undefined) return known
  const root = newFolder()
  const sample = { root, worktree: make(root) }
  samples.set(make, sample)
  return sample
}

describe('our decoder and git give the paths that `git ls-files` lists', () => {
  test.each(Object.entries(READABLE))('%s', (_, make) => {
    const { worktree } = sampleOf(make)
    const names = listed(forGit(worktree))
    expect(errorsOf(readTrackedPaths(open(worktree)), names)).toEqual([])
    expect(errorsOf(newTrackedPaths(listNamesWithGit(open(worktree))), names)).toEqual([])
  })
})

describe('git lists an index that we do not decode', () => {
  test.each(Object.entries(FOR_GIT))('%s', (_, make) => {
    const { worktree } = sampleOf(make)
    expect(() => readTrackedPaths(open(worktree))).toThrow(IndexUnsupported)
    expect(errorsOf(trackedPaths(open(worktree)), listed(forGit(worktree)))).toEqual([])
  })
})

test('each sample has its index version', () => {
  for (const version of [2, 3, 4]) {
    const { worktree } = sampleOf(READABLE[`version ${version}`] ?? started)
    expect(readFileSync(join(worktree, '.git/index')).readUInt32BE(4)).toBe(version)
  }
})

describe('a folder that is one entry is tracked with its contents', () => {
  test.each(Object.entries(SPARSE))('%s', (_, make) => {
    const folder = sampleOf(make).worktree
    const tracked = readTrackedPaths(open(folder))
    const { digest } = newTrackedPaths(['in/a', 'out/', 'over/', 'top'].map(bytePath))
    const paths = ['top', 'in/a', 'out/b', 'out/deep/c', 'in', 'in/b', 'ou', 'out', 'outer/b']
    const folders = ['', 'in', 'out', 'out/deep', 'ou', 'outer', 'in/a', 'top']
    expect({
      has: paths.filter((path) => tracked.has(bytePath(path))),
      hasInside: folders.filter((path) => tracked.hasInside(bytePath(path))),
      digest: tracked.digest,
    }).toEqual({
      has: ['top', 'in/a', 'out/b', 'out/deep/c'],
      hasInside: ['', 'in', 'out', 'out/deep'],
      digest,
    })
    // Git has no trees to expand them, and must not drop them.
    expect(() => listNamesWithGit(open(folder))).toThrow(/git lists|ls-files/)
  })
})

test('a truncated index is an error, though git may accept it', () => {
  const folder = started(newFolder())
  commit(folder, { a: '1', b: '1' })
  for (const length of [138, 110, 100, 50, 20, 0]) {
    truncateSync(join(folder, '.git/index'), length)
    expect(() => readTrackedPaths(open(folder))).toThrow(IndexUnsupported)
    expect(() => trackedPaths(open(folder))).toThrow(/index file|git lists/)
  }
})

test('an index written without a checksum is read', () => {
  const folder = started(newFolder())
  commit(folder, { a: '1', 'b/c': '1' })
  const bytes = readFileSync(join(folder, '.git/index'))
  writeFileSync(join(folder, '.git/index'), bytes.fill(0, bytes.length - 20))
  expect(errorsOf(readTrackedPaths(open(folder)), [bytePath('a'), bytePath('b/c')])).toEqual([])
})

test('an index that is not a file is refused without blocking', () => {
  const folder = started(newFolder())
  const index = join(folder, '.git/index')
  execFileSync('mkfifo', [index])
  expect(() => trackedPaths(open(folder))).toThrow('not a regular file')
  rmSync(index)
  mkdirSync(index)
  expect(() => trackedPaths(open(folder))).toThrow('not a regular file')
})

test('a link into /proc is read as an empty file', () => {
  // Files in /proc have size 0 and any amount of content: /proc/self/pagemap has 256 GB.
  const link = join(newFolder(), 'index')
  symlinkSync('/proc/self/status', link)
  expect(readRegularFile(link, 1)).toEqual(Buffer.alloc(0))
})

test('the object format is found in every spelling of the config', () => {
  const folder = started(newFolder())
  commit(folder, { a: '1' })
  for (const setting of [
    '[extensions]\n\tobjectformat = sha256\n',
    '[EXTENSIONS] ObjectFormat="SHA256" # so\n',
    '[other]\nobjectformat = sha1\n[extensions]\nnoop\nobjectFormat=sha256',
  ]) {
    writeFileSync(join(folder, '.git/config'), `[core]\n\tbare = false\n${setting}`)
    expect(readObjectFormat(open(folder))).toBe('sha256')
  }
  writeFileSync(join(folder, '.git/config'), '[other]\nobjectformat = sha256\n# [extensions]\n')
  expect(errorsOf(readTrackedPaths(open(folder)), [bytePath('a')])).toEqual([])
  writeFileSync(join(folder, '.git/config'), '[extensions]\nobjectformat = sha3\n')
  expect(() => readTrackedPaths(open(folder))).toThrow('object format sha3')
})

test('the stamp changes with every change of the index', () => {
  const folder = started(newFolder())
  expect(indexStamp(open(folder))).toBe('absent')
  commit(folder, { a: '1' })
  const first = indexStamp(open(folder))
  expect(indexStamp(open(folder))).toBe(first)
  git(folder, ['update-index', '--chmod=+x', 'a'])
  expect(indexStamp(open(folder))).not.toBe(first)
})

test('no call changes a repository or leaves files behind', () => {
  const temporary = newFolder()
  vi.stubEnv('TMPDIR', temporary)
  onTestFinished(() => void vi.unstubAllEnvs())
  for (const make of Object.values({ ...READABLE, ...FOR_GIT, ...SPARSE })) {
    const { root, worktree } = sampleOf(make)
    // Git does not update the time of a shared index or object if it is recent.
    for (const path of Object.keys(fingerprint(root))) {
      if (/sharedindex|objects\/../.test(path)) utimesSync(fsPath(path), 1, 1)
    }
    const before = fingerprint(root)
    openRepository(worktree)
    enclosingRepository(`${worktree}/a/b`)
    headOf(open(worktree))
    excludeFileOf(open(worktree))
    indexStamp(open(worktree))
    trackedPaths(open(worktree))
    if (!Object.values(SPARSE).includes(make)) listNamesWithGit(open(worktree))
    expect(fingerprint(root)).toEqual(before)
  }
  expect(readdirSync(temporary)).toEqual([])
})

/** The queries whose answers differ from exactly these names. */
function errorsOf(tracked: TrackedPaths, names: readonly BytePath[]): readonly string[] {
  const files = new Set(names)
  const folders = new Set(names.flatMap((name) => foldersOf(name)))
  const paths = [...files, ...folders, bytePath('no such name')]
  const { digest } = newTrackedPaths(names)
  return [
    ...(tracked.count === files.size ? [] : [`count: ${tracked.count}, not ${files.size}`]),
    ...(tracked.digest === digest ? [] : ['digest']),
    ...(tracked.hasInside(ROOT) === files.size > 0 ? [] : ['hasInside the root']),
    ...paths.filter((path) => tracked.has(path) !== files.has(path)),
    ...paths.filter((path) => tracked.hasInside(path) !== folders.has(path)),
  ]
}

function foldersOf(path: BytePath): readonly BytePath[] {
  const folder = parentOf(path)
  return folder === '' ? [] : [folder, ...foldersOf(folder)]
}
