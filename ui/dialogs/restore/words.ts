// The sentences of the restore dialog. Pure.
import type {
  Applied,
  ConflictChoice,
  Plan,
  PlanAction,
  PlanLine,
  Restored,
  Row,
} from '../../../src/ui/api.js'
import { count, visibleText } from '../../components/format.js'
import type { ChosenHunks } from './selection.js'

const MAX_TITLE = 80
const PROMPT = 'You: '

/** The prompt, call, name or message of a checkpoint in quotes, or its id. */
export function quoteRow({ id, name, reason }: Pick<Row, 'id' | 'name' | 'reason'>): string {
  const said = name ?? reason?.replace(PROMPT, '') ?? ''
  const line = visibleText(said.replaceAll(/\s+/g, ' ').trim())
  if (line === '') return id.slice(0, 8)
  return `“${line.length > MAX_TITLE ? `${line.slice(0, MAX_TITLE - 1)}…` : line}”`
}

/** `Go back to before “Make login work” (14:21)`. `row`: the checkpoint that the user chose. */
export function rewindTitle(
  row: Pick<Row, 'id' | 'name' | 'reason' | 'moment' | 'createdAt'>,
  {
    before,
    now,
    only,
  }: {
    readonly before: boolean
    readonly now: Date
    /** The paths that the user asked for; undefined for all. */
    readonly only?: readonly string[] | undefined
  },
): string {
  const moment = before ? 'before ' : row.moment === null ? '' : `${row.moment} `
  const files = only === undefined ? '' : `: only ${namePaths(only)}`
  return `Go back to ${moment}${quoteRow(row)} (${shortTime(row.createdAt, now)})${files}`
}

export function reversalTitle(
  kind: 'undo' | 'redo',
  { rewoundAt, now }: { readonly rewoundAt: string | null; readonly now: Date },
): string {
  const when = rewoundAt === null ? '' : ` of ${shortTime(rewoundAt, now)}`
  return kind === 'undo' ? `Undo the rewind${when}` : `Repeat the rewind${when}`
}

/** `Undo only “Edit src/login.ts” (14:21)`. */
export function undoStepTitle(
  row: Pick<Row, 'id' | 'name' | 'reason' | 'createdAt'>,
  now: Date,
): string {
  return `Undo only ${quoteRow(row)} (${shortTime(row.createdAt, now)})`
}

/** The time of today, else the date too. */
export function shortTime(at: string, now: Date): string {
  const date = new Date(at)
  const time = date.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' })
  if (date.toDateString() === now.toDateString()) return time
  const isThisYear = date.getFullYear() === now.getFullYear()
  const day = date.toLocaleDateString('en-GB', {
    day: 'numeric',
    month: 'short',
    ...(isThisYear ? {} : { year: 'numeric' }),
  })
  return `${day}, ${time}`
}

/** The word and the shape of each action; nothing is said by color alone. */
const ACTIONS: Readonly<
  Record<PlanAction, { readonly mark: string; readonly word: string; readonly total: string }>
> = {
  write: { mark: '~', word: 'write', total: 'written' },
  restore: { mark: '+', word: 'come back', total: 'come back' },
  remove: { mark: '−', word: 'remove', total: 'removed' },
  keep: { mark: '=', word: 'keep', total: 'stay as they are' },
  conflict: { mark: '!', word: 'in the way', total: 'in the way' },
}

const UNMERGED = { mark: '!', word: 'conflict', total: 'in conflict' }

export function actionWords(action: PlanAction, kind: Plan['kind']): (typeof ACTIONS)[PlanAction] {
  return action === 'conflict' && kind === 'undoStep' ? UNMERGED : ACTIONS[action]
}

export const CONFLICT_CHOICES: Readonly<Record<ConflictChoice, string>> = {
  refuse: 'undo nothing',
  ours: 'leave them as they are',
  theirs: 'bring them back whole, as before the step: later changes in them go too',
  markers: 'write conflict markers into text files, to edit by hand',
}

/** The engine's reason for writing a file that the user has to edit. */
const HAS_MARKERS = 'has conflict markers'

/** Names the work that is left for the user; empty if there is none. */
export function markersText(lines: readonly PlanLine[]): string {
  const marked = lines.filter(({ reason }) => reason === HAS_MARKERS).length
  if (marked === 0) return ''
  return ` ${marked === 1 ? '1 file has conflict markers: edit it.' : `${count(marked, 'file')} have conflict markers: edit them.`}`
}

/** `6 written · 2 come back · 1 removed`. */
export function countsText(
  counts: Readonly<Record<PlanAction, number>>,
  kind: Plan['kind'],
): string {
  const actions = ['write', 'restore', 'remove', 'keep', 'conflict'] as const
  return actions
    .filter((action) => counts[action] > 0)
    .map((action) => {
      const number = counts[action]
      const one = action === 'keep' && number === 1
      return `${number.toLocaleString('en')} ${one ? 'stays as it is' : actionWords(action, kind).total}`
    })
    .join(' · ')
}

const VERBS: Readonly<Record<Plan['kind'], string>> = {
  rewind: 'Go back',
  undoStep: 'Undo this step',
  undo: 'Undo',
  redo: 'Repeat',
}

export function buttonText(
  { kind, restore }: Pick<Plan, 'kind' | 'restore'>,
  files: number,
): string {
  const verb = VERBS[kind]
  if (restore === 'conversation') return `${verb}: conversation`
  if (restore === 'both')
    return files === 0
      ? `${verb}: conversation`
      : `${verb}: ${count(files, 'file')} and conversation`
  return files === 0 ? verb : `${verb}: ${count(files, 'file')}`
}

/** The bar after a restore of single changes. */
export function hunksText({ path, hunks }: ChosenHunks): string {
  return `${count(hunks.length, 'change')} of ${visibleText(path)} taken back.`
}

const DONE: Readonly<Record<Exclude<Plan['kind'], 'rewind'>, string>> = {
  undoStep: 'The step was undone',
  undo: 'The rewind was undone',
  redo: 'The rewind was repeated',
}

/** The bar after a restore. With the numbers that the dialog showed: the engine also counts folders. */
export function noticeText(
  kind: Plan['kind'],
  { restore, written, removed }: Pick<Applied, 'restore' | 'written' | 'removed'>,
): string {
  const files = written + removed
  // A merge keeps later changes, so no file is as it was.
  const verb = kind === 'undoStep' ? 'changed' : 'brought back'
  const parts = [
    ...(written > 0 ? [`${count(written, 'file')} ${verb}`] : []),
    ...(removed > 0
      ? [
          written > 0
            ? `${removed.toLocaleString('en')} removed`
            : `${count(removed, 'file')} removed`,
        ]
      : []),
    ...(restore !== 'files' ? ['the conversation went back'] : []),
  ]
  const start = kind === 'rewind' ? '' : DONE[kind]
  const done = parts.join(', ')
  if (kind !== 'rewind')
    return files === 0 && restore === 'files' ? `${start}.` : `${start}: ${done}.`
  if (done === '') return 'The folder is as it was.'
  return `${done[0]?.toUpperCase() ?? ''}${done.slice(1)}.`
}

export const CHOICES: Readonly<Record<Restored, string>> = {
  files: 'Files',
  conversation: 'Conversation',
  both: 'Files and conversation',
}

/** The engine's reason for a path that the user changed. */
export const CHANGED_BY_USER = 'changed by you'

/** Why there is nothing to do; null if there is something. */
export function nothingText({ token, kind, restore, lines }: Plan): string | null {
  const hasChange = lines.some(({ action }) => action !== 'keep')
  if (hasChange || token !== null || restore === 'conversation') return null
  if (kind === 'undoStep') return 'Nothing to do: nothing that the step changed is left.'
  if (lines.some(({ reason }) => reason === CHANGED_BY_USER))
    return 'Nothing to do: everything that differs was changed by you. Turn off “Keep my changes” to bring it back too.'
  const state =
    kind === 'undo' ? 'before the rewind' : kind === 'redo' ? 'after the rewind' : 'then'
  return `Nothing to do: the folder is as it was ${state}.`
}

/** For a plan with changes of which none is selected. */
export function noneTickedText(
  { lines, restore }: Pick<Plan, 'lines' | 'restore'>,
  { changes, only }: { readonly changes: number; readonly only: readonly string[] | undefined },
): string | null {
  if (changes > 0 || restore === 'conversation' || lines.every(({ action }) => action === 'keep'))
    return null
  const isPlanned = ({ path }: PlanLine) =>
    only?.some((wanted) => path === wanted || path.startsWith(`${wanted}/`)) === true
  if (only === undefined || lines.some(isPlanned)) return 'No file is ticked.'
  const verb = only.length === 1 ? 'is as it was' : 'are as they were'
  return `Nothing to do: ${namePaths(only)} ${verb} then. Other files differ; tick those that are to go back.`
}

function namePaths(paths: readonly string[]): string {
  const [first = '', ...others] = paths
  return others.length === 0 ? visibleText(first) : count(paths.length, 'file')
}

const MAX_PATHS = 20

/** The command for the selected paths. Too many of them are left out: then it is for all files, and its label says so. */
export function commandText(command: string, paths: readonly string[] | undefined): string {
  return paths === undefined || paths.length === 0 || isTooLong(paths)
    ? command
    : `${command} -- ${paths.map(quoteForShell).join(' ')}`
}

export function commandLabel(paths: readonly string[] | undefined): string {
  return paths !== undefined && isTooLong(paths)
    ? 'In a terminal, for all files:'
    : 'The same in a terminal:'
}

function isTooLong(paths: readonly string[]): boolean {
  return paths.length > MAX_PATHS
}

function quoteForShell(text: string): string {
  return /^[\w./@%+=:,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
