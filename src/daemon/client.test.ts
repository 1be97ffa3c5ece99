import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { expect, test, vi } from 'vitest'
import { settingOf } from './client.js'

test.each([
  ['getuid', 4242],
  ['getegid', 4242],
  ['getgroups', [4242]],
] as const)('who may read other files than the daemon has another setting: %s', (name, value) => {
  const own = settingOf({})
  expect(settingOf({})).toBe(own)
  const spy = vi.spyOn(process, name).mockReturnValue(value as never)
  expect(settingOf({})).not.toBe(own)
  spy.mockRestore()
})

test('so has who has another root: there a path can mean something else', () => {
  const own = settingOf({})
  const { statSync } = fs
  const inChroot = (...args: Parameters<typeof statSync>) =>
    args[0] === '/'
      ? Object.assign(statSync('/', { bigint: true }), { ino: 42n })
      : statSync(...args)
  Object.assign(fs, { statSync: inChroot })
  syncBuiltinESMExports()
  try {
    expect(settingOf({})).not.toBe(own)
  } finally {
    Object.assign(fs, { statSync })
    syncBuiltinESMExports()
  }
})

test.each(['XDG_CONFIG_HOME', 'GIT_CONFIG_GLOBAL', 'GIT_CONFIG_KEY_0', 'GIT_ATTR_SOURCE'])(
  'and who has another configuration of git, by %s',
  (name) => {
    expect(settingOf({ [name]: '/elsewhere' })).not.toBe(settingOf({}))
    expect(settingOf({ [name]: 'a', LANG: 'b' })).toBe(settingOf({ [name]: 'a', LANG: 'c' }))
  },
)
