// A first save takes contents from the user's own repository where a file is proven to be what that has. Whatever
// the repository is like, the checkpoint is the one that reading every file would have made (I9), and it needs the
// repository no more. The oracle is the SHA-1 of every file, computed here.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  appendFileSync,
  chownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openProject, saved, settle, skippedFor, storedTree, storeGit } from './capture-helpers.js'
import { fsck, runGit, type Scratch, scratchWithThreads as scratch, snapshotOf } from './scratch.js'

const FILES = 60

let template: Scratch
beforeAll(async () => {
  template = await scratch()
  fill(template)
  commit(template)
  git(template, 'repack', '-adq', '--window=0')
})
afterAll(() => template.dispose())

test('the contents of a clean checkout come from its pack, and outlive the repository', async () => {
  await using s = await repository()
  const { project } = await openProject(s)
  const reused = packed(s)
  const { id, ref, insertions, files } = await saved(project)
  const contents = contentsOf(s, ref)
  expect(contents).toEqual(contentsOnDisk(s.project))
  expect(reusedOf(s, contents, reused)).toHaveLength(FILES)
  expect({ insertions, files }).toEqual({ insertions: linesOnDisk(s.project), files: FILES })

  const before = snapshotOf(s.project, { except: ['.git'] })
  git(s, 'commit', '-q', '--amend', '--allow-empty', '-m', 'another')
  git(s, 'repack', '-adfq')
  git(s, 'gc', '-q', '--prune=now')
  rmSync(join(s.project, '.git'), { recursive: true })
  for (const name of readdirSync(s.project)) rmSync(join(s.project, name), { recursive: true })
  await project.rewind({ to: id })
  expect(snapshotOf(s.project)).toEqual(before)
  expect(fsck(s.home)).toBe('')
})

test('in a subfolder of a repository as well, and with the objects as deltas', async () => {
  await using s = await scratch()
  const folder = join(s.project, 'deep/er')
  mkdirSync(folder, { recursive: true })
  for (let n = 0; n < FILES; n++)
    writeFileSync(join(folder, `f${n}.txt`), `${text(7)}${n}\n${text(8)}`)
  await settle()
  commit(s)
  git(s, 'repack', '-adfq', '--depth=50', '--window=20')
  const store = await s.open()
  const project = await store.project(folder)
  const { id } = await project.save()
  const { ref } = await project.show(id)
  expect(contentsOf(s, ref ?? '')).toEqual(contentsOnDisk(folder))
})

type Case = {
  /** The index stays as old as it is; otherwise it is as if git had looked at the files once more. */
  readonly isRacy?: boolean
  /** Git cannot list the objects any more. */
  readonly isBroken?: boolean
  /** How many files may come from the repository; undefined where that does not matter. */
  readonly reused?: number
  readonly make: (s: Scratch) => void
}

/** `make` gets a repository with one commit, packed. */
const CASES: Readonly<Record<string, Case>> = {
  'a changed, a new and a removed file': {
    reused: FILES - 2,
    make(s) {
      appendFileSync(join(s.project, 'd1/f1.txt'), 'more\n')
      rmSync(join(s.project, 'd2/f2.txt'))
      s.write({ 'untracked.txt': 'new\n' })
    },
  },
  'a file changed at the same size, with its old time': {
    reused: FILES - 1,
    make(s) {
      const path = join(s.project, 'd1/f1.txt')
      const { atime, mtime } = statSync(path)
      writeFileSync(path, readFileSync(path, 'utf8').replace(/^./, '#'))
      utimesSync(path, atime, mtime)
    },
  },
  'loose objects': {
    reused: 0,
    make(s) {
      const bytes = readFileSync(packIn(s, '.pack'))
      removePack(s)
      s.git(['unpack-objects', '-q'], { input: bytes })
    },
  },
  'an index as old as the files': {
    reused: 0,
    isRacy: true,
    make(s) {
      const { mtimeMs } = statSync(join(s.project, 'd0/f0.txt'))
      const before = new Date(mtimeMs - 1000)
      utimesSync(join(s.project, '.git/index'), before, before)
    },
  },
  'an index of somebody else': {
    reused: process.getuid?.() === 0 ? 0 : FILES,
    make(s) {
      if (process.getuid?.() === 0) chownSync(join(s.project, '.git/index'), 65534, 65534)
    },
  },
  'line endings converted': {
    make(s) {
      git(s, 'config', 'core.autocrlf', 'true')
      checkOutAgain(s, '* text=auto eol=crlf\n')
      expect(readFileSync(join(s.project, 'd1/f1.txt'), 'latin1')).toContain('\r\n')
    },
  },
  'harmless attributes': {
    reused: FILES + 1,
    make: (s) => checkOutAgain(s, '*.txt diff eol=lf\n'),
  },
  ident: {
    make(s) {
      s.write({ 'd1/f1.txt': `$Id$\n${text(1)}` })
      checkOutAgain(s, '*.txt ident\n')
      expect(readFileSync(join(s.project, 'd1/f1.txt'), 'latin1')).toContain('$Id: ')
    },
  },
  'an encoding that keeps the size': {
    reused: FILES,
    make(s) {
      writeFileSync(join(s.project, 'd1/f1.txt'), Buffer.from('Привет'.repeat(99), 'utf16le'))
      checkOutAgain(s, 'd1/f1.* working-tree-encoding=UTF-16LE\n')
    },
  },
  'a filter that keeps the size': {
    reused: FILES,
    make(s) {
      rotating(s)
      checkOutAgain(s, 'f1.txt filter=rot\n')
    },
  },
  'a filter in a folder below': {
    reused: FILES + 1 - 3,
    make(s) {
      rotating(s)
      s.write({ 'd1/.gitattributes': 'f?.txt filter=rot\n' })
      checkOutAgain(s)
    },
  },
  'a filter by a macro': {
    reused: 0,
    make(s) {
      rotating(s)
      checkOutAgain(s, '[attr]turned filter=rot\nd1/* turned\n')
    },
  },
  'a filter by info/attributes': {
    reused: FILES - 15,
    make(s) {
      rotating(s)
      s.write({ '.git/info/attributes': 'd1/* filter=rot\n' })
      checkOutAgain(s)
    },
  },
  'a filter by a file that the configuration includes': {
    reused: FILES - 15,
    make(s) {
      rotating(s)
      const attributes = join(s.folder, 'attributes')
      writeFileSync(attributes, 'd1/* filter=rot\n')
      s.write({ '.git/more': `[core]\n\tattributesFile = "${attributes}"\n` })
      git(s, 'config', 'include.path', 'more')
      checkOutAgain(s)
    },
  },
  'attributes that are in the index only': {
    reused: 0,
    make(s) {
      rotating(s)
      checkOutAgain(s, 'f1.txt filter=rot\n')
      rmSync(join(s.project, '.gitattributes'))
    },
  },
  'assume-unchanged, skip-worktree, intent to add': {
    reused: FILES - 2,
    make(s) {
      git(s, 'update-index', '--assume-unchanged', 'd1/f1.txt')
      git(s, 'update-index', '--skip-worktree', 'd2/f2.txt')
      s.write({ 'd3/intended.txt': text(300) })
      git(s, 'add', '-N', 'd3/intended.txt')
    },
  },
  'a sparse checkout': {
    make(s) {
      git(s, 'sparse-checkout', 'set', '--cone', '--sparse-index', 'd1', 'd2')
      for (let n = 0; n < FILES; n++) s.write({ [`d3/g${n}.txt`]: text(n + 300) })
    },
  },
  'a conflict': {
    make(s) {
      git(s, 'checkout', '-q', '-b', 'other')
      s.write({ 'd1/f1.txt': 'other\n' })
      git(s, 'commit', '-qam', 'other')
      git(s, 'checkout', '-q', 'main')
      s.write({ 'd1/f1.txt': 'main\n' })
      git(s, 'commit', '-qam', 'main')
      expect(() => git(s, 'merge', '-q', 'other')).toThrow('merge')
    },
  },
  'a split index': { reused: 0, make: (s) => git(s, 'update-index', '--split-index') },
  'an index of version 4 with an untracked cache': {
    reused: FILES,
    make(s) {
      git(s, 'update-index', '--index-version', '4')
      git(s, 'update-index', '--force-untracked-cache')
    },
  },
  'objects in an alternate': {
    reused: 0,
    make(s) {
      const other = join(s.folder, 'other.git')
      git(s, 'clone', '-q', '--no-hardlinks', '--bare', '.', other)
      removePack(s)
      s.write({ '.git/objects/info/alternates': `${other}/objects\n` })
    },
  },
  'objects that are missing': { reused: 0, isBroken: true, make: removePack },
  'a pack with damaged objects': {
    isBroken: true,
    make(s) {
      const pack = packIn(s, '.pack')
      const bytes = readFileSync(pack)
      for (let at = 200; at < bytes.length - 20; at += 999) bytes[at] = (bytes[at] ?? 0) ^ 255
      overwrite(pack, bytes)
    },
  },
  'a pack whose index names the wrong objects': {
    reused: 0,
    isBroken: true,
    make(s) {
      const index = packIn(s, '.idx')
      const bytes = readFileSync(index)
      const count = bytes.readUInt32BE(8 + 255 * 4)
      const offsets = 8 + 1024 + count * 24
      const moved = Buffer.from(bytes.subarray(offsets, offsets + 4))
      bytes.copyWithin(offsets, offsets + 4, offsets + count * 4)
      moved.copy(bytes, offsets + (count - 1) * 4)
      overwrite(index, bytes)
    },
  },
  'a pipe in the place of a pack': {
    reused: 0,
    isBroken: true,
    make(s) {
      const pack = packIn(s, '.pack')
      rmSync(pack)
      execFileSync('mkfifo', [pack])
    },
  },
}

// Much of each is waiting until files have settled.
describe.concurrent('whatever the repository is like, the checkpoint is what reading every file gives', () => {
  test.each(Object.entries(CASES))('%s', async (_, { make, reused: expected, ...how }) => {
    await using s = await repository()
    const before = packed(s)
    make(s)
    await settle()
    if (how.isRacy !== true) touchIndex(s.project)
    const inPacks = how.isBroken === true ? before : packed(s)
    const { project } = await openProject(s)
    const { ref, insertions } = await saved(project)
    const contents = contentsOf(s, ref)
    expect(contents).toEqual(contentsOnDisk(s.project))
    expect(insertions).toBe(linesOnDisk(s.project))
    const reused = reusedOf(s, contents, inPacks)
    expect(expected === undefined ? undefined : reused.length).toBe(expected)
  })
})

test('a repository with SHA-256, a linked worktree and a submodule are captured as they are', async () => {
  await using s = await scratch()
  mkdirSync(join(s.project, 'modern'))
  fill(s, 'modern/')
  runGit(['init', '-q', '--object-format=sha256'], { cwd: join(s.project, 'modern') })
  runGit(['add', '-A'], { cwd: join(s.project, 'modern') })
  const origin = join(s.folder, 'origin')
  mkdirSync(origin)
  for (let n = 0; n < FILES; n++) writeFileSync(join(origin, `${n}.txt`), text(n + 100))
  const at = { cwd: origin }
  for (const args of [
    ['init', '-q'],
    ['add', '-A'],
    ['commit', '-qm', 'x'],
    ['repack', '-adq'],
  ])
    runGit(args, at)
  runGit(['worktree', 'add', '-q', join(s.project, 'linked')], at)
  runGit(['init', '-q'], { cwd: s.project })
  const allow = ['-c', 'protocol.file.allow=always']
  runGit([...allow, 'submodule', '--quiet', 'add', origin, 'sub'], { cwd: s.project })
  await settle()
  for (const name of ['linked', 'sub']) touchIndex(join(s.project, name))
  const { project } = await openProject(s)
  const { ref } = await saved(project)
  expect(contentsOf(s, ref)).toEqual(contentsOnDisk(s.project))
})

test('a private key is left out though the repository has it', async () => {
  await using s = await scratch()
  fill(s)
  s.write({ 'd1/key.txt': `-----BEGIN PRIVATE KEY-----\n${'A'.repeat(900)}\n` })
  await settle()
  commit(s)
  git(s, 'repack', '-adq')
  const { project } = await openProject(s)
  const details = await saved(project)
  expect(skippedFor(details, 'secret')).toEqual(['d1/key.txt'])
  const key = git(s, 'rev-parse', 'HEAD:d1/key.txt')
  const objects = storeGit(s, 'cat-file', '--batch-all-objects', '--batch-check').toString('latin1')
  expect(objects).not.toContain(key)
})

test('an index that lies about a file is believed, as git believes it; the objects are what they are called', async () => {
  await using s = await repository()
  const index = join(s.project, '.git/index')
  const [one, other] = ['d1/f1.txt', 'd2/f2.txt'].map((path) => git(s, 'hash-object', path))
  const bytes = readFileSync(index)
  const at = bytes.indexOf(Buffer.from(one ?? '', 'hex'))
  Buffer.from(other ?? '', 'hex').copy(bytes, at)
  createHash('sha1')
    .update(bytes.subarray(0, -20))
    .digest()
    .copy(bytes, bytes.length - 20)
  writeFileSync(index, bytes)
  const { project } = await openProject(s)
  const { ref } = await saved(project)
  expect(storedTree(s, ref).get('d1/f1.txt')?.id).toBe(other)
})

/** One commit of FILES files of one size in four folders, in one pack; made once and copied. */
async function repository(): Promise<Scratch> {
  const s = await scratch()
  execFileSync('cp', ['-R', `${template.project}/.`, s.project])
  await settle()
  git(s, 'update-index', '-q', '--refresh')
  return s
}

function fill(s: Scratch, prefix = ''): void {
  for (let n = 0; n < FILES; n++) s.write({ [`${prefix}d${n % 4}/f${n}.txt`]: text(n) })
}

/** Some KB that shrink, all of one length. */
function text(seed: number): string {
  let state = seed * 7919 + 1
  const words = Array.from({ length: 300 }, () => {
    state = (state * 48271) % 0x7fffffff
    return `${(state % 46656).toString(36).padStart(3, '0')} = abcd\n`
  })
  return words.join('')
}

function commit(s: Scratch): void {
  git(s, 'init', '-q')
  git(s, 'add', '-A')
  git(s, 'commit', '-q', '-m', 'one')
}

/** Commits everything and has git write the files anew, by the attributes that hold now. */
function checkOutAgain(s: Scratch, attributes?: string): void {
  if (attributes !== undefined) s.write({ '.gitattributes': attributes })
  git(s, 'add', '-A')
  git(s, 'add', '--renormalize', '.')
  git(s, 'commit', '-q', '--allow-empty', '-m', 'again')
  for (const name of ['d0', 'd1', 'd2', 'd3']) rmSync(join(s.project, name), { recursive: true })
  git(s, 'checkout', '-q', '--', '.')
  git(s, 'repack', '-adq', '--window=0')
}

/** A filter that changes every letter and no size. */
function rotating(s: Scratch): void {
  for (const way of ['clean', 'smudge'])
    git(s, 'config', `filter.rot.${way}`, 'tr a-zA-Z n-za-mN-ZA-M')
}

/** As if git had looked once more: what it wrote just now is as old as its index, and so not proven. */
function touchIndex(worktree: string): void {
  const index = runGit(['rev-parse', '--git-path', 'index'], { cwd: worktree })
  utimesSync(resolve(worktree, index), new Date(), new Date())
}

function git(s: Scratch, ...args: readonly string[]): string {
  return s.git(args)
}

function packIn(s: Scratch, ending: string): string {
  const folder = join(s.project, '.git/objects/pack')
  return join(folder, readdirSync(folder).find((name) => name.endsWith(ending)) ?? '')
}

function removePack(s: Scratch): void {
  rmSync(join(s.project, '.git/objects/pack'), { recursive: true })
}

/** Git makes them read-only. */
function overwrite(path: string, bytes: Buffer): void {
  rmSync(path)
  writeFileSync(path, bytes)
}

/** The size that each object takes in the packs of the repository. */
function packed(s: Scratch): ReadonlyMap<string, string> {
  return diskSizes(git(s, 'cat-file', '--batch-all-objects', `--batch-check=${DISK_SIZE}`))
}

const DISK_SIZE = '%(objectname) %(objectsize:disk)'

function diskSizes(lines: string): ReadonlyMap<string, string> {
  return new Map(lines.split('\n').map((line) => [line.slice(0, 40), line.slice(41)] as const))
}

/** The paths whose content takes as much in the store as in the repository: ours would be compressed less. */
function reusedOf(
  s: Scratch,
  contents: ReadonlyMap<string, string>,
  packedSizes: ReadonlyMap<string, string>,
): readonly string[] {
  const batch = storeGit(s, 'cat-file', '--batch-all-objects', `--batch-check=${DISK_SIZE}`)
  const stored = diskSizes(batch.toString('latin1').trimEnd())
  return [...contents]
    .filter(([, id]) => packedSizes.has(id) && stored.get(id) === packedSizes.get(id))
    .map(([path]) => path)
}

function contentsOf(s: Scratch, ref: string): ReadonlyMap<string, string> {
  const files = [...storedTree(s, ref)].filter(([, { type }]) => type !== 'folder')
  return new Map(files.map(([path, { id }]) => [path, id] as const))
}

function filesOnDisk(folder: string, below = ''): readonly string[] {
  return readdirSync(join(folder, below)).flatMap((name) => {
    if (name === '.git') return []
    const path = below === '' ? name : `${below}/${name}`
    return lstatSync(join(folder, path)).isDirectory() ? filesOnDisk(folder, path) : [path]
  })
}

function contentsOnDisk(folder: string): ReadonlyMap<string, string> {
  const ids = filesOnDisk(folder).map((path) => {
    const bytes = readFileSync(join(folder, path))
    const head = `blob ${bytes.length}\0`
    return [path, createHash('sha1').update(head).update(bytes).digest('hex')] as const
  })
  return new Map(ids)
}

/** As `git diff --numstat` counts them. */
function linesOnDisk(folder: string): number {
  const counts = filesOnDisk(folder).map((path) => {
    const content = readFileSync(join(folder, path), 'latin1')
    if (content === '' || content.slice(0, 8000).includes('\0')) return 0
    return content.split('\n').length - (content.endsWith('\n') ? 1 : 0)
  })
  return counts.reduce((sum, count) => sum + count, 0)
}
