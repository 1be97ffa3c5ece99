// The text that a resumed model reads first: what was done, what was reverted, what is uncertain. The most important
// sections come first, because the budget cuts from the end.
import {
  type Checkpoint,
  hasFiles,
  SavestateError,
  type Session,
  statusText,
  type ToolCall,
} from '../../model/index.js'
import { truncate, escapeToOneLine, formatText, formatValue } from './brief-value.js'
import type { InFlight } from './tool-calls.js'
import type { ChangeView } from '../checkpoints/views.js'

export type Brief = {
  readonly session: Session
  readonly project: string | null
  /** Newest first. */
  readonly ancestors: readonly Checkpoint[]
  readonly inFlight: readonly InFlight[]
  readonly confirmed: readonly ToolCall[]
  readonly changes: readonly ChangeView[]
  readonly notices: readonly string[]
}

type Section = readonly [title: string, lines: readonly string[]]

/** A shorter part of a line says nothing. */
const MIN_LINE_CHARS = 20

export type BriefOptions = { readonly maxChars?: number }

export function briefText(brief: Brief, options: BriefOptions = {}): string {
  if (typeof options !== 'object' || options === null)
    throw new SavestateError('BAD_INPUT', 'brief takes its options as an object')
  const { maxChars = 4000 } = options
  const { session, ancestors, inFlight, changes, notices } = brief
  const opening: Section = [
    `You are resuming the session ${JSON.stringify(session.id)} (${formatText(statusText(session.status))}${brief.project === null ? '' : `, in ${brief.project}`}).`,
    [],
  ]
  const sections: readonly Section[] = [
    [
      'Uncertain: these calls were running when the process ended. Their effect is unverified; check before repeating them.',
      inFlight.map(formatCall),
    ],
    ['Interrupted work:', notices],
    ['Reverted:', describeReverts(ancestors)],
    [
      'Changed in the folder since the last checkpoint with files:',
      changes.map(({ change, path }) => `${change} ${path}`),
    ],
    [
      'Done (do not repeat):',
      brief.confirmed
        .filter(({ status }) => status !== 'started')
        .reverse()
        .map((call) => `${formatCall(call)}: ${call.status}${formatOutcome(call)}`),
    ],
    ['Last checkpoints, newest first:', ancestors.map(describeCheckpoint)],
  ]
  const filled = sections.filter(([, lines]) => lines.length > 0)
  const whole = joinWithin([opening, ...filled], maxChars)
  // The opening must not displace the uncertain calls.
  const isUncertainShown = inFlight.length === 0 || whole.includes('\n- ')
  return isUncertainShown ? whole : joinWithin(filled, maxChars)
}

function formatCall({ name, id, args }: Pick<ToolCall, 'name' | 'id' | 'args'>): string {
  return `${formatText(name)} (call ${formatText(id)}) with ${formatValue(args)}`
}

function formatOutcome({ status, result, error }: ToolCall): string {
  if (status === 'confirmed') return `, ${formatValue(result)}`
  return status === 'failed' ? `, ${formatValue(error)}` : ''
}

function describeReverts(ancestors: readonly Checkpoint[]): string[] {
  return ancestors.flatMap(({ kind, reason, session }) =>
    kind === 'rewind' || kind === 'undo' || kind === 'redo'
      ? `step ${session?.step ?? '-'}: ${formatText(reason ?? kind)}. The state no longer contains what was done after that point.`
      : [],
  )
}

/** Adds whole lines while they fit, then the number of missing lines. The first line of all and of a section may be truncated. */
function joinWithin(sections: readonly Section[], maxChars: number): string {
  let text = ''
  const add = (line: string, { minChars = Number.POSITIVE_INFINITY } = {}) => {
    const whole = escapeToOneLine(line)
    const before = text === '' ? '' : `${text}\n`
    const freeChars = maxChars - before.length
    if (whole.length <= freeChars) text = before + whole
    else if (freeChars >= minChars) text = before + truncate(whole, freeChars)
    return whole.length <= freeChars
  }
  for (const [title, lines] of sections) {
    if (!add(title, text === '' ? { minChars: 1 } : {})) break
    const left = lines.findIndex(
      (line, index) => !add(`- ${line}`, index === 0 ? { minChars: MIN_LINE_CHARS } : {}),
    )
    if (left === -1) continue
    add(`- … and ${lines.length - left} more`)
    break
  }
  return text
}

function describeCheckpoint(checkpoint: Checkpoint): string {
  const { name, reason, kind, session } = checkpoint
  const label = formatText(name ?? reason ?? kind)
  const holds = [
    session?.state === null ? undefined : 'state',
    hasFiles(checkpoint) ? 'files' : undefined,
  ]
  return `step ${session?.step ?? '-'}: ${label} (${holds.filter(Boolean).join(' and ') || 'nothing'})`
}
