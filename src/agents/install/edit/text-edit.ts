// Edits of a text as data, and their undo. As long as a configuration has not changed since an install, an uninstall restores
// it to the byte.
import { createHash } from 'node:crypto'

export type Edit = { readonly offset: number; readonly removed: string; readonly inserted: string }

/** A hash of the edited text, and the edits to undo, last first. */
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

/** A text with the edits that led to it. */
export type Edited = { readonly text: string; readonly edits: readonly Edit[] }

export function startEdit(text: string): Edited {
  return { text, edits: [] }
}

export function applyEdit({ text, edits }: Edited, edit: Edit): Edited {
  const { offset, removed, inserted } = edit
  const after = text.slice(0, offset) + inserted + text.slice(offset + removed.length)
  return { text: after, edits: [...edits, edit] }
}

export function recordUndo({ text, edits }: Edited): Undo {
  const steps = edits.map(({ offset, removed, inserted }) => ({
    offset,
    length: inserted.length,
    was: removed,
  }))
  return { mark: markOf(text), steps: steps.reverse() }
}

/** Undefined if the text is not the result of the edits. */
export function undoEdits(text: string, { mark, steps }: Undo): string | undefined {
  if (markOf(text) !== mark) return undefined
  return steps.reduce(
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
