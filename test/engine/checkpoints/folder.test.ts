// `project.folder`: one folder of a checkpoint.
import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { DatabaseSync } from '../../support/own-sqlite.js'
import { scratch } from '../../support/scratch.js'

test('a folder is listed with types, sizes and modes, folders first, and with what was skipped', async () => {
  await using s = await scratch({
    files: {
      'b.txt': 'four',
      'a.sh': { content: '#!', mode: 0o755 },
      link: { link: 'b.txt' },
      'z/inner.txt': 'x',
      'z/deeper/y.txt': 'yy',
      'k/secret.txt': { content: 'k', mode: 0o600 },
      '.gitignore': 'ignored.log\n',
      'ignored.log': 'not saved',
      'z/big.bin': Buffer.alloc(11 << 20, 1),
      '"\\377"': 'any byte',
    },
  })
  const project = await (await s.open()).project(s.project)
  const { id } = await project.save()
  s.write({ 'b.txt': 'later', z: null })
  const top = await project.folder(id, '')
  expect([top.checkpoint, top.path]).toEqual([id, ''])
  expect(top.entries).toEqual([
    { name: 'k', type: 'folder', sizeBytes: null, mode: '0755' },
    { name: 'z', type: 'folder', sizeBytes: null, mode: '0755' },
    { name: '.gitignore', type: 'file', sizeBytes: 12, mode: '0644' },
    { name: 'a.sh', type: 'file', sizeBytes: 2, mode: '0755' },
    { name: 'b.txt', type: 'file', sizeBytes: 4, mode: '0644' },
    { name: 'link', type: 'link', sizeBytes: 5, mode: null },
    { name: '"\\377"', type: 'file', sizeBytes: 8, mode: '0644' },
  ])
  expect(await project.folder(id, 'z')).toEqual({
    checkpoint: id,
    path: 'z',
    entries: [
      { name: 'deeper', type: 'folder', sizeBytes: null, mode: '0755' },
      { name: 'inner.txt', type: 'file', sizeBytes: 1, mode: '0644' },
    ],
    skipped: [{ name: 'big.bin', reason: 'too-large', sizeBytes: 11 << 20 }],
  })
  const { skippedPaths } = await project.show(id)
  expect(top.skipped.map(({ name }) => name)).toEqual(
    skippedPaths.map(({ path }) => path).filter((path) => !path.includes('/')),
  )
  expect((await project.folder(id, 'k/')).entries).toMatchObject([{ mode: '0600' }])
})

test('a file, a missing path and a path outside of the project are refused', async () => {
  await using s = await scratch({ files: { 'a/b.txt': 'x' } })
  const project = await (await s.open()).project(s.project)
  const { id } = await project.save()
  for (const path of ['a/b.txt', 'a/c', '../a', '/a'])
    await expect(project.folder(id, path)).rejects.toMatchObject({ code: 'BAD_INPUT' })
})

test('a lost file has no size, and a lost folder is reported as damage', async () => {
  await using s = await scratch({ files: { 'a/b/c.txt': 'c', 'top.txt': 'top' } })
  s.allowDamage()
  const project = await (await s.open()).project(s.project)
  const { id } = await project.save()
  const gitDir = join(s.home, 'objects.git')
  const git = (...args: readonly string[]) =>
    execFileSync('git', [`--git-dir=${gitDir}`, ...args], { encoding: 'utf8' }).trim()
  const commit = git('for-each-ref', '--format=%(objectname)')
  for (const path of ['a/b', 'top.txt']) {
    const object = git('rev-parse', `${commit}:files/${path}`)
    rmSync(join(gitDir, 'objects', object.slice(0, 2), object.slice(2)))
  }
  expect((await project.folder(id, '')).entries).toMatchObject([
    { name: 'a' },
    { name: 'top.txt', sizeBytes: null },
  ])
  await expect(project.folder(id, 'top.txt')).rejects.toMatchObject({ code: 'BAD_INPUT' })
  for (const path of ['a/b', 'a/b/c.txt', 'missing'])
    await expect(project.folder(id, path)).rejects.toMatchObject({ code: 'STORE_DAMAGED' })

  const ledger = new DatabaseSync(join(s.home, 'ledger.db'))
  const lost = { paths: [], fileCount: 2, isUnknown: true, state: null, isStateLost: false }
  ledger.prepare('UPDATE checkpoints SET damage = ? WHERE id = ?').run(JSON.stringify(lost), id)
  ledger.close()
  await expect(project.folder(id, 'a/b')).rejects.toMatchObject({ code: 'CHECKPOINT_DAMAGED' })
  expect((await project.folder(id, 'a')).entries).toMatchObject([{ name: 'b' }])
})
