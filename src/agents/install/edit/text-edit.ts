// The undo of an edited text. As long as a configuration has not changed since an install, an uninstall restores it to the
// byte.
import { createHash } from 'node:crypto'

/** A hash of the edited text, and what to replace in it, in order. */
export type Undo = {
  readonly mark: string
  readonly steps: readonly {
    readonly offset: number
    readonly length: number
    readonly was: string
  }[]
}

/** Matches no text. */
export const NO_UNDO: Undo = { mark: '', steps: [] }

export function recordUndo(before: string, after: string): Undo {
  let start = 0
  while (start < before.length && before[start] === after[start]) start += 1
  const most = Math.min(before.length, after.length) - start
  let same = 0
  while (same < most && before.at(-1 - same) === after.at(-1 - same)) same += 1
  const was = before.slice(start, before.length - same)
  return {
    mark: markOf(after),
    steps: [{ offset: start, length: after.length - same - start, was }],
  }
}

/** Undefined if there is no undo, or if the text has changed since. */
export function undoEdits(text: string, undo: Undo | undefined): string | undefined {
  if (undo === undefined || markOf(text) !== undo.mark) return undefined
  return undo.steps.reduce(
    (now, { offset, length, was }) => now.slice(0, offset) + was + now.slice(offset + length),
    text,
  )
}

function markOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/** The line end of the first line. */
export function detectLineEnd(text: string): string {
  return /^[^\n]*\r\n/.test(text) ? '\r\n' : '\n'
}
