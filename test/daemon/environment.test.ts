import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { expect, test, vi } from 'vitest'
import { bypassesDaemon, environmentFingerprint } from '../../src/daemon/environment.js'

test.each([
  ['getuid', 4242],
  ['getegid', 4242],
  ['getgroups', [4242]],
] as const)('a caller with other rights has another fingerprint: %s', (name, value) => {
  const own = environmentFingerprint({})
  expect(environmentFingerprint({})).toBe(own)
  const spy = vi.spyOn(process, name).mockReturnValue(value as never)
  expect(environmentFingerprint({})).not.toBe(own)
  spy.mockRestore()
})

test('a caller with a different root has a different fingerprint', () => {
  const own = environmentFingerprint({})
  const { statSync } = fs
  const inChroot = (...args: Parameters<typeof statSync>) =>
    args[0] === '/'
      ? Object.assign(statSync('/', { bigint: true }), { ino: 42n })
      : statSync(...args)
  Object.assign(fs, { statSync: inChroot })
  syncBuiltinESMExports()
  try {
    expect(environmentFingerprint({})).not.toBe(own)
  } finally {
    Object.assign(fs, { statSync })
    syncBuiltinESMExports()
  }
})

test('a caller with a variable that changes what a command does bypasses the daemon', () => {
  const variables = [
    'HOME',
    'SAVESTATE_HOME',
    'SAVESTATE_PAGER',
    // For programs of the SDK: no command uses them.
    'SAVESTATE_REMOTE',
    'SAVESTATE_REMOTE_KEY',
    'SAVESTATE_REMOTE_KEY_FILE',
    'SAVESTATE_KEY',
    'SAVESTATE_KEY_FILE',
    'SAVESTATE_NO_DAEMON',
    'SAVESTATE_FAILPOINT',
  ]
  expect(variables.filter((name) => bypassesDaemon({ [name]: 'x' }))).toEqual([
    'SAVESTATE_KEY',
    'SAVESTATE_KEY_FILE',
    'SAVESTATE_NO_DAEMON',
    'SAVESTATE_FAILPOINT',
  ])
})
