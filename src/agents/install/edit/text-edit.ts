// Changes of a text as data, and the way back. What install writes into a configuration can be taken out again to
// the byte as long as nobody has changed the file since.
import { createHash } from 'node:crypto'

export type Edit = { readonly offset: number; readonly removed: string; readonly inserted: string }

/** What has to be known to undo edits: the mark of the text they led to, and each one, last first. */
export type Undo = {
  readonly mark: string
  readonly steps: readonly {
    readonly offset: number
    readonly length: number
    readonly was: string
  }[]
}

/** It fits no text. */
export const NO_WAY_BACK: Undo = { mark: '', steps: [] }

/** A text with all that was done to it. */
export type Edited = { readonly text: string; readonly edits: readonly Edit[] }

export function unedited(text: string): Edited {
  return { text, edits: [] }
}

export function edited({ text, edits }: Edited, edit: Edit): Edited {
  const { offset, removed, inserted } = edit
  const after = text.slice(0, offset) + inserted + text.slice(offset + removed.length)
  return { text: after, edits: [...edits, edit] }
}

export function undoOf({ text, edits }: Edited): Undo {
  const steps = edits.map(({ offset, removed, inserted }) => ({
    offset,
    length: inserted.length,
    was: removed,
  }))
  return { mark: markOf(text), steps: steps.reverse() }
}

/** Undefined if the text is not the one that the edits led to. */
export function undone(text: string, { mark, steps }: Undo): string | undefined {
  if (markOf(text) !== mark) return undefined
  return steps.reduce(
    (now, { offset, length, was }) => now.slice(0, offset) + was + now.slice(offset + length),
    text,
  )
}

function markOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/** Lines end as the first of them does. */
export function lineEndOf(text: string): string {
  return /^[^\n]*\r\n/.test(text) ? '\r\n' : '\n'
}
