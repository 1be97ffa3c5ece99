import { expect, test } from 'vitest'
import { explainSystemError } from './errors.js'

const fault = (code: string) =>
  Object.assign(new Error(`${code}: as the system says it, open 'x'`), { code, syscall: 'open' })

test.each([
  ['EACCES', 'FILE_FAILED', 'Check the permissions and the disk, then run the command again.'],
  [
    'EBUSY',
    'FILE_FAILED',
    'Something is mounted there, or in use. Unmount it, then run the command again.',
  ],
  [
    'EMFILE',
    'FILE_FAILED',
    'Let more files be open at once (ulimit -n), then run the command again.',
  ],
  ['ENOSPC', 'DISK_FULL', 'Free some space, then run the command again.'],
])('%s is told with what helps', (code, told, hint) => {
  const cause = fault(code)
  expect(explainSystemError(cause)).toMatchObject({ code: told, hint, cause })
})
