import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { originHash } from '../../../src/snapshot/checkout/origin.js'
import { git, scratchFolders } from '../../support/scratch-git.js'

const newFolder = scratchFolders()

function clone(url: string | undefined): string {
  const folder = newFolder()
  git(folder, ['init', '-q'])
  if (url !== undefined) git(folder, ['remote', 'add', 'origin', url])
  return folder
}

test('clones over any protocol and with any user have one origin', () => {
  const hash = originHash(clone('https://example.org/team/app.git'))
  expect(hash).toMatch(/^[0-9a-f]{64}$/)
  const same = [
    'https://someone:secret@EXAMPLE.org/team/app',
    'git@example.org:team/app.git',
    'ssh://git@example.org:22/team/app.git/',
  ]
  expect(same.map((url) => originHash(clone(url)))).toEqual(same.map(() => hash))
  const others = ['https://example.org/team/other', 'https://example.com/team/app']
  for (const url of others) expect(originHash(clone(url))).not.toBe(hash)
})

test('a folder of a repository is another project than the repository', () => {
  const folders = [clone('https://example.org/a'), clone('git@example.org:a')]
  for (const folder of folders) mkdirSync(join(folder, 'packages/b'), { recursive: true })
  const [first, second] = folders.map((folder) => originHash(join(folder, 'packages/b')))
  expect(first).toBe(second)
  expect(first).not.toBe(originHash(folders[0] ?? ''))
})

test('the remote of another name does not count, and without one there is no origin', () => {
  const folder = clone(undefined)
  git(folder, ['remote', 'add', 'upstream', 'https://example.org/a'])
  expect(originHash(folder)).toBeUndefined()
  expect(originHash(newFolder())).toBeUndefined()
})

test('the last url of the section counts, as in git', () => {
  const folder = clone('https://example.org/old')
  const config = join(folder, '.git/config')
  writeFileSync(
    config,
    '[remote "origin"]\n\turl = https://example.org/old\n\turl = "https://example.org/new"\n[branch "x"]\n\turl = https://example.org/no\n',
  )
  expect(originHash(folder)).toBe(originHash(clone('https://example.org/new')))
})
