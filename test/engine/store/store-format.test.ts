// The store is an ordinary git repository: its contents, its packs, and restoring files from it without Savestate.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  openProject,
  saved,
  waitForStableStamps,
  storedTree,
  storeGit,
} from '../../snapshot/capture/capture-helpers.js'
import { GIT_ENVIRONMENT, type Scratch, scratch } from '../../support/scratch.js'

test('a first save of many files writes one pack, small saves write loose objects', async () => {
  await using s = await scratch()
  for (let i = 0; i < 500; i++) s.write({ [`sub-${i % 20}/file-${i}`]: `content ${i}\n` })
  const { project } = await openProject(s)
  await project.save()
  const first = stored(s)
  expect(first.packs).toEqual([
    expect.stringMatching(/^pack-[0-9a-f]{40}\.idx$/),
    expect.stringMatching(/^pack-[0-9a-f]{40}\.pack$/),
  ])
  expect(first.loose).toBeLessThanOrEqual(2)

  s.write({ 'sub-0/file-0': 'changed\n' })
  await project.save()
  const second = stored(s)
  expect(second.packs).toEqual(first.packs)
  // New objects: the file, its folder, all files, the snapshot, the commit; the modes have not changed.
  expect(second.loose - first.loose).toBe(5)
  expect(leftovers(s)).toEqual([])
})

test('packs and objects are private even if the folder is not', async () => {
  await using s = await scratch()
  for (let i = 0; i < 400; i++) s.write({ [`file-${i}`]: `content ${i}\n` })
  const { project } = await openProject(s)
  await project.save()
  s.write({ one: 'more' })
  await project.save()
  const open = [...s.snapshotOf(s.home)].filter(([, { mode }]) => (mode & 0o077) !== 0)
  expect(open.map(([path, { mode }]) => `${mode.toString(8)} ${path}`)).toEqual([])
})

test('the strictest checks of git accept our packs', async () => {
  await using s = await scratch({
    files: { empty: '', link: { link: 'x' }, 'a/b': { folder: 0o700 } },
  })
  for (let i = 0; i < 400; i++) s.write({ [`d${i % 7}/file-${i}`]: Buffer.alloc(i * 50, `${i} `) })
  const { project } = await openProject(s)
  await project.save()
  const packs = join(s.home, 'objects.git/objects/pack')
  const [index = '', pack = ''] = readdirSync(packs).sort()
  const listed = storeGit(s, 'verify-pack', '-v', join(packs, index)).toString()
  expect(listed).toContain(`${join(packs, pack)}: ok`)
  // Git's own index of the pack is identical to ours.
  const theirs = join(s.folder, 'theirs.idx')
  storeGit(s, 'index-pack', '--strict', '-o', theirs, join(packs, pack))
  expect(readFileSync(theirs).equals(readFileSync(join(packs, index)))).toBe(true)
  expect(storeGit(s, 'count-objects', '-v').toString()).toContain('garbage: 0')
})

test('two projects with an identical file share one object', async () => {
  await using s = await scratch({ files: { 'a.txt': 'the same content\n', own: 'one' } })
  const other = join(s.folder, 'other')
  s.write({ 'deep/er/b.txt': 'the same content\n', own: 'two' }, other)
  const { store, project } = await openProject(s)
  const one = await saved(project)
  const before = objectCount(s)
  const two = await saved(await store.project(other))
  const id = storedTree(s, one.ref).get('a.txt')?.id
  expect(storedTree(s, two.ref).get('deep/er/b.txt')?.id).toBe(id)
  // own, deep, er, files, snapshot, commit; b.txt and the modes exist already.
  expect(objectCount(s) - before).toBe(6)
})

test('a hundred files with identical content are stored once', async () => {
  await using s = await scratch()
  for (let i = 0; i < 400; i++) s.write({ [`file-${i}`]: 'all the same\n' })
  const { project } = await openProject(s)
  await project.save()
  // content, files, modes, snapshot, commit
  expect(objectCount(s)).toBe(5)
})

test('each checkpoint is a commit without parents under refs/savestate/<project>/<checkpoint>', async () => {
  await using s = await scratch({ files: { a: 'one\n' } })
  const { project } = await openProject(s)
  const first = await saved(project)
  s.write({ a: 'two\n' })
  await project.save({ reason: 'a reason\nof two lines' })
  const second = await project.show('1')
  expect(first.ref).toMatch(new RegExp(`^refs/savestate/[a-z]{18}/${first.id}$`))
  const refs = storeGit(s, 'for-each-ref', '--format=%(refname) %(objectname) %(parent)')
  const lines = refs.toString().split('\n').slice(0, -1)
  expect(lines).toEqual([first, second].map(({ ref, commit }) => `${ref} ${commit} `).sort())
  expect(storeGit(s, 'rev-parse', `${second.ref}^{tree}`).toString().trim()).toBe(second.tree)
  const names = storeGit(s, 'ls-tree', '--name-only', String(second.ref)).toString()
  expect(names).toBe('files\nmodes\n')
})

test('git log and git show describe checkpoints', async () => {
  await using s = await scratch({ files: { 'a.txt': 'one\n' } })
  const { project } = await openProject(s)
  const { id } = await project.save({ reason: 'before the refactoring' })
  const { ref, createdAt } = await project.show(id)
  const log = storeGit(s, 'log', '--all', '--format=%s|%an|%cI|%b').toString()
  expect(log).toContain('before the refactoring|Savestate|')
  expect(log).toContain(`Savestate-Checkpoint: ${id}`)
  expect(log).toContain(`Savestate-Time: ${createdAt.toISOString()}`)
  expect(log).toContain(`Savestate-Path: ${s.project}`)
  expect(storeGit(s, 'show', '--stat', String(ref)).toString()).toContain('files/a.txt')
  expect(storeGit(s, 'show', `${ref}:files/a.txt`).toString()).toBe('one\n')
})

test('git accepts commits with any reason', async () => {
  await using s = await scratch({ files: { n: '' } })
  const { project } = await openProject(s)
  const reasons = ['', ' ', '\n\n', 'line\n\nline', 'tree x\nparent y', '\u{1f4a9} caf\u00e9', '-x']
  reasons.push('Savestate-Checkpoint: forged', '\r\n', '\u202e', 'x'.repeat(10_000))
  for (const [i, reason] of reasons.entries()) {
    s.write({ n: String(i) })
    const { id } = await project.save({ reason })
    expect((await project.show(id)).reason).toBe(reason)
  }
  expect(s.fsck()).toBe('')
})

test('git alone can restore a folder: content, executable bit, links, any name', async () => {
  await using s = await scratch({
    files: {
      'src/main.c': 'int main() {}\r\n',
      'bin/run': { content: '#!/bin/sh\n', mode: 0o755 },
      '.gitattributes': '* text eol=lf\nexported export-ignore\n$Id$ ident\n',
      'with\nnewline': 'x',
      '"\\377"': 'not UTF-8',
      link: { link: 'src/main.c' },
      dangling: { link: '../nowhere' },
    },
  })
  const { store, project } = await openProject(s)
  const { ref } = await saved(project)
  await store.close()
  const copy = join(s.folder, 'copy')
  mkdirSync(copy)
  const archive = storeGit(s, 'archive', '--format=tar', `${ref}:files`)
  // The archive must not obey attribute files in the project.
  execFileSync('tar', ['-x', '-C', copy], { input: archive })
  const plain = (folder: string) =>
    [...s.snapshotOf(folder)].flatMap(([path, { type, mode, content }]) =>
      path === '' ? [] : `${path} ${type} ${type === 'file' ? mode & 0o100 : ''} ${content}`,
    )
  expect(plain(copy)).toEqual(plain(s.project))
})

test('a clone of the store, made by git, has every checkpoint', async () => {
  await using s = await scratch({ files: { a: 'one' } })
  const { store, project } = await openProject(s)
  const { ref } = await saved(project)
  await store.close()
  const clone = join(s.folder, 'clone.git')
  storeGit(s, 'clone', '-q', '--mirror', join(s.home, 'objects.git'), clone)
  const shown = spawnSync('git', ['--git-dir', clone, 'show', `${ref}:files/a`], {
    env: GIT_ENVIRONMENT,
  })
  expect(shown.stdout.toString()).toBe('one')
})

test('after git gc every checkpoint exists, and saving works', async () => {
  await using s = await scratch({ files: { a: 'one', 'sub/b': 'one' } })
  const { project } = await openProject(s)
  const first = await saved(project)
  for (let i = 0; i < 5; i++) {
    s.write({ a: `version ${i}` })
    await project.save()
  }
  // While the store is open, as a cron job might do.
  storeGit(s, 'gc', '--quiet', '--prune=now')
  await waitForStableStamps()
  expect((await project.save()).created).toBe(false)
  s.write({ a: 'one' })
  const last = await saved(project)
  expect(last.tree).toBe(first.tree)
  s.write({ a: 'other', 'sub/b': null })
  await project.rewind(first.id)
  expect(readFileSync(join(s.project, 'sub/b'), 'utf8')).toBe('one')
  expect(s.fsck()).toBe('')
})

test('the program works in a process with a loader for TypeScript', async () => {
  await using s = await scratch({ files: { a: 'one' } })
  const entry = new URL('../../../dist/index.js', import.meta.url).href
  // Threads inherit the options of the process, and their entry points are files.
  const script = `
    const { openStore } = await import(${JSON.stringify(entry)})
    const store = await openStore({ home: ${JSON.stringify(s.home)} })
    const { created } = await (await store.project(${JSON.stringify(s.project)})).save()
    await store.close()
    process.stdout.write(String(created))
  `
  const run = spawnSync(process.execPath, ['--input-type=module', '-e', script])
  expect([run.stdout.toString(), run.stderr.toString()]).toEqual(['true', ''])
})

test('a symlink to the store or the project is the same store and project', async () => {
  await using s = await scratch({ files: { a: 'one' } })
  const { store, project } = await openProject(s)
  const { id } = await project.save()
  await store.close()
  symlinkSync(s.home, join(s.folder, 'home-link'))
  symlinkSync(s.project, join(s.folder, 'project-link'))
  const linked = await s.open({ home: join(s.folder, 'home-link') })
  const same = await linked.project(join(s.folder, 'project-link'))
  expect(await same.save()).toMatchObject({ id, created: false })
})

function stored(s: Scratch): { packs: string[]; loose: number } {
  const objects = join(s.home, 'objects.git/objects')
  const packs = readdirSync(join(objects, 'pack')).sort()
  const folders = readdirSync(objects).filter((name) => name.length === 2)
  const loose = folders.reduce((sum, name) => sum + readdirSync(join(objects, name)).length, 0)
  return { packs, loose }
}

function objectCount(s: Scratch): number {
  const output = storeGit(s, 'cat-file', '--batch-all-objects', '--batch-check')
  return output.toString().trim().split('\n').length
}

/** Temporary files that a save left behind. */
function leftovers(s: Scratch): string[] {
  return [...s.snapshotOf(s.home).keys()].filter((path) => /(^|\/)tmp\/.|\.tmp$/.test(path))
}
