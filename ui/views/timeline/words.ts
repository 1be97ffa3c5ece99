// Checkpoints in words: titles, kinds and marks of the timeline's rows. Pure.
import type { Row } from '../../../src/ui/api.js'

const PROMPT = 'You: '
/** The id at the end of a rewind's reason: the row of the target is a click away. */
const REFERENCE = / \([bcdfghjklmnpqrstvwxz]{8}\)/g
/** A call that changed only files which no checkpoint contains. */
const UNCAPTURED = / \(changed only (?:ignored files|files that are not saved): .*\)$/
/** Commands that remove or overwrite what they were not asked to read. A hint for the eye, not a guard. */
const DESTRUCTIVE =
  /\brm\s+-\w*[rf]|\bgit\s+(?:clean\b|reset\s+--hard|checkout\s+(?:--|\.)|restore\b|push\s.*--force|stash\s+drop)|\bfind\b.*-delete\b|\btruncate\b|\bmkfs\b|\bdd\s+if=|\bdrop\s+(?:table|database)\b|\bdelete\s+from\b/i

export function isPrompt({ session, kind, reason, moment }: Row): boolean {
  // Encrypted metadata has no moment.
  return (
    session !== null && kind === 'save' && moment !== 'after' && reason?.startsWith(PROMPT) === true
  )
}

/** The text of a prompt, without `You: `. */
export function promptText({ reason }: Row): string {
  return reason?.startsWith(PROMPT) === true ? reason.slice(PROMPT.length) : (reason ?? '')
}

/** The tool of a call and what it was called with. */
export function callWords({ reason }: Row): { readonly tool: string; readonly what: string } {
  const text = reason ?? 'Saved'
  if (/^End of the \w+$/.test(text)) return { tool: text, what: '' }
  const [, tool, what] = /^(Before \S+?|\S+?):? +(.*)$/s.exec(text) ?? []
  return tool === undefined || what === undefined ? { tool: text, what: '' } : { tool, what }
}

/** For rows outside a session: the kind in words, and what it was about. */
export function singleWords(row: Row): { readonly kind: string; readonly what: string } {
  const reason = (row.reason ?? '').replaceAll(REFERENCE, '')
  const rest = (word: string) =>
    reason.toLowerCase().startsWith(`${word} `) ? reason.slice(word.length + 1) : reason
  switch (row.kind) {
    case 'rewind':
      return { kind: 'Rewind', what: rest('rewind') }
    case 'undo':
      return { kind: 'Undo', what: rest('undo') }
    case 'redo':
      return { kind: 'Redo', what: rest('redo') }
    case 'safety':
      return { kind: 'Safety copy', what: reason }
    case 'recovery':
      return { kind: 'Recovery', what: reason }
    default:
      return { kind: `Saved by ${row.author ?? 'you'}`, what: reason }
  }
}

/** One line for a sentence about the checkpoint. */
export function titleOf(row: Row): string {
  if (row.name !== null) return row.name
  if (row.session === null) {
    const { kind, what } = singleWords(row)
    return what === '' ? kind : row.kind === 'save' ? what : `${kind} ${what}`
  }
  return (row.reason ?? 'a checkpoint without a reason').replace(UNCAPTURED, '')
}

export type Mark = {
  readonly kind:
    | 'named'
    | 'pinned'
    | 'failed'
    | 'passed'
    | 'destructive'
    | 'partial'
    | 'damaged'
    | 'pruned'
  readonly sign: string
  readonly word: string
}

export function marksOf(row: Row): readonly Mark[] {
  const marks: Mark[] = []
  if (row.damaged === true) marks.push({ kind: 'damaged', sign: '▲', word: 'damaged' })
  const failure = row.tests === 'failed' ? 'tests failed' : 'failed'
  if (isFailed(row)) marks.push({ kind: 'failed', sign: '✗', word: failure })
  if (row.tests === 'passed') marks.push({ kind: 'passed', sign: '✓', word: 'tests passed' })
  if (isDestructive(row)) marks.push({ kind: 'destructive', sign: '⚠', word: 'destructive' })
  if (isPartial(row)) marks.push({ kind: 'partial', sign: '◐', word: 'partly saved' })
  if (row.filesPruned === true) marks.push({ kind: 'pruned', sign: '○', word: 'files pruned' })
  if (row.pinned) marks.push({ kind: 'pinned', sign: '●', word: 'pinned' })
  if (row.name !== null) marks.push({ kind: 'named', sign: '◆', word: row.name })
  return marks
}

/** Paths that Savestate wanted to save and could not. Those that it leaves out on purpose are on the page of the checkpoint. */
const UNEXPECTED = ['unreadable', 'unstable'] as const

function isPartial({ skippedByReason }: Row): boolean {
  return UNEXPECTED.some((reason) => skippedByReason[reason] !== undefined)
}

/** The call or its tests failed, or the session ended with an error. */
export function isFailed({ failed, tests, status }: Row): boolean {
  return failed === true || tests === 'failed' || status?.startsWith('failed') === true
}

export function isDestructive(row: Row): boolean {
  return row.session !== null && !isPrompt(row) && DESTRUCTIVE.test(row.reason ?? '')
}

export function authorsOf({ author }: Row): readonly string[] {
  return author === null ? [] : author.split('+')
}

/** `12 s`, `4 min`, `2 h 5 min`. */
export function durationText(ms: number): string {
  const seconds = Math.round(ms / 1000)
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.round(seconds / 60)
  if (minutes < 60) return `${minutes} min`
  const rest = minutes % 60
  return rest === 0 ? `${(minutes - rest) / 60} h` : `${(minutes - rest) / 60} h ${rest} min`
}
