// A text to put in front of the model when it goes on: what was done, what was taken back, what is uncertain.
// The most important first, because the budget cuts from the end.
import {
  type Checkpoint,
  hasFiles,
  isError,
  type Session,
  statusText,
  type ToolCall,
} from '../model/index.js'
import type { InFlight } from './tool.js'
import type { ChangeView } from './view.js'

export type Brief = {
  readonly session: Session
  readonly project: string | null
  /** The head first. */
  readonly ancestors: readonly Checkpoint[]
  readonly inFlight: readonly InFlight[]
  readonly confirmed: readonly ToolCall[]
  readonly changes: readonly ChangeView[]
  readonly notices: readonly string[]
}

const MAX_ITEM = 300

export function briefText(brief: Brief, maxChars: number): string {
  const { session, ancestors, inFlight, changes, notices } = brief
  const sections: (readonly [title: string, lines: readonly string[]])[] = [
    [
      `You are resuming the session ${JSON.stringify(session.id)} (${statusText(session.status)}${brief.project === null ? '' : `, in ${brief.project}`}).`,
      [],
    ],
    [
      'Uncertain: these calls had begun when the process ended. Their effect is unverified; check before repeating them.',
      inFlight.map(({ name, id, args }) => `${name} (call ${id}) with ${shown(args)}`),
    ],
    ['Interrupted work:', notices],
    ['Reverted:', revertedBy(ancestors)],
    [
      'Changed in the folder since the last checkpoint that holds files:',
      changes.map(({ change, path }) => `${change} ${path}`),
    ],
    [
      'Done (do not repeat):',
      brief.confirmed
        .filter(({ status }) => status !== 'started')
        .reverse()
        .map(
          ({ name, id, status, args, result, error }) =>
            `${name} (call ${id}) with ${shown(args)}: ${status}${status === 'confirmed' ? `, ${shown(result)}` : status === 'failed' ? `, ${shown(error)}` : ''}`,
        ),
    ],
    ['Last checkpoints, newest first:', ancestors.map(describeCheckpoint)],
  ]
  return fit(
    sections.filter(([, lines], i) => i === 0 || lines.length > 0),
    maxChars,
  )
}

function revertedBy(ancestors: readonly Checkpoint[]): string[] {
  return ancestors.flatMap(({ kind, reason, session }) =>
    kind === 'rewind' || kind === 'undo' || kind === 'redo'
      ? `step ${session?.step ?? '-'}: ${reason ?? kind}. What was done after that point is not in the state any more.`
      : [],
  )
}

/** Whole lines as long as they fit, and how many are missing where some do not. */
function fit(
  sections: readonly (readonly [title: string, lines: readonly string[]])[],
  maxChars: number,
): string {
  let text = ''
  const add = (line: string) => {
    const next = text === '' ? line : `${text}\n${line}`
    if (next.length > maxChars) return false
    text = next
    return true
  }
  for (const [title, lines] of sections) {
    if (!add(title)) break
    const left = lines.findIndex((line) => !add(`- ${line}`))
    if (left !== -1) {
      add(`- … and ${lines.length - left} more`)
      break
    }
  }
  return text.slice(0, maxChars)
}

function shown(value: unknown): string {
  const text = isError(value) ? String(value) : textOf(value)
  return text.length > MAX_ITEM ? `${text.slice(0, MAX_ITEM - 1)}…` : text
}

function textOf(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (typeof value === 'bigint') return String(value)
  try {
    return JSON.stringify(value)
  } catch (error) {
    if (error instanceof TypeError) return `a ${typeof value}`
    throw error
  }
}

function describeCheckpoint(checkpoint: Checkpoint): string {
  const { name, reason, kind, session } = checkpoint
  const label = name ?? reason ?? kind
  const holds = [
    session?.state === null ? undefined : 'state',
    hasFiles(checkpoint) ? 'files' : undefined,
  ]
  return `step ${session?.step ?? '-'}: ${label} (${holds.filter(Boolean).join(' and ') || 'nothing'})`
}
