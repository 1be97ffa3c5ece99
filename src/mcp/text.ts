// Texts for the model. Others wrote the names, reasons and prompts, so they are quoted on one line and cut: they must not look
// like our instructions.
import { jsonEscape, plural, UNSAFE_CHARACTERS } from '../base/index.js'
import {
  type AttemptView,
  CHANGED_BY_USER,
  MERGED_WITH_MINE,
  type ChangeView,
  type CheckpointDetails,
  type CheckpointView,
  type CompareResult,
  type DiffResult,
  type PlanItem,
  type PlanView,
  type RewindResult,
  type SearchResult,
} from '../internal.js'

const MAX_QUOTED = 200
const MAX_LINES = 50
const MAX_PATCH = 40_000
const MAX_ITEMS = 500
const MAX_CHARS = 40_000

export function quoteText(text: string): string {
  const line = text.trim().replace(/\s+/g, ' ')
  const shown = line.length > MAX_QUOTED ? `${line.slice(0, MAX_QUOTED)}…` : line
  // A model reads characters that are invisible to the user.
  return JSON.stringify(shown).replace(UNSAFE_CHARACTERS, jsonEscape)
}

export function formatCount(count: number, noun: string): string {
  return `${count} ${plural(count, noun)}`
}

/** The first lines, and how many more there are. */
export function firstOf(lines: readonly string[]): string[] {
  const more = lines.length - MAX_LINES
  return more > 0 ? [...lines.slice(0, MAX_LINES), `… and ${more} more`] : [...lines]
}

function checkpointLine(checkpoint: CheckpointView): string {
  const { id, createdAt, name, reason, moment, kind, session, step, files } = checkpoint
  return [
    id,
    createdAt.toISOString(),
    checkpoint.hasFiles
      ? `${formatCount(files, 'file')} +${checkpoint.insertions} -${checkpoint.deletions}`
      : 'state only',
    ...(kind === 'save' ? [] : [`(${kind})`]),
    ...(name === null ? [] : [`name ${quoteText(name)}`]),
    ...(reason === null ? [] : [`${moment === null ? '' : `${moment} `}${quoteText(reason)}`]),
    ...(session === null ? [] : [`session ${quoteText(session)} step ${step}`]),
    ...(checkpoint.tests === undefined ? [] : [`tests ${checkpoint.tests}`]),
    ...(checkpoint.pinned ? ['pinned'] : []),
    ...(checkpoint.damaged ? ['DAMAGED'] : []),
  ].join('  ')
}

export function listText(checkpoints: readonly CheckpointView[]): string {
  if (checkpoints.length === 0)
    return 'This project has no checkpoints yet. checkpoint_save makes one.'
  return [
    `${formatCount(checkpoints.length, 'checkpoint')}, newest first:`,
    ...checkpoints.map(checkpointLine),
  ].join('\n')
}

export function searchText({
  matches,
  hits,
  searched,
  isComplete,
  notSearched,
}: SearchResult): string {
  const among = `among the newest ${formatCount(searched, 'checkpoint')}`
  const scope = isComplete ? `${among} (all of them)` : among
  const where = notSearched === undefined ? scope : `${scope}; encrypted texts were not searched`
  if (matches.length === 0) return `No match ${where}.`
  const lines = matches.flatMap((match) => [
    checkpointLine(match),
    ...hits
      .filter(({ checkpoint }) => checkpoint === match.id)
      .map(
        (hit) =>
          `  ${hit.where} ${hit.path === undefined ? '' : `${hit.path} `}${quoteText(hit.text)}`,
      ),
  ])
  return [`${formatCount(matches.length, 'match').replace(/hs$/, 'hes')} ${where}:`, ...lines].join(
    '\n',
  )
}

export function showText(details: CheckpointDetails): string {
  const { fileCount, sizeBytes, skipped, changes, agent } = details
  return [
    checkpointLine(details),
    ...(details.hasFiles
      ? [
          `It has ${formatCount(fileCount, 'file')}, ${sizeBytes} bytes; ${formatCount(skipped, 'path')} skipped.`,
        ]
      : []),
    ...(agent === null
      ? []
      : [`Turn ${agent.turn}; ${formatCount(agent.tools.length, 'tool call')}.`]),
    changes.length === 0
      ? 'Nothing changed since the previous checkpoint.'
      : 'Changed since the previous checkpoint:',
    ...firstOf(changes.map(changeLine)),
  ].join('\n')
}

export function diffText({ from, to, files, insertions, deletions, patch }: DiffResult): string {
  const end = to ?? 'the current folder'
  const head = `From ${from} to ${end}: ${formatCount(files, 'file')} changed, +${insertions} -${deletions}.`
  return patch === null || patch === '' ? head : `${head}\n\n${cutPatch(patch)}`
}

export function compareText({
  a,
  b,
  files,
  insertions,
  deletions,
  changes,
}: CompareResult): string {
  const head = `From a to b: ${formatCount(files, 'file')} changed, +${insertions} -${deletions}.`
  return [head, attemptLine('a', a), attemptLine('b', b), ...firstOf(changes.map(changeLine))].join(
    '\n',
  )
}

function attemptLine(name: string, attempt: AttemptView): string {
  const { session, checkpoint, tests } = attempt
  return [
    `${name}: ${session === null ? 'checkpoint' : `session ${quoteText(session)}, newest checkpoint`} ${checkpoint}`,
    `changed ${formatCount(attempt.files, 'file')} +${attempt.insertions} -${attempt.deletions}`,
    tests === null ? 'no tests seen' : `tests ${tests}`,
  ].join('; ')
}

export function cutPatch(patch: string, maxChars = MAX_PATCH): string {
  if (patch.length <= maxChars) return patch
  const left = patch.length - maxChars
  return `${patch.slice(0, maxChars)}\n… ${left} more characters; use the argument paths to limit the diff.\n`
}

export function planLines({ write, remove, keep }: PlanView): string[] {
  const lines = [
    ...write.map(
      ({ path, reason }) =>
        `write ${path || '.'} (${reason === MERGED_WITH_MINE ? 'the changes of the user stay' : reason})`,
    ),
    ...remove.map(({ path, reason }) => `remove ${path} (${reason})`),
    ...keep.filter((item) => !isUsers(item)).map(({ path, reason }) => `keep ${path} (${reason})`),
  ]
  return [...firstOf(lines), ...keptForUserLines(keep)]
}

/** Files that a rewind keeps because the user changed them. Listed separately, so that a long plan does not cut them off. */
export function keptForUserLines(keep: PlanView['keep']): string[] {
  const lines = keep.filter(isUsers).map(({ path, reason = '' }) => {
    // In a plan `you` means the user; the model would take it for itself.
    return `keep ${path || '.'} (${reason.replace(CHANGED_BY_USER, 'changed by the user')})`
  })
  if (lines.length === 0) return []
  return [`Kept because the user has changed them (${lines.length}):`, ...firstOf(lines)]
}

/** Files that tool calls have changed since and that are in no checkpoint. */
export function notRestoredLines(items: RewindResult['notRestored'] = []): string[] {
  if (items.length === 0) return []
  const lines = items.map(({ path, change }) => `${change} ${path}`)
  return [`Not restored, because no checkpoint contains them (${lines.length}):`, ...firstOf(lines)]
}

/** Commands whose effects are outside the folder. */
export function outsideLines(items: RewindResult['outside'] = []): string[] {
  if (items.length === 0) return []
  const lines = items.map(({ command, at }) => `${at.toISOString()} ${command}`)
  return [`Not taken back, because it is outside the folder (${lines.length}):`, ...firstOf(lines)]
}

function isUsers({ reason }: PlanItem): boolean {
  return reason?.includes(CHANGED_BY_USER) === true
}

export function changeLine({ path, change, insertions, deletions }: ChangeView): string {
  const lines = insertions === null ? '' : ` +${insertions} -${deletions}`
  return `${change} ${path || '.'}${lines}`
}

/** Results go into the context of a model: truncates long lists and texts, and sets `cut` if it did. */
export function bounded(result: object): object {
  let isCut = false
  const visit = (value: unknown): unknown => {
    if (typeof value === 'string') {
      if (value.length <= MAX_CHARS) return value
      isCut = true
      return `${value.slice(0, MAX_CHARS)}…`
    }
    if (value instanceof Date) return value.toISOString()
    if (Array.isArray(value)) {
      isCut ||= value.length > MAX_ITEMS
      return value.slice(0, MAX_ITEMS).map(visit)
    }
    return typeof value === 'object' && value !== null ? fieldsOf(value) : value
  }
  const fieldsOf = (value: object) =>
    Object.fromEntries(Object.entries(value).map(([key, field]) => [key, visit(field)]))
  const fields = fieldsOf(result)
  return isCut ? { ...fields, cut: true } : fields
}
