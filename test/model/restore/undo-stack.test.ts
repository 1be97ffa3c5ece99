import { expect, test } from 'vitest'
import type { Operation, OperationKind } from '../../../src/model/checkpoint.js'
import { parseCheckpointId, parseOperationId, parseProjectId } from '../../../src/model/ids.js'
import { undoStack } from '../../../src/model/restore/undo-stack.js'

const LETTERS = 'bcdfghjklmnpqrstvwxz'
const idOf = (n: number) => LETTERS.charAt(n).repeat(18)

/** `history('rewind', 'undo')`: one operation each, in that order. */
function history(...kinds: readonly OperationKind[]): Operation[] {
  return kinds.map((kind, n) => ({
    id: parseOperationId(idOf(n)),
    project: parseProjectId(idOf(0)),
    kind,
    atMs: n,
    safety: parseCheckpointId(idOf(n)),
    result: parseCheckpointId(idOf(n)),
    of: null,
  }))
}

/** The indexes in the history of the operations that undo and redo would act on. */
function places(kinds: readonly OperationKind[]) {
  const all = history(...kinds)
  const { undo, redo } = undoStack(all)
  const at = (operation: Operation | undefined) =>
    operation === undefined ? undefined : all.indexOf(operation)
  return { undo: at(undo), redo: at(redo) }
}

const CASES: readonly (readonly [
  readonly OperationKind[],
  number | undefined,
  number | undefined,
])[] = [
  [[], undefined, undefined],
  [['rewind'], 0, undefined],
  [['rewind', 'undo'], undefined, 0],
  [['rewind', 'undo', 'redo'], 0, undefined],
  [['rewind', 'rewind'], 1, undefined],
  [['rewind', 'rewind', 'undo'], 0, 1],
  [['rewind', 'rewind', 'undo', 'undo'], undefined, 0],
  [['rewind', 'rewind', 'undo', 'undo', 'redo'], 0, 1],
  [['rewind', 'rewind', 'undo', 'undo', 'redo', 'redo'], 1, undefined],
  // A new rewind discards what could be redone.
  [['rewind', 'rewind', 'undo', 'rewind'], 3, undefined],
  [['rewind', 'rewind', 'undo', 'rewind', 'undo'], 0, 3],
  // Undo and redo may alternate forever.
  [['rewind', 'undo', 'redo', 'undo', 'redo', 'undo'], undefined, 0],
]

test.each(CASES)('after %j, undo acts on %s and redo on %s', (kinds, undo, redo) => {
  expect(places(kinds)).toEqual({ undo, redo })
})
