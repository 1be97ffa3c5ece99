import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { bytePath } from '../../../src/model/index.js'
import {
  isUnsafeFolder,
  refuseUnsafeFolder,
} from '../../../src/snapshot/folders/refused-folders.js'
import { isSystemFolder } from '../../../src/snapshot/folders/refused-folders.js'

test('a folder that must not become a project is recognized by identity, whatever path leads to it', () => {
  const top = realpathSync(mkdtempSync(join(tmpdir(), 'savestate-guard-')))
  const home = join(top, 'store')
  for (const folder of ['store/objects', 'project', 'other'])
    mkdirSync(join(top, folder), { recursive: true })
  // Like a second mount: the same folder at another path.
  const elsewhere = (path: string) => `${top}/..${'/..'.repeat(top.split('/').length - 2)}${path}`
  const isUnsafe = (path: string) => isUnsafeFolder(bytePath(path), bytePath(home))

  const unsafe = ['/', '/tmp', realpathSync(homedir()), realpathSync(tmpdir()), home]
  for (const path of [...unsafe, join(home, 'objects')])
    expect([path, isUnsafe(path), isUnsafe(elsewhere(path))]).toEqual([path, true, true])
  for (const path of ['project', 'other'].map((name) => join(top, name)))
    expect([path, isUnsafe(path), isUnsafe(elsewhere(path))]).toEqual([path, false, false])
  rmSync(top, { recursive: true })
})

test('system folders are refused, but not the folders below them where users work', () => {
  const none = () => false
  const system = [
    '/etc',
    '/etc/nginx',
    '/usr',
    '/usr/lib',
    '/usr/lib/node_modules/x',
    '/var',
    '/dev',
  ]
  expect(system.filter((path) => !isSystemFolder(bytePath(path), none))).toEqual([])
  const allowed =
    '/usr/local/src /usr/local/src/x /usr/src /usr/src/app /usr/app /var/www /var/lib/jenkins/workspace/x /srv /opt /opt/x ' +
    '/tmp/x /var/tmp/x /dev/shm/x /run/media/me/disk /home/me/etc /etcetera /library'
  expect(allowed.split(' ').filter((path) => isSystemFolder(bytePath(path), none))).toEqual([])
})

test('a system folder that is marked as a project is one, with everything below it', () => {
  const isMarked = (folder: string) => folder === '/etc'
  expect(
    ['/etc', '/etc/nginx', '/usr/lib'].map((path) => isSystemFolder(bytePath(path), isMarked)),
  ).toEqual([false, false, true])
})

test('the refusal of a system folder says how to mark a project', () => {
  expect(() => refuseUnsafeFolder(bytePath('/usr/lib'), bytePath('/nowhere'))).toThrow(
    expect.objectContaining({
      code: 'PROJECT_REFUSED',
      message: '/usr/lib is a system folder; it is never captured',
      hint: expect.stringContaining('create a .savestateignore file in it'),
    }),
  )
})
