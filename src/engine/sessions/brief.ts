// The text that a resumed model reads first: what was done, what was reverted, what is uncertain. The most important
// sections come first, because the budget cuts from the end.
import { types } from 'node:util'
import { jsonEscape, UNSAFE_CHARACTERS } from '../../base/index.js'
import {
  type Checkpoint,
  hasFiles,
  isError,
  SavestateError,
  type Session,
  statusText,
  type ToolCall,
} from '../../model/index.js'
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
    ['Before you continue:', notices],
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

const MAX_CHARS = 300

/** Escapes line ends, control characters and invisible characters, which a model would read and a user would not see. */
function escapeToOneLine(text: string): string {
  return text.replace(UNSAFE_CHARACTERS, (char) => {
    const escaped = JSON.stringify(char).slice(1, -1)
    return escaped === char ? jsonEscape(char) : escaped
  })
}

/** A longer text ends with an ellipsis. Never splits a surrogate pair. */
function truncate(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text
  if (maxChars < 1) return ''
  return `${text.slice(0, maxChars - 1).replace(/[\ud800-\udbff]$/, '')}…`
}

function formatText(text: string): string {
  return truncate(escapeToOneLine(truncate(text, MAX_CHARS)), MAX_CHARS)
}

function formatValue(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (isError(value)) return formatText(formatError(value))
  const draft = { text: '' }
  write(draft, value)
  return truncate(escapeToOneLine(draft.text), MAX_CHARS)
}

type Draft = { text: string }

/** Writes JSON where JSON can express the value. Each level adds a character, so a cycle ends too. */
function write(draft: Draft, value: unknown): void {
  if (draft.text.length > MAX_CHARS) return
  const leaf = formatLeaf(value)
  if (leaf !== undefined) draft.text += leaf
  else if (Array.isArray(value)) writeList(draft, '[', value)
  else if (types.isMap(value)) writeList(draft, 'Map [', value.entries())
  else if (types.isSet(value)) writeList(draft, 'Set [', value.values())
  else writeObject(draft, Object(value) as object)
}

/** Undefined for a value with parts. */
function formatLeaf(value: unknown): string | undefined {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, MAX_CHARS))
  if (typeof value === 'function' || typeof value === 'symbol') return typeof value
  if (typeof value !== 'object' || value === null || types.isRegExp(value)) return String(value)
  if (types.isDate(value)) return JSON.stringify(value)
  if (isError(value)) return formatLeaf(formatError(value))
  if (value instanceof URL) return formatLeaf(value.href)
  if (ArrayBuffer.isView(value) || types.isAnyArrayBuffer(value)) return `${value.byteLength} bytes`
  return undefined
}

/** Like `String(error)`, which throws if `name`, `message` or `toString` has the wrong type. */
function formatError({ name, message }: Readonly<Record<'name' | 'message', unknown>>): string {
  return (
    [name, message].filter((part) => typeof part === 'string' && part !== '').join(': ') || 'Error'
  )
}

function writeList(draft: Draft, start: string, items: Iterable<unknown>): void {
  draft.text += start
  let isFirst = true
  for (const item of items) {
    if (!isFirst) draft.text += ','
    isFirst = false
    write(draft, item)
    if (draft.text.length > MAX_CHARS) return
  }
  draft.text += ']'
}

function writeObject(draft: Draft, object: object): void {
  draft.text += '{'
  let isFirst = true
  for (const key of Object.keys(object)) {
    const value: unknown = Reflect.get(object, key)
    if (value === undefined) continue
    draft.text += `${isFirst ? '' : ','}${formatLeaf(key)}:`
    isFirst = false
    write(draft, value)
    if (draft.text.length > MAX_CHARS) return
  }
  draft.text += '}'
}
