// docs/guide/store.md#collection: objects without a ref are removed, so every checkpoint must have its ref, whatever happened to the refs.
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { scratch as cliScratch } from '../../cli/program.js'
import { saveMany } from '../../engine/prune/prune-helpers.js'
import { type Scratch, scratch, scratchWithThreads, sdk } from '../../support/scratch.js'

const gitDirOf = (s: Scratch) => join(s.home, 'objects.git')

test('nothing is removed while a checkpoint lacks its ref, and a repair restores the ref', async () => {
  await using s = await scratch()
  const store = await s.open()
  const project = await store.project(s.project)
  await saveMany(project, s, { count: 3 })
  expect(await store.prune({})).toMatchObject({ errors: [] })
  const packed = join(gitDirOf(s), 'packed-refs')
  expect(readFileSync(packed, 'utf8')).toMatch(/refs\/savestate\/[^]*refs\/savestate\//)

  // The remains of a file after a power failure.
  writeFileSync(packed, '')
  await expect(store.prune({})).rejects.toMatchObject({
    code: 'STORE_DAMAGED',
    message: '3 checkpoints have no refs that point to them',
  })
  await store.close()
  expect((await sdk.repairStore({ home: s.home })).problems).toEqual([])
  const again = await s.open()
  expect(await again.prune({})).toMatchObject({ errors: [] })
  const checkpoints = await (await again.project(s.project)).list()
  for (const { id } of checkpoints) await (await again.project(s.project)).rewind(id)
  expect(await again.verify()).toMatchObject({ problems: [] })
})

test.each([
  ['a truncated line', (text: string) => text.slice(0, -20)],
  ['zeros at the end', (text: string) => `${text}${'\0'.repeat(100)}`],
  ['a line without a ref', (text: string) => `${text}nothing\n`],
])('a prune refuses packed refs with %s, and removes nothing', async (_, damage) => {
  await using s = await scratch()
  const store = await s.open()
  const project = await store.project(s.project)
  const ids = await saveMany(project, s, { count: 3 })
  await store.prune({})
  await saveMany(project, s, { count: 1 })
  const packed = join(gitDirOf(s), 'packed-refs')
  writeFileSync(packed, damage(readFileSync(packed, 'utf8')))
  const files = () => readdirSync(gitDirOf(s), { recursive: true, encoding: 'utf8' }).toSorted()
  const [before, listed] = [files(), await project.list()]

  // Three of the four are due.
  await expect(store.prune({ maxCheckpoints: 1 })).rejects.toMatchObject({
    code: 'STORE_DAMAGED',
    message: 'The file packed-refs of the store is malformed',
  })
  expect(files()).toEqual(before)
  expect(await project.list()).toEqual(listed)
  await store.close()
  expect((await sdk.repairStore({ home: s.home })).problems).toEqual([])
  const again = await s.open()
  expect(await again.prune({})).toMatchObject({ errors: [] })
  for (const id of ids) await (await again.project(s.project)).rewind(id)
  expect(await again.verify()).toMatchObject({ problems: [] })
})

test.each(['bbbbbbbbbbbbbbbbbb', '.DS_Store'])(
  'a file %s that is not a ref does not stop a prune',
  async (name) => {
    await using s = await scratch()
    const store = await s.open()
    const ids = await saveMany(await store.project(s.project), s, { count: 3 })
    const refs = join(gitDirOf(s), 'refs/savestate')
    const stray = join(refs, String(readdirSync(refs)[0]), name)
    writeFileSync(stray, '')
    expect(await store.prune({ maxCheckpoints: 2 })).toMatchObject({
      errors: [],
      deletedCheckpoints: 1,
    })
    const project = await store.project(s.project)
    await project.rewind(String(ids.at(-1)))
    rmSync(stray)
  },
)

test('refs are packed, and a project without refs leaves no folder', async () => {
  await using s = await scratch()
  const store = await s.open()
  const project = await store.project(s.project)
  await saveMany(project, s, { count: 3 })
  await store.prune({})
  expect(readdirSync(join(gitDirOf(s), 'refs/savestate'))).toEqual([])
  await saveMany(project, s, { count: 1 })
  expect(await store.verify()).toMatchObject({ problems: [] })
  expect(s.fsck()).toBe('')
})

test('a forget during a collection in another process loses nothing', () => {
  using s = cliScratch({ 'a.txt': 'a\n', 'secret.txt': 's\n' })
  const git = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim()
  const held = join(s.folder, 'held')
  mkdirSync(held)
  // The collection reads the objects of all refs, and waits there.
  const wait = `if [ -e '${s.folder}/packed' ] && [ ! -e '${s.folder}/looked' ]; then
    touch '${s.folder}/looked'; while [ ! -e '${s.folder}/go' ]; do sleep 0.05; done; fi`
  const script = `#!/bin/sh
case " $* " in *' pack-refs '*) touch '${s.folder}/packed' ;; *' rev-list '*) ${wait} ;; esac
exec '${git}' "$@"
`
  writeFileSync(join(held, 'git'), script)
  chmodSync(join(held, 'git'), 0o755)
  for (const n of [1, 2, 3]) {
    s.write({ 'a.txt': `a ${n}\n`, 'secret.txt': `secret ${n}\n` })
    s.run(['save'])
  }
  const { stdout } = s.shell(`
    PATH='${held}':"$PATH" savestate prune -y > ../pruned 2>&1 &
    while [ ! -e ../looked ]; do sleep 0.05; done
    savestate forget secret.txt -y > ../forgot 2>&1; echo "forget $?"
    touch ../go; wait $!; echo "prune $?"`)
  expect(stdout).toBe('forget 0\nprune 0\n')
  expect(s.run(['verify'])).toMatchObject({ code: 0 })
  s.run(['rewind', '3', '--yes'])
  expect(readFileSync(join(s.project, 'a.txt'), 'utf8')).toBe('a 1\n')
})

test('a fork during a save of the same folder takes nothing from it', async () => {
  await using s = await scratch()
  const store = await s.open()
  const project = await store.project(s.project)
  for (let i = 0; i < 300; i += 1) s.write({ [`f${i}`]: `${i}` })
  const session = await store.session('base', { project })
  const { id } = await session.save({ state: { n: 1 }, files: true })
  for (let round = 0; round < 8; round += 1) {
    s.write({ f1: `work ${round}` })
    const [saved] = await Promise.all([
      project.save(),
      new Promise((resolve) => setTimeout(resolve, round)).then(() =>
        store.fork(id, { session: `fork ${round}` }),
      ),
    ])
    expect(saved.created).toBe(true)
    s.write({ f1: 'overwritten' })
    await project.rewind(saved.id)
    expect(readFileSync(join(s.project, 'f1'), 'utf8')).toBe(`work ${round}`)
  }
  expect(await store.verify()).toMatchObject({ problems: [] })
})

test.each([
  ['a thread', scratchWithThreads],
  ['none', scratch],
])('with %s, a save that cannot start git says so, and that alone', async (_, newScratch) => {
  await using s = await newScratch()
  const first = await s.open()
  s.write({ 'a.txt': '1' })
  await (await first.project(s.project)).save()
  await first.close()
  // Too much for the log, so that git counts while the rest is flushed.
  for (let i = 0; i < 60; i += 1) s.write({ [`noise${i}`]: randomBytes(30_000) })
  s.write({ 'a.txt': '2\n3\n1\n' })
  const { PATH } = process.env
  process.env['PATH'] = join(s.folder, 'nowhere')
  try {
    const store = await s.open({ durability: 'fsync' })
    const project = await store.project(s.project)
    await expect(project.save()).rejects.toMatchObject({ code: 'GIT_MISSING' })
    await store.close()
  } finally {
    process.env['PATH'] = PATH
  }
  const project = await (await s.open()).project(s.project)
  expect(await project.save()).toMatchObject({ created: true })
})

test('a prune removes no ref that a user added to the repository', async () => {
  await using s = await scratch()
  const store = await s.open()
  await saveMany(await store.project(s.project), s, { count: 2 })
  const git = (...args: string[]) =>
    execFileSync('git', [`--git-dir=${gitDirOf(s)}`, ...args], { encoding: 'utf8' }).trim()
  const tree = git('for-each-ref', '--count=1', '--format=%(tree)')
  const who = ['-c', 'user.name=A', '-c', 'user.email=a@example.com']
  git('update-ref', 'refs/heads/größe', git(...who, 'commit-tree', '-m', 'mine', tree))
  git('pack-refs', '--all')
  await store.prune({ maxCheckpoints: 1 })
  expect(git('for-each-ref', '--format=%(refname)', 'refs/heads')).toBe('refs/heads/größe')
  git('update-ref', '-d', 'refs/heads/größe')
})
