// Which rewind an undo takes back and which a redo does again. Pure, from the history alone.
import type { Operation } from '../checkpoint.js'

export type UndoStack = {
  readonly undo: Operation | undefined
  readonly redo: Operation | undefined
}

/** `history` is oldest first. A new rewind ends the chance to redo what was undone before it. */
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
