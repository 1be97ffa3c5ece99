import { expect, test } from 'vitest'
import {
  bytePath,
  parseCheckpointId,
  parseProjectId,
  SavestateError,
} from '../../../src/model/index.js'
import {
  explainRestoreFailure,
  type RestoreOutcome,
} from '../../../src/engine/restore/explain-restore-failure.js'

const ID = 'bcdfghjklmnpqrstvw'
const project = { id: parseProjectId(ID), path: bytePath('/no-such-folder/project') }
const rewind = { kind: 'rewind', rewind: { target: parseCheckpointId(ID) } } as const

function refusal(code: string): Error {
  const message = `${code}: refused, open '/no-such-folder/project/a.txt'`
  return Object.assign(new Error(message), { code, syscall: 'open' })
}

function explain(error: unknown, outcome: RestoreOutcome, request: object = rewind) {
  const failed = { context: { home: '/' }, project, outcome, files: 7 }
  return explainRestoreFailure(error, { ...failed, request: request as typeof rewind })
}

test.each<[code: string, outcome: RestoreOutcome, hint: string]>([
  [
    'EACCES',
    { type: 'untouched' },
    `Nothing was changed. Check the permissions and the disk, then repeat it: savestate rewind ${ID}`,
  ],
  [
    'EPERM',
    { type: 'rolled-back', left: 0 },
    `Nothing was changed: everything that had been written was reverted. Check the permissions and the disk, then repeat it: savestate rewind ${ID}`,
  ],
  [
    'EROFS',
    { type: 'rolled-back', left: 0 },
    `Nothing was changed: everything that had been written was reverted. Check the permissions and the disk (the disk mounted at /no-such-folder/project), then repeat it: savestate rewind ${ID}`,
  ],
  [
    'ENOSPC',
    { type: 'rolled-back', left: 2 },
    `2 of 7 files could not be reverted; all others are as they were. Free some space (the disk mounted at /no-such-folder/project), then repeat it: savestate rewind ${ID}`,
  ],
  [
    'ENOSPC',
    { type: 'unfinished' },
    `Up to 7 files may have been changed, and this could not be reverted yet. The next savestate command in this folder finishes the rewind or reverts it. Free some space (the disk mounted at /no-such-folder/project), then repeat it: savestate rewind ${ID}`,
  ],
  [
    'EACCES',
    { type: 'unrecorded' },
    `All 7 files were restored, but the store could not record it. The next savestate command in this folder records it. Check the permissions and the disk, then repeat it: savestate rewind ${ID}`,
  ],
])('%s after %o says what was changed and what repeats it', (code, outcome, hint) => {
  expect(explain(refusal(code), outcome)).toMatchObject({
    code: code === 'ENOSPC' ? 'DISK_FULL' : 'FILE_FAILED',
    message: expect.stringContaining("open '/no-such-folder/project/a.txt'"),
    hint,
  })
})

test('an undo is repeated as an undo', () => {
  const error = explain(refusal('EACCES'), { type: 'untouched' }, { kind: 'undo' })
  expect(error).toMatchObject({ hint: expect.stringMatching(/repeat it: savestate undo$/) })
})

test('errors with hints and internal errors are returned unchanged', () => {
  const moved = new SavestateError('HEAD_MOVED', 'moved', { hint: 'Check it, then try again.' })
  expect(explain(moved, { type: 'rolled-back', left: 0 })).toBe(moved)
  expect(explain(moved, { type: 'unfinished' })).toMatchObject({
    code: 'HEAD_MOVED',
    hint: expect.stringMatching(/^Up to 7 files .* Check it, then try again\.$/),
  })
  const bug = new TypeError('x is not a function')
  expect(explain(bug, { type: 'untouched' })).toBe(bug)
})
