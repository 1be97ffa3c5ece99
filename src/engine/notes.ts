// What a face remembers between two of its processes, such as the hooks of an agent. A note is nobody's work: losing
// one costs a label, never a file.
import { parseWholeText } from '../model/index.js'
import type { StoreContext } from './context.js'

const PREFIX = 'note:'
const DAY_MS = 24 * 60 * 60_000
const FOR_EVER_MS = Number.MAX_SAFE_INTEGER

export type NoteChange = {
  readonly key: string
  /** How long it is kept if nobody changes it; for ever if left out. */
  readonly keepDays?: number | undefined
  /** It is not worth waiting for the disk: lost only if the machine loses power. */
  readonly mayBeLost?: boolean
  /** From what it was to what it is to be; undefined stands for no note. */
  readonly change: (before: string | undefined) => string | undefined
}

export function readNote({ ledger }: StoreContext, key: string): string | undefined {
  return textOf(ledger.care.fact(nameOf(key)))
}

/** The keys that begin so. */
export function noteKeys({ ledger }: StoreContext, prefix: string): readonly string[] {
  return ledger.care.factKeys(nameOf(prefix)).map((name) => name.slice(PREFIX.length))
}

/** In one transaction: of two processes that change a note at once, the second sees what the first has made of it. */
export function changeNote(
  { ledger, clock }: StoreContext,
  { key, keepDays, mayBeLost = false, change }: NoteChange,
): string | undefined {
  const work = () => {
    const name = nameOf(key)
    const stored = ledger.care.fact(name)
    const before = textOf(stored)
    const after = change(before)
    if (after === before) return after
    const nowMs = clock.nowMs()
    const untilMs = keepDays === undefined ? FOR_EVER_MS : nowMs + keepDays * DAY_MS
    if (after === undefined) ledger.care.removeFact(name)
    else ledger.care.setFact(name, `${untilMs} ${parseWholeText(after, 'A note')}`)
    if (stored === undefined) ledger.care.removeOutdated(PREFIX, nowMs)
    return after
  }
  return mayBeLost ? ledger.transactionAtEase(work) : ledger.transaction(work)
}

function nameOf(key: string): string {
  return `${PREFIX}${parseWholeText(key, 'The key of a note')}`
}

function textOf(stored: string | undefined): string | undefined {
  return stored?.slice(stored.indexOf(' ') + 1)
}
