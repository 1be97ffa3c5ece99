// What a model reads. Names, reasons and prompts were written by others and are shown in quotes, on one line, cut: they
// are something to read about, and must not look like words of ours.
import {
  CHANGED_BY_PERSON,
  type ChangeView,
  type CheckpointDetails,
  type CheckpointView,
  type DiffResult,
  type PlanItem,
  type PlanView,
  type SearchResult,
} from '../index.js'

const MAX_QUOTED = 200
const MAX_LINES = 50
export const MAX_PATCH = 40_000

export function quoted(text: string): string {
  const line = text.trim().replace(/\s+/g, ' ')
  return JSON.stringify(line.length > MAX_QUOTED ? `${line.slice(0, MAX_QUOTED)}…` : line)
}

export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

/** Of the first lines, and how many are left out. */
export function firstOf(lines: readonly string[]): string[] {
  const more = lines.length - MAX_LINES
  return more > 0 ? [...lines.slice(0, MAX_LINES), `… and ${more} more`] : [...lines]
}

export function checkpointLine(checkpoint: CheckpointView): string {
  const { id, createdAt, name, reason, kind, session, step, files } = checkpoint
  return [
    id,
    createdAt,
    checkpoint.hasFiles
      ? `${counted(files, 'file')} +${checkpoint.insertions} -${checkpoint.deletions}`
      : 'state only',
    ...(kind === 'save' ? [] : [`(${kind})`]),
    ...(name === null ? [] : [`name ${quoted(name)}`]),
    ...(reason === null ? [] : [quoted(reason)]),
    ...(session === null ? [] : [`session ${quoted(session)} step ${step}`]),
    ...(checkpoint.pinned ? ['pinned'] : []),
    ...(checkpoint.damaged ? ['DAMAGED'] : []),
  ].join('  ')
}

export function listText(checkpoints: readonly CheckpointView[]): string {
  if (checkpoints.length === 0) return 'No checkpoint here yet. checkpoint_save makes one.'
  return [
    `${counted(checkpoints.length, 'checkpoint')}, newest first:`,
    ...checkpoints.map(checkpointLine),
  ].join('\n')
}

export function searchText({ matches, searched, isComplete }: SearchResult): string {
  const among = `among the newest ${counted(searched, 'checkpoint')}`
  const where = isComplete ? `${among}, which are all` : among
  if (matches.length === 0) return `Nothing found ${where}.`
  const lines = matches.flatMap((match) => [
    checkpointLine(match),
    ...(match.prompt === null ? [] : [`  prompt ${quoted(match.prompt)}`]),
    ...match.paths.map((path) => `  changed ${path}`),
  ])
  return [`${counted(matches.length, 'match').replace(/hs$/, 'hes')} ${where}:`, ...lines].join(
    '\n',
  )
}

export function showText(details: CheckpointDetails): string {
  const { fileCount, sizeBytes, skipped, changes, agent } = details
  return [
    checkpointLine(details),
    ...(details.hasFiles
      ? [`Holds ${counted(fileCount, 'file')} of ${sizeBytes} bytes; ${skipped} paths left out.`]
      : []),
    ...(agent === null ? [] : [`Turn ${agent.turn}; ${counted(agent.tools.length, 'tool call')}.`]),
    changes.length === 0
      ? 'Nothing changed since the checkpoint before.'
      : 'Changed since the checkpoint before:',
    ...firstOf(changes.map(changeLine)),
  ].join('\n')
}

export function diffText({ from, to, files, insertions, deletions, patch }: DiffResult): string {
  const end = to ?? 'the folder as it is'
  const head = `From ${from} to ${end}: ${counted(files, 'file')} changed, +${insertions} -${deletions}.`
  return patch === null || patch === '' ? head : `${head}\n\n${cutPatch(patch)}`
}

export function cutPatch(patch: string, maxChars = MAX_PATCH): string {
  if (patch.length <= maxChars) return patch
  const left = patch.length - maxChars
  return `${patch.slice(0, maxChars)}\n… ${left} more characters; name paths to see less at once.\n`
}

export function planLines({ write, remove, keep }: PlanView): string[] {
  const lines = [
    ...write.map(({ path, reason }) => `write ${path || '.'} (${reason})`),
    ...remove.map(({ path, reason }) => `remove ${path} (${reason})`),
    ...keep
      .filter((item) => !isPersons(item))
      .map(({ path, reason }) => `keep ${path} (${reason})`),
  ]
  return [...firstOf(lines), ...personsLines(keep)]
}

/** What a rewind leaves alone for the person's sake; apart, so that a long plan does not cut it off. */
export function personsLines(keep: PlanView['keep']): string[] {
  const lines = keep.filter(isPersons).map(({ path, reason = '' }) => {
    // In the plan `you` is the person, and here it would be the model.
    return `keep ${path || '.'} (${reason.replace(CHANGED_BY_PERSON, 'changed by the person')})`
  })
  if (lines.length === 0) return []
  return [`Kept as it is, since the person has changed it (${lines.length}):`, ...firstOf(lines)]
}

function isPersons({ reason }: PlanItem): boolean {
  return reason?.includes(CHANGED_BY_PERSON) === true
}

export function changeLine({ path, change, insertions, deletions }: ChangeView): string {
  const lines = insertions === null ? '' : ` +${insertions} -${deletions}`
  return `${change} ${path || '.'}${lines}`
}
