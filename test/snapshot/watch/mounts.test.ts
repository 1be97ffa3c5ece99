import { expect, test } from 'vitest'
import { bytePath } from '../../../src/model/index.js'
import { mountsIn, mountsOf } from '../../../src/snapshot/watch/mounts.js'

const line = (point: string, type: string, id = 1) =>
  `${id} 1 0:${id} / ${point} rw,relatime shared:1 - ${type} source rw`
const table = (...lines: string[]) => `${lines.join('\n')}\n`
const ROOT_LINE = line('/', 'ext4')
const project = bytePath('/home/me/project')

test.each([
  'nfs',
  'nfs4',
  'cifs',
  'smb3',
  'fuse',
  'fuse.sshfs',
  'fuseblk',
  '9p',
  'ceph',
  'virtiofs',
  'vboxsf',
])('a project on %s, or with it mounted inside, is not watchable', (type) => {
  for (const point of ['/home', '/home/me/project', '/home/me/project/data'])
    expect(mountsIn(table(ROOT_LINE, line(point, type)), project).remote).toBe(type)
})

test('mounts elsewhere do not matter', () => {
  const alone = mountsIn(table(ROOT_LINE), project)
  expect(alone.remote).toBeUndefined()
  for (const point of ['/home/me/project-2', '/mnt', '/home/me/projec', '/home/you'])
    expect(mountsIn(table(ROOT_LINE, line(point, 'nfs4')), project)).toEqual(alone)
})

test('the nearest mount above decides, and the last of two at one path', () => {
  const under = table(line('/', 'nfs4'), line('/home', 'ext4', 2))
  expect(mountsIn(under, project).remote).toBeUndefined()
  const over = table(ROOT_LINE, line('/home', 'nfs4', 2), line('/home', 'xfs', 3))
  expect(mountsIn(over, project).remote).toBeUndefined()
})

test('a mount inside or above, or a new order, changes the key; one elsewhere does not', () => {
  const key = (...lines: string[]) => mountsIn(table(ROOT_LINE, ...lines), project).key
  expect(key(line('/home/me/project/a b'.replace(' ', '\\040'), 'tmpfs'))).not.toBe(key())
  expect(key(line('/home/me', 'tmpfs'))).not.toBe(key())
  expect(key(line('/home/me/project', 'tmpfs', 2))).not.toBe(
    key(line('/home/me/project', 'tmpfs', 3)),
  )
  expect(key(line('/srv', 'tmpfs'))).toBe(key())
})

test('paths with blanks and backslashes are decoded', () => {
  const odd = bytePath('/home/a b\\c')
  expect(mountsIn(table(ROOT_LINE, line('/home/a\\040b\\134c/in', '9p')), odd).remote).toBe('9p')
})

test('the folder / contains every mount', () => {
  const all = mountsIn(table(ROOT_LINE, line('/mnt', 'tmpfs')), bytePath('/'))
  expect(all.key.split('\n')).toHaveLength(2)
})

test('the table of this machine can be read', () => {
  expect(mountsOf(bytePath(process.cwd())).key).not.toBe(process.platform === 'linux' ? '' : '-')
})
