import { expect, test } from 'vitest'
import { explainSystemError } from '../../src/model/errors.js'

const fault = (code: string) =>
  Object.assign(new Error(`${code}: as the system says it, open 'x'`), { code, syscall: 'open' })

test.each([
  ['EACCES', 'FILE_FAILED', 'Check the permissions and the disk, then run the command again.'],
  [
    'EBUSY',
    'FILE_FAILED',
    'It is in use, or a mount point. Unmount it, then run the command again.',
  ],
  [
    'EMFILE',
    'FILE_FAILED',
    'Raise the limit of open files (ulimit -n), then run the command again.',
  ],
  ['ENOSPC', 'DISK_FULL', 'Free some space, then run the command again.'],
])('%s is reported with advice', (code, told, hint) => {
  const cause = fault(code)
  expect(explainSystemError(cause)).toMatchObject({ code: told, hint, cause })
})
