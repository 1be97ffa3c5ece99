// `project.folder`: one folder of a checkpoint.
import { expect, test } from 'vitest'
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
