// A list of checkpoints, grouped by prompt: number, id, text, and at the right the agent, the changes and the age. The picker
// uses the same lines.
import type { CheckpointView } from '../../index.js'
import { type Group, isPrompt } from './checkpoint-groups.js'
import { formatCount, formatNumber } from '../terminal/format-numbers.js'
import { layoutLines, type Line, type Part } from '../terminal/line-layout.js'
import type { Paint } from '../terminal/colors.js'
import { displayPath, printableLine } from '../terminal/escape.js'
import { relativeTime } from '../terminal/relative-time.js'
import type { Screen } from '../terminal/screen.js'
import { idWidth, paintId } from '../terminal/short-id.js'
import { testMarkBefore } from './test-mark.js'
import { cutEnd, cutStart, padStart } from '../terminal/text-width.js'

const FOLDER_WIDTH = 60
const ROW_FOLDER_WIDTH = 30
const NAME_WIDTH = 30
/** Aligned with the text of a prompt, which follows its mark. */
const SINGLE_INDENT = 2
const STEP_INDENT = 4
/** On a narrower screen steps have no age. */
const AGED_STEPS_WIDTH = 100

export type ListRow = CheckpointView & {
  readonly shortId: string
  /** The number or step to type; absent in lists of several projects. */
  readonly label?: string
  /** In lists of several projects; null for a checkpoint of no project. */
  readonly project?: string | null
}

/** Settings that all lines share. */
export type LineStyle = {
  readonly screen: Pick<Screen, 'width' | 'now' | 'paint'>
  /** Whether to name authors. */
  readonly hasAuthors: boolean
}

/** A line of a row; without `row`, a line between rows. */
type RowLine = Line & { readonly row?: ListRow }

type ListLayout = LineStyle & {
  /** The rows to print; the prompts of their groups are printed too. */
  readonly shown: (row: ListRow) => boolean
  /** Prints how many steps of a prompt are not shown. */
  readonly countsHidden?: boolean
  /** Prints only prompts and single rows, with the number of steps. */
  readonly promptsOnly?: boolean
}

export function checkpointTable(groups: readonly Group<ListRow>[], layout: ListLayout): string {
  const { screen } = layout
  // Without prompts no row needs an indent.
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
      if (row === undefined) return (' '.repeat(margin) + texts[at]).trimEnd()
      const label = labels > 0 ? `${padStart(row.label ?? '', labels)}  ` : ''
      const gap = ' '.repeat(ids - idWidth(row.shortId.length, screen.paint))
      return `${label}${paintId(row, screen.paint)}${gap}  ${texts[at]}`.trimEnd()
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
    isContinued
      ? continuedLine(prompt)
      : promptLine(prompt, layout, promptsOnly ? steps.length : 0),
    ...(hidden > 0 && !promptsOnly ? [noteLine(`… ${formatCount(hidden, 'earlier step')}`)] : []),
    ...chosen.map((row) => stepLine(row, layout)),
  ]
}

/** `steps`: the number of its calls, if that is to be printed. */
export function promptLine(row: ListRow, style: LineStyle, steps = 0): RowLine {
  const { screen, hasAuthors } = style
  const changes = changesPart(row, screen.paint)
  const author = changes === undefined || !hasAuthors ? undefined : row.author
  return {
    row,
    indent: 0,
    mark: `● ${marksOf(row)}`,
    text: printableLine(row.reason ?? ''),
    color: 'bold',
    right: [
      ...(changes === undefined ? [] : [withAuthor(changes, author)]),
      ...(steps > 0 ? [plainPart(formatCount(steps, 'step'))] : []),
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
  return { indent: STEP_INDENT, mark: '', text, color: 'dim', right: [] }
}

export function stepLine(row: ListRow, { screen }: LineStyle): RowLine {
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

export function singleLine(row: ListRow, { screen, hasAuthors }: LineStyle): RowLine {
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

/** `fix-login:3`. For the sessions of coding agents, whose ids are random, the name of the agent. */
function sessionPart({ session, step, label, moment, sessionAgent, author }: ListRow): Part[] {
  if (session === null || label?.startsWith('step') === true) return []
  if (moment !== null)
    return author === sessionAgent || sessionAgent === null ? [] : [plainPart(sessionAgent)]
  return [{ text: `${cutEnd(printableLine(session), NAME_WIDTH)}:${step}`, isLesser: true }]
}

/** Shortens ids of 18 letters in the messages of older stores, and adds the kind if the message does not start with it. */
function reasonOf(row: CheckpointView): string {
  const { reason, kind, name, hasFiles } = row
  const text = printableLine(reason ?? '')
  if (text === '' && kind === 'save' && name === null) return hasFiles ? '(no message)' : '(state)'
  if (kind === 'save') return text
  const short = text.replace(/\b([bcdfghjklmnpqrstvwxz]{8})[bcdfghjklmnpqrstvwxz]{10}\b/g, '$1')
  return short.startsWith(kind) ? short : `${kind}${short === '' ? '' : `: ${short}`}`
}

/** Names and pins are never cut off; only the text after them is. */
function marksOf({ damaged, filesPruned, failed, tests, pinned, name }: CheckpointView): string {
  const shown = name === null ? '' : `[${cutEnd(printableLine(name), NAME_WIDTH)}] `
  const lost = `${damaged === true ? '[damaged] ' : ''}${filesPruned === true ? '[files pruned] ' : ''}`
  // Failed tests are a failed call, which needs no second mark.
  const end = failed === true && tests !== 'failed' ? '[failed] ' : testMarkBefore(tests)
  return `${lost}${end}${pinned ? '[pinned] ' : ''}${shown}`
}

const ALONE: readonly (string | null)[] = [null, 'you', 'rewind']

/** False if only the user has changed files: then naming authors would repeat `you` in every row. */
export function hasSeveralAuthors(rows: readonly CheckpointView[]): boolean {
  return rows.some(({ author }) => !ALONE.includes(author))
}

/** `+1 −2`, or `3 files +12 −3`; undefined if no file changed. */
function changesText({
  hasFiles,
  files,
  insertions,
  deletions,
}: CheckpointView): string | undefined {
  if (!hasFiles || files + insertions + deletions === 0) return undefined
  const lines = [
    ...(insertions > 0 ? [`+${formatNumber(insertions)}`] : []),
    ...(deletions > 0 ? [`−${formatNumber(deletions)}`] : []),
  ]
  const isPlain = files === 1 && lines.length > 0
  return [...(isPlain ? [] : [formatCount(files, 'file')]), ...lines].join(' ')
}

export function folderText(project: string | null | undefined): string {
  if (project === undefined) return ''
  return project === null ? '(no folder)' : cutStart(displayPath(project), FOLDER_WIDTH)
}

function changesPart(row: ListRow, paint: Paint): Part | undefined {
  const text = changesText(row)
    ?.replace(/\+\S+/, (word) => paint('green', word))
    .replace(/−\S+/, (word) => paint('red', word))
  return text === undefined ? undefined : { text, isLesser: isPrompt(row) }
}

function withAuthor(part: Part, author: string | null | undefined): Part {
  if (author === null || author === undefined) return part
  return { ...part, text: `${printableLine(author)} ${part.text}` }
}

function plainPart(text: string): Part {
  return { text: printableLine(text) }
}

function dimPart(text: string, paint: Paint): Part {
  return { text: paint('dim', printableLine(text)) }
}

function agePart({ createdAt }: ListRow, { now, paint }: LineStyle['screen']): Part {
  return dimPart(relativeTime(createdAt, now), paint)
}

function folderPart({ project }: ListRow): Part[] {
  if (project === undefined) return []
  return [plainPart(cutStart(folderText(project), ROW_FOLDER_WIDTH))]
}
