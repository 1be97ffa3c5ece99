// The changes of a file, one question each, for `rewind --patch`. Pure.
import type { FilePatch, HunkChoice, HunkSelection, PatchHunk } from '../../index.js'

export type HunkItem = {
  /** Undefined for a file that is taken as a whole. */
  readonly hunk: number | undefined
  /** The changed lines of the hunk that belong to this item; undefined for all. */
  readonly lines?: readonly number[]
  /** As a patch from the folder to the checkpoint. */
  readonly shown: readonly string[]
  /** Undefined: not decided yet. */
  readonly isTaken?: boolean
}

export function itemsOf(patch: FilePatch): readonly HunkItem[] {
  if (patch.kind !== 'text' || patch.hunks.length === 0)
    return [{ hunk: undefined, shown: [describeWhole(patch)] }]
  return patch.hunks.map((hunk, index) => ({ hunk: index, shown: reverse(hunk) }))
}

function describeWhole({ kind, modeBefore, modeAfter, sizeBefore, sizeAfter }: FilePatch): string {
  if (sizeBefore === null) return 'The file was added since.'
  if (sizeAfter === null) return 'The file was removed since.'
  if (kind === 'unchanged') return `Its mode is ${modeAfter}, was ${modeBefore}.`
  return kind === 'link' ? 'The link points to another path.' : 'The contents differ.'
}

/** The parts of a hunk between its unchanged lines; undefined if there is only one. */
export function split(item: HunkItem, { hunks }: FilePatch): readonly HunkItem[] | undefined {
  const hunk = item.hunk === undefined ? undefined : hunks[item.hunk]
  if (hunk === undefined || item.lines !== undefined) return undefined
  const groups: number[][] = []
  let isOpen = false
  for (const [index, line] of hunk.lines.entries()) {
    if (line.startsWith('\\')) continue
    const isChange = !line.startsWith(' ')
    if (isChange && !isOpen) groups.push([])
    if (isChange) groups.at(-1)?.push(index)
    isOpen = isChange
  }
  if (groups.length < 2) return undefined
  return groups.map((lines) => ({ hunk: item.hunk, lines, shown: reverse(hunk, lines) }))
}

/** Undefined if nothing of the file is taken. */
export function choiceOf(
  items: readonly HunkItem[],
  { path, mark }: FilePatch,
): HunkChoice | undefined {
  const taken = items.filter(({ isTaken }) => isTaken === true)
  if (taken.length === 0) return undefined
  if (taken.some(({ hunk }) => hunk === undefined)) return { path, mark, hunks: 'all' }
  return { path, mark, hunks: selections(taken) }
}

function selections(taken: readonly HunkItem[]): readonly HunkSelection[] {
  const byHunk = new Map<number, readonly number[] | undefined>()
  for (const { hunk = 0, lines } of taken)
    byHunk.set(hunk, lines && [...(byHunk.get(hunk) ?? []), ...lines])
  return [...byHunk].map(([hunk, lines]) => (lines === undefined ? hunk : { hunk, lines }))
}

/** Other changes than `lines` are shown as they stay. */
function reverse(hunk: PatchHunk, lines?: readonly number[]): readonly string[] {
  const { oldStart, oldLines, newStart, newLines, heading } = hunk
  const head = `@@ -${newStart},${newLines} +${oldStart},${oldLines} @@ ${heading}`.trimEnd()
  const body: string[] = []
  // Removed lines come before the added lines next to them.
  const added: string[] = []
  let previous = body
  for (const [index, line] of hunk.lines.entries()) {
    const isOther = lines !== undefined && !lines.includes(index)
    const sign = line.startsWith('\\') ? '\\' : isOther && line.startsWith('+') ? ' ' : line[0]
    if (sign === ' ') body.push(...added.splice(0))
    if (sign === '-') previous = isOther ? [] : added
    else if (sign !== '\\') previous = body
    previous.push(`${SHOWN_SIGNS[sign ?? ' '] ?? sign}${line.slice(1)}`)
  }
  return [head, ...body, ...added]
}

const SHOWN_SIGNS: Readonly<Record<string, string>> = { '+': '-', '-': '+' }
