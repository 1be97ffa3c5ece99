// Checkpoints as lines, grouped by prompt: number, id, text, and at the right the agent, the changes and the age.
import type { CheckpointView } from '../index.js'
import { type Group, isPrompt } from './checkpoint-groups.js'
import { counted, grouped } from './figures.js'
import { type Line, layoutLines, type Part } from './line-layout.js'
import type { Paint } from './paint.js'
import { pathForPeople, printableLine } from './printable.js'
import { relativeTime } from './relative-time.js'
import type { Screen } from './screen.js'
import { idWidth, paintId } from './short-id.js'
import { cutEnd, cutStart, padStart } from './text-width.js'

/** The end of a path says which folder it is. */
const FOLDER_WIDTH = 60
const ROW_FOLDER_WIDTH = 30
const NAME_WIDTH = 30
/** Below the words of a prompt, which stand behind its mark. */
const SINGLE_INDENT = 2
const STEP_INDENT = 4
/** On a narrower screen only prompts and single rows have an age. */
const AGED_STEPS_WIDTH = 100
export type ListRow = CheckpointView & {
  readonly shortId: string
  /** The number or step to type; absent in lists of several projects. */
  readonly label?: string
  /** In lists of several projects; null for a checkpoint of no project. */
  readonly project?: string | null
}

export type ListLayout = {
  readonly screen: Screen
  /** The rows to print; the prompts of their groups are printed too. */
  readonly shown: (row: ListRow) => boolean
  /** Whether more than one author is known, so that it is worth naming them. */
  readonly hasAuthors: boolean
  /** Prints how many steps of a prompt are not shown. */
  readonly countsHidden?: boolean
  /** Prints only prompts and single rows, with the number of steps. */
  readonly promptsOnly?: boolean
}

/** Of a row, or between rows. */
type RowLine = Line & { readonly row?: ListRow }

export function checkpointTable(groups: readonly Group<ListRow>[], layout: ListLayout): string {
  const { screen } = layout
  // Without prompts nothing has to be told apart by its indent.
  const outdent = groups.some(({ type }) => type === 'prompt') ? 0 : SINGLE_INDENT
  const lines = groups
    .flatMap((group) => linesOf(group, layout))
    .map((line) => ({ ...line, indent: line.indent - outdent }))
  const labels = Math.max(0, ...lines.map(({ row }) => row?.label?.length ?? 0))
  const letters = Math.max(0, ...lines.map(({ row }) => row?.shortId.length ?? 0))
  const ids = idWidth(letters, screen.paint)
  const margin = (labels > 0 ? labels + 2 : 0) + ids + 2
  const texts = layoutLines(lines, { screen, margin })
  return lines
    .map(({ row }, at) => {
      const left = row === undefined ? ' '.repeat(margin) : leftOf(row, { labels, ids, screen })
      return (left + texts[at]).trimEnd()
    })
    .join('\n')
}

function linesOf(group: Group<ListRow>, layout: ListLayout): RowLine[] {
  const { shown, promptsOnly = false } = layout
  if (group.type === 'row') return shown(group.row) ? [singleLine(group.row, layout)] : []
  const { prompt, steps, isContinued } = group
  const chosen = promptsOnly ? [] : steps.filter(shown)
  if (chosen.length === 0 && (isContinued || !shown(prompt))) return []
  const hidden = layout.countsHidden === true ? steps.length - chosen.length : 0
  return [
    isContinued ? continuedLine(prompt) : promptLine(prompt, { layout, steps: steps.length }),
    ...(hidden > 0 && !promptsOnly ? [noteLine(`… ${counted(hidden, 'earlier step')}`)] : []),
    ...chosen.map((row) => stepLine(row, layout)),
  ]
}

function promptLine(
  row: ListRow,
  { layout, steps }: { readonly layout: ListLayout; readonly steps: number },
): RowLine {
  const { screen, promptsOnly = false } = layout
  const changes = changesPart(row, screen.paint)
  const author = changes === undefined || !layout.hasAuthors ? undefined : row.author
  return {
    row,
    indent: 0,
    mark: `● ${marksOf(row)}`,
    text: printableLine(row.reason ?? ''),
    colour: 'bold',
    right: [
      ...(changes === undefined ? [] : [withAuthor(changes, author)]),
      ...(promptsOnly && steps > 0 ? [plainPart(counted(steps, 'step'))] : []),
      ...folderPart(row),
      ...(row.sessionAgent === null ? [] : [dimPart(row.sessionAgent, screen.paint)]),
      agePart(row, screen),
    ],
  }
}

function continuedLine(prompt: ListRow): RowLine {
  return { ...noteLine(`${printableLine(prompt.reason ?? '')} (continued)`), indent: 0, mark: '● ' }
}

function noteLine(text: string): RowLine {
  return { indent: STEP_INDENT, mark: '', text, colour: 'dim', right: [] }
}

function stepLine(row: ListRow, { screen }: ListLayout): RowLine {
  const changes = changesPart(row, screen.paint)
  const other = row.author === row.sessionAgent ? null : row.author
  return {
    row,
    indent: STEP_INDENT,
    mark: marksOf(row),
    text: printableLine(row.reason ?? ''),
    right: [
      ...(changes === undefined ? [] : [withAuthor(changes, other)]),
      ...(screen.width >= AGED_STEPS_WIDTH ? [agePart(row, screen)] : []),
    ],
  }
}

function singleLine(row: ListRow, { screen, hasAuthors }: ListLayout): RowLine {
  const changes = changesPart(row, screen.paint)
  const author = hasAuthors && row.author !== 'rewind' ? row.author : null
  const owner = author === null ? [] : [plainPart(author)]
  return {
    row,
    indent: SINGLE_INDENT,
    mark: marksOf(row),
    text: reasonOf(row),
    right: [
      ...sessionPart(row),
      ...(changes === undefined ? owner : [withAuthor(changes, author)]),
      ...folderPart(row),
      agePart(row, screen),
    ],
  }
}

/** `fix-login:3`. The sessions of coding agents have ids that say nothing to a reader: their agent is named instead. */
function sessionPart({ session, step, label, moment, sessionAgent, author }: ListRow): Part[] {
  if (session === null || label?.startsWith('step') === true) return []
  if (moment !== null)
    return author === sessionAgent || sessionAgent === null ? [] : [plainPart(sessionAgent)]
  return [plainPart(`${cutEnd(printableLine(session), NAME_WIDTH)}:${step}`, { isLesser: true })]
}

/** Ids of 18 letters in reasons of older stores are shortened; the kind is added where the reason does not say it. */
export function reasonOf(row: CheckpointView): string {
  const { reason, kind, name, hasFiles } = row
  const text = printableLine(reason ?? '')
  if (text === '' && kind === 'save' && name === null) return hasFiles ? '(no reason)' : '(state)'
  if (kind === 'save') return text
  const short = text.replace(/\b([bcdfghjklmnpqrstvwxz]{8})[bcdfghjklmnpqrstvwxz]{10}\b/g, '$1')
  return short.startsWith(kind) ? short : `${kind}${short === '' ? '' : `: ${short}`}`
}

/** Names and pins are never cut away: only the text behind them is. */
export function marksOf({ damaged, pinned, name }: CheckpointView): string {
  const shown = name === null ? '' : `[${cutEnd(printableLine(name), NAME_WIDTH)}] `
  return `${damaged === true ? '[damaged] ' : ''}${pinned ? '[pinned] ' : ''}${shown}`
}

const ALONE: readonly (string | null)[] = [null, 'you', 'rewind']

/** False where only the user has changed files: naming authors would repeat `you` in every row. */
export function severalAuthors(rows: readonly CheckpointView[]): boolean {
  return rows.some(({ author }) => !ALONE.includes(author))
}

/** `+1 −2`, or `3 files +12 −3`; undefined where no file changed. */
export function changesText({
  hasFiles,
  files,
  insertions,
  deletions,
}: CheckpointView): string | undefined {
  if (!hasFiles || files + insertions + deletions === 0) return undefined
  const lines = [
    ...(insertions > 0 ? [`+${grouped(insertions)}`] : []),
    ...(deletions > 0 ? [`−${grouped(deletions)}`] : []),
  ]
  const isPlain = files === 1 && lines.length > 0
  return [...(isPlain ? [] : [counted(files, 'file')]), ...lines].join(' ')
}

export function folderText(project: string | null | undefined): string {
  if (project === undefined) return ''
  return project === null ? '(no folder)' : cutStart(pathForPeople(project), FOLDER_WIDTH)
}

function changesPart(row: ListRow, paint: Paint): Part | undefined {
  const text = changesText(row)
  if (text === undefined) return undefined
  const painted = text
    .split(' ')
    .map((word) =>
      word.startsWith('+')
        ? paint('green', word)
        : word.startsWith('−')
          ? paint('red', word)
          : word,
    )
    .join(' ')
  return { text, painted, isLesser: isPrompt(row) }
}

function withAuthor(part: Part, author: string | null | undefined): Part {
  if (author === null || author === undefined) return part
  const name = printableLine(author)
  return { ...part, text: `${name} ${part.text}`, painted: `${name} ${part.painted}` }
}

function plainPart(text: string, { isLesser = false } = {}): Part {
  const line = printableLine(text)
  return { text: line, painted: line, isLesser }
}

function dimPart(text: string, paint: Paint): Part {
  const line = printableLine(text)
  return { text: line, painted: paint('dim', line), isLesser: false }
}

function agePart({ createdAt }: ListRow, { now, paint }: Screen): Part {
  return dimPart(relativeTime(createdAt, now), paint)
}

function folderPart({ project }: ListRow): Part[] {
  if (project === undefined) return []
  return [plainPart(cutStart(folderText(project), ROW_FOLDER_WIDTH))]
}

function leftOf(
  row: ListRow,
  {
    labels,
    ids,
    screen,
  }: { readonly labels: number; readonly ids: number; readonly screen: Screen },
): string {
  const { paint } = screen
  const label = labels > 0 ? `${padStart(row.label ?? '', labels)}  ` : ''
  const gap = ids - idWidth(row.shortId.length, paint)
  return `${label}${paintId(row, paint)}${' '.repeat(gap)}  `
}
