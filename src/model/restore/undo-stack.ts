// Which rewind an undo reverts and which a redo repeats. Pure, from the history alone.
import type { Operation } from '../checkpoint.js'

export type UndoStack = {
  readonly undo: Operation | undefined
  readonly redo: Operation | undefined
}

/** `history` is oldest first. A new rewind discards what could be redone. */
export function undoStack(history: readonly Operation[]): UndoStack {
  const done: Operation[] = []
  let undone: Operation[] = []
  for (const operation of history) {
    if (operation.kind === 'rewind') {
      done.push(operation)
      undone = []
    } else {
      const [source, target] = operation.kind === 'undo' ? [done, undone] : [undone, done]
      const moved = source.pop()
      if (moved !== undefined) target.push(moved)
    }
  }
  return { undo: done.at(-1), redo: undone.at(-1) }
}
