import { expect, test } from 'vitest'
import {
  bytePath,
  type FilesCheckpoint,
  NOT_READABLE,
  parseCheckpointId,
  parseProjectId,
  type RestorePlan,
  SavestateError,
} from '../../../src/model/index.js'
import {
  disturbedError,
  explainRestoreFailure,
  refuseConflicts,
  type RestoreOutcome,
} from '../../../src/engine/restore/restore-errors.js'

const ID = parseCheckpointId('bcdfghjklmnpqrstvw')
const REWIND = { kind: 'rewind', rewind: { target: ID } } as const
const UNDO = { kind: 'undo' } as const
const NOTHING: RestorePlan = { write: [], remove: [], keep: [], conflict: [] }
const SEVEN_FILES = {
  ...NOTHING,
  write: Array.from({ length: 7 }, () => ({ to: { type: 'file' } })),
} as unknown as RestorePlan
const PROJECT = { id: parseProjectId(ID), path: bytePath('/no-such-folder/project') }
const SAFETY = { id: ID } as FilesCheckpoint

function blockedBy(reason: string): RestorePlan {
  return { ...NOTHING, conflict: [{ path: bytePath('a'), reason }] }
}

function hintOf(work: () => void): unknown {
  try {
    work()
  } catch (error) {
    return error instanceof Error && 'hint' in error ? error.hint : error
  }
  return undefined
}

test('a conflict suggests --path only for a rewind: undo has no such option', () => {
  const pipe = blockedBy('not captured: a socket, pipe or device')
  expect(hintOf(() => refuseConflicts(pipe, REWIND))).toBe(
    'Move it away, or restore other paths with --path. --dry-run lists them all. Nothing has been changed.',
  )
  expect(hintOf(() => refuseConflicts(pipe, UNDO))).toBe(
    'Move it away. --dry-run lists them all. Nothing has been changed.',
  )
  expect(hintOf(() => refuseConflicts(blockedBy(NOT_READABLE), REWIND))).toBe(
    'Make it and its folder readable (chmod u+rX), move it away, or restore other paths with --path. --dry-run lists them all. Nothing has been changed.',
  )
  expect(hintOf(() => refuseConflicts(blockedBy(NOT_READABLE), UNDO))).toBe(
    'Make it and its folder readable (chmod u+rX), or move it away. --dry-run lists them all. Nothing has been changed.',
  )
})

test('a disturbed rewind suggests --path, a disturbed undo does not', () => {
  const path = bytePath('app.log')
  const plan = { ...NOTHING, remove: [{ path, from: { type: 'folder', mode: 0o755 } as const }] }
  const reverted = `Everything that had been written was reverted; the files from before are also in checkpoint ${ID}.`
  expect(disturbedError(plan, { safety: SAFETY, request: REWIND })).toMatchObject({
    message: 'Something keeps writing to app.log',
    hint: `${reverted} Stop the program that does, or restore other paths with --path, then repeat it: savestate rewind ${ID}`,
  })
  expect(disturbedError(plan, { safety: SAFETY, request: UNDO })).toMatchObject({
    hint: `${reverted} Stop the program that does, then repeat it: savestate undo`,
  })
})

function refusal(code: string): Error {
  const message = `${code}: refused, open '/no-such-folder/project/a.txt'`
  return Object.assign(new Error(message), { code, syscall: 'open' })
}

function explain(error: unknown, outcome: RestoreOutcome, request: object = REWIND) {
  const failed = { context: { home: '/' }, project: PROJECT, outcome, plan: SEVEN_FILES }
  return explainRestoreFailure(error, { ...failed, request: request as typeof REWIND })
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
