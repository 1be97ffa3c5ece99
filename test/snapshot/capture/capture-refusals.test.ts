// Refused with a code: system folders, the store itself, too many files.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { capturedFiles, inChild, openProject, saved, skippedFor } from './capture-helpers.js'
import type { CheckpointDetails } from '../../../src/index.js'
import { scratchWithThreads as scratch, sdk } from '../../support/scratch.js'
import { mayHaveNamespaces } from '../watch/watch-helpers.js'

test('roots, homes, their parents and the temporary folders are refused', async () => {
  await using s = await scratch()
  const home = join(s.folder, 'users/me')
  const temporary = join(s.folder, 'temporary')
  mkdirSync(join(home, 'work'), { recursive: true })
  mkdirSync(temporary)
  symlinkSync(home, join(s.folder, 'link-to-home'))
  const refused = ['/', '//', home, `${home}/`, join(home, '..'), s.folder, '/tmp', '/tmp/.']
  refused.push(join(home, 'work/..'), join(s.folder, 'link-to-home'), temporary, '/var/tmp')
  const allowed = [join(home, 'work'), s.project]
  const codes = await inChild(
    s,
    `
    const codes = {}
    for (const folder of ${JSON.stringify([...refused, ...allowed])})
      codes[folder] = await codeOf(store.project(folder))
    return codes
    `,
    { env: { HOME: home, TMPDIR: temporary } },
  )
  expect(codes).toEqual(
    Object.fromEntries([
      ...refused.map((folder) => [folder, 'PROJECT_REFUSED']),
      ...allowed.map((folder) => [folder, 'none']),
    ]),
  )
})

test('the temporary folder of this machine is refused, a folder inside it is not', async () => {
  await using s = await scratch()
  const store = await s.open()
  await expect(store.project(realpathSync(tmpdir()))).rejects.toMatchObject({
    code: 'PROJECT_REFUSED',
    hint: expect.any(String),
  })
  await expect(store.project(s.project)).resolves.toBeDefined()
})

test('the store and folders inside it are refused', async () => {
  await using s = await scratch()
  const store = await s.open()
  symlinkSync(s.home, join(s.folder, 'link'))
  for (const folder of [s.home, join(s.home, 'objects.git'), join(s.folder, 'link')])
    await expect(store.project(folder)).rejects.toMatchObject({ code: 'PROJECT_REFUSED' })
})

test('a refusal names the folder, the reason and a remedy', async () => {
  await using s = await scratch()
  const store = await s.open()
  await expect(store.project('/')).rejects.toMatchObject({
    constructor: sdk.SavestateError,
    message: expect.stringContaining('root of a disk'),
    hint: expect.stringMatching(/.+/),
  })
})

// Where a process cannot have its own mounts, guard.test.ts and scan.test.ts still test the decision.
test.each(mayHaveNamespaces ? ['mount --bind'] : [])(
  'a store reached through %s is neither captured nor changed by a rewind',
  async (mount) => {
    await using s = await scratch({ files: { a: 'one', 'sub/b': 'y' } })
    mkdirSync(join(s.folder, 'twin'))
    const program = new URL('../../../dist/cli/bin.js', import.meta.url).pathname
    const script = `
      set -e
      export SAVESTATE_HOME="$1/project/sub/.store" SAVESTATE_NO_DAEMON=1 HOME="$1/home"
      mkdir -p "$HOME" "$1/second-home"
      ${mount} "$1/project" "$1/twin"; ${mount} "$HOME" "$1/second-home"
      cd "$1/twin"
      "$2" "$3" save -m one; echo two > a; "$2" "$3" save -m two; "$2" "$3" rewind 2 -y
      "$2" "$3" verify; "$2" "$3" show 1 --json > "$1/shown"
      cd "$1/second-home"; ! "$2" "$3" save 2> "$1/refused"
    `
    const args = ['-rm', '--propagation', 'private', 'sh', '-c', script, 'sh', s.folder]
    const ran = spawnSync('unshare', [...args, process.execPath, program], {
      encoding: 'utf8',
      env: { PATH: process.env['PATH'] ?? '' },
    })
    expect([ran.status, ran.stderr]).toEqual([0, expect.any(String)])
    expect(readFileSync(join(s.project, 'a'), 'utf8')).toBe('one')
    const shown = JSON.parse(readFileSync(join(s.folder, 'shown'), 'utf8')) as CheckpointDetails
    expect([shown.fileCount, skippedFor(shown, 'store')]).toEqual([2, ['sub/.store']])
    expect(readFileSync(join(s.folder, 'refused'), 'utf8')).toContain('is a home folder')
  },
)

test('a store inside the project is skipped, and the project is captured', async () => {
  await using s = await scratch({ files: { a: 'x', 'sub/b': 'y' } })
  const store = await s.open({ home: join(s.project, 'sub/.savestate') })
  const project = await store.project(s.project)
  const details = await saved(project)
  expect(skippedFor(details, 'store')).toEqual(['sub/.savestate'])
  expect(capturedFiles({ home: store.home }, details.ref)).toEqual(['a', 'sub/b'])
  expect((await project.save()).created).toBe(false)
  s.write({ a: 'changed', 'sub/b': null })
  await project.rewind(details.id)
  expect(s.snapshotOf(s.project, { except: ['sub/.savestate'] }).has('sub/b')).toBe(true)
  expect((await store.verify()).problems).toEqual([])
})

test('too many files are refused without leftovers', async () => {
  await using s = await scratch()
  for (let i = 0; i < 11; i++) s.write({ [`file-${i}`]: String(i) })
  const { store, project } = await openProject(s, { limits: { maxFiles: 10 } })
  await expect(project.save()).rejects.toMatchObject({
    code: 'TOO_MANY_FILES',
    message: expect.stringContaining('10'),
    hint: expect.stringContaining('.savestateignore'),
  })
  expect(await project.list()).toEqual([])
  s.write({ 'file-0': null })
  expect((await saved(project)).fileCount).toBe(10)
  s.write({ one: 'x' })
  await expect(project.save()).rejects.toMatchObject({ code: 'TOO_MANY_FILES' })
  // The next save does not trust the nodes of the failed one.
  s.write({ one: null, 'file-1': 'changed' })
  const details = await saved(project)
  expect([details.fileCount, details.files]).toEqual([10, 1])
  expect((await store.verify()).problems).toEqual([])
})

test('skipped files do not count toward the limit', async () => {
  await using s = await scratch({ files: { a: 'x', b: 'y', '.gitignore': '*.tmp' } })
  mkdirSync(join(s.project, 'node_modules'))
  for (let i = 0; i < 10_000; i++) writeFileSync(join(s.project, 'node_modules', String(i)), '')
  for (let i = 0; i < 100; i++) writeFileSync(join(s.project, `${i}.tmp`), '')
  const { project } = await openProject(s, { limits: { maxFiles: 3 } })
  const details = await saved(project)
  expect([details.fileCount, details.skippedByReason]).toEqual([3, { ignored: 101 }])
})

test('the default limit is 200,000 files', () => {
  expect(sdk.DEFAULT_LIMITS).toMatchObject({ maxFileBytes: 10 * 1024 * 1024, maxFiles: 200_000 })
})

test('a missing folder, and a path that is no folder, are PROJECT_MISSING', async () => {
  await using s = await scratch({ files: { file: 'x' } })
  const store = await s.open()
  symlinkSync('nowhere', join(s.folder, 'dangling'))
  symlinkSync('loop', join(s.folder, 'loop'))
  const paths = ['none', 'none/deeper', 'project/file', 'project/file/x', 'dangling', 'loop']
  for (const path of [...paths, 'n'.repeat(300)])
    await expect(store.project(join(s.folder, path))).rejects.toMatchObject({
      code: 'PROJECT_MISSING',
    })
})

test('saving a project whose folder was removed fails without a checkpoint', async () => {
  await using s = await scratch({ files: { file: 'x' } })
  const { project } = await openProject(s)
  await project.save()
  rmSync(s.project, { recursive: true })
  await expect(project.save()).rejects.toMatchObject({ code: 'PROJECT_MISSING' })
  writeFileSync(s.project, 'a file')
  await expect(project.save()).rejects.toMatchObject({ code: 'PROJECT_MISSING' })
  rmSync(s.project)
  mkdirSync(join(s.folder, 'elsewhere'))
  symlinkSync('elsewhere', s.project)
  await expect(project.save()).rejects.toMatchObject({ code: 'PROJECT_MISSING' })
  expect((await project.list()).length).toBe(1)
})

test('an unreadable project folder is an error, not an empty project', async () => {
  await using s = await scratch({ files: { file: 'x' } })
  const code = await inChild(
    s,
    `
    await project.save()
    fs.chmodSync(scratch.project, 0)
    const code = await codeOf(project.save())
    fs.chmodSync(scratch.project, 0o755)
    return [code, (await project.list()).length]
    `,
    { asOrdinaryUser: true },
  )
  expect(code).toEqual(['PROJECT_MISSING', 1])
})

test('a save without changes returns the existing checkpoint', async () => {
  await using s = await scratch({ files: { a: 'x', 'sub/b': 'y' } })
  const { store, project } = await openProject(s)
  const { created, ...first } = await project.save({ reason: 'first' })
  expect(created).toBe(true)
  expect(await project.save({ reason: 'second' })).toEqual({ ...first, created: false })
  await store.close()
  const again = await openProject(s)
  expect(await again.project.save()).toEqual({ ...first, created: false })
  expect((await again.project.list()).length).toBe(1)
})
