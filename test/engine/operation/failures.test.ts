import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { bytePath, SavestateError } from '../../../src/model/index.js'
import { explainFailure } from '../../../src/engine/operation/failures.js'

const full = Object.assign(new Error('ENOSPC: no space left on device, write'), {
  code: 'ENOSPC',
  syscall: 'write',
})

test('a DISK_FULL error reports the free space on the disk', async () => {
  const home = mkdtempSync(join(tmpdir(), 'savestate-full-'))
  const one = await explainFailure(full, { home, path: bytePath(home) })
  expect(one).toMatchObject({
    code: 'DISK_FULL',
    hint: expect.stringMatching(
      /^Free some space, then run the command again\.\nFree now: \d+ MB on the disk \(\/.*\)\.$/,
    ),
  })
  // Another disk, if there is one.
  const other = ['/dev/shm', '/proc', '/'].find(
    (path) => existsSync(path) && statSync(path).dev !== statSync(home).dev,
  )
  const two = await explainFailure(full, { home, path: bytePath(other ?? '/nowhere') })
  expect(two).toMatchObject({
    hint: expect.stringContaining(`MB on the disk of the store (${home})`),
  })
  rmSync(home, { recursive: true })
})

test('other errors are returned unchanged', async () => {
  const error = new SavestateError('BAD_INPUT', 'x')
  expect(await explainFailure(error, { home: '/' })).toBe(error)
  const bug = new TypeError('bug')
  expect(await explainFailure(bug, { home: '/' })).toBe(bug)
})
