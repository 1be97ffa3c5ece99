import { expect, test } from 'vitest'
import {
  bytePath,
  type FilesCheckpoint,
  NOT_READABLE,
  parseCheckpointId,
  type RestorePlan,
} from '../../../src/model/index.js'
import { disturbedError, refuseConflicts } from '../../../src/engine/restore/restore-errors.js'

const ID = parseCheckpointId('bcdfghjklmnpqrstvw')
const REWIND = { kind: 'rewind', rewind: { target: ID } } as const
const UNDO = { kind: 'undo' } as const
const NOTHING: RestorePlan = { write: [], remove: [], keep: [], conflict: [] }
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
