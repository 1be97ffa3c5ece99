// Notes: values that a front end, such as the hooks of an agent, keeps between its processes. Losing a note costs a label, never a
// file.
import { parseStorableText } from '../../model/index.js'
import type { StoreContext } from '../operation/context.js'

const DAY_MS = 24 * 60 * 60_000

export type NoteChange = {
  readonly key: string
  /** The note expires so many days after its last change; never if left out. */
  readonly keepDays?: number | undefined
  /** Skip fsync: the change may be lost on power failure. */
  readonly mayBeLost?: boolean
  /** Returns the new text; undefined removes the note. */
  readonly change: (before: string | undefined) => string | undefined
}

export function readNote({ ledger }: StoreContext, key: string): string | undefined {
  return ledger.notes.get(parseKey(key))
}

export function noteKeys({ ledger }: StoreContext, prefix: string): readonly string[] {
  return ledger.notes.keys(parseKey(prefix))
}

/** In one transaction: if two processes change a note at once, the second sees the change of the first. */
export function changeNote(
  { ledger, clock }: StoreContext,
  { key, keepDays, mayBeLost = false, change }: NoteChange,
): string | undefined {
  const work = () => {
    const name = parseKey(key)
    const before = ledger.notes.get(name)
    const after = change(before)
    if (after === before) return after
    const nowMs = clock.nowMs()
    const expiresAtMs = keepDays === undefined ? null : nowMs + keepDays * DAY_MS
    if (after === undefined) ledger.notes.remove(name)
    else ledger.notes.set(name, parseStorableText(after, 'A note'), expiresAtMs)
    if (before === undefined) ledger.notes.removeExpired(nowMs)
    return after
  }
  return mayBeLost ? ledger.transactionNoSync(work) : ledger.transaction(work)
}

function parseKey(key: string): string {
  return parseStorableText(key, 'The key of a note')
}
