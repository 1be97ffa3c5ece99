import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { bytePath } from '../model/index.js'
import { isUnsafeFolder } from './guard.js'

test('what must not become a project is known by what it is, whatever path leads to it', () => {
  const top = realpathSync(mkdtempSync(join(tmpdir(), 'savestate-guard-')))
  const home = join(top, 'store')
  for (const folder of ['store/objects', 'project', 'other'])
    mkdirSync(join(top, folder), { recursive: true })
  // As a second mount of a folder would have it: the same folder by another path.
  const elsewhere = (path: string) => `${top}/..${'/..'.repeat(top.split('/').length - 2)}${path}`
  const isUnsafe = (path: string) => isUnsafeFolder(bytePath(path), bytePath(home))

  const unsafe = ['/', '/tmp', realpathSync(homedir()), realpathSync(tmpdir()), home]
  for (const path of [...unsafe, join(home, 'objects')])
    expect([path, isUnsafe(path), isUnsafe(elsewhere(path))]).toEqual([path, true, true])
  for (const path of ['project', 'other'].map((name) => join(top, name)))
    expect([path, isUnsafe(path), isUnsafe(elsewhere(path))]).toEqual([path, false, false])
  rmSync(top, { recursive: true })
})
