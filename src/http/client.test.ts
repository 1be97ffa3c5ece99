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
