// Thousands of files at once: hash threads answer while the scan is still running.
import { expect, test } from 'vitest'
import { openProject } from './capture-helpers.js'
import { type FileSpec, scratchWithThreads as scratch } from '../../support/scratch.js'

// Assembled here, so that no secret scanner flags this file.
const KEY = ['-----BEGIN', 'PRIVATE KEY-----\nMIIEvQIBADANBgkq\n-----END PRIVATE KEY-----\n'].join(
  ' ',
)
// Enough files for hash threads, with several batches each.
const COUNT = 1200

function files(content: string, folders: number): Record<string, FileSpec> {
  const names = Array.from({ length: COUNT }, (_, i) => `folder-${i % folders}/file-${i}`)
  return Object.fromEntries(names.map((name) => [name, `${content} ${name}`]))
}

test.each([1, 300])(
  'every save contains all of thousands of files in %i folders that changed at once',
  async (folders) => {
    await using s = await scratch({ files: files('one', folders) })
    const { project } = await openProject(s)
    const ids = [(await project.save()).id]
    const seen = [s.snapshotOf()]
    for (const content of ['two', 'six']) {
      s.write(files(content, folders))
      const saved = await project.save()
      expect(saved).toMatchObject({ created: true, files: COUNT })
      ids.push(saved.id)
      seen.push(s.snapshotOf())
    }
    await project.rewind(ids[1] ?? '')
    expect(s.snapshotOf()).toEqual(seen[1])
  },
)

test('secrets among thousands of files in one folder are skipped at any position', async () => {
  await using s = await scratch({ files: files('one', 1) })
  const secrets = Array.from({ length: 25 }, (_, i) => `folder-0/file-${i * 48}`)
  s.write(Object.fromEntries(secrets.map((name) => [name, KEY])))
  const { project } = await openProject(s)
  const first = await project.save()
  expect(first).toMatchObject({ created: true, files: COUNT - secrets.length })
  expect(first.skipped).toBe(secrets.length)
  s.write(files('two', 1))
  s.write(Object.fromEntries(secrets.map((name) => [name, KEY])))
  const second = await project.save()
  expect(second).toMatchObject({ created: true, files: COUNT - secrets.length })
  expect(second.skipped).toBe(secrets.length)
})
