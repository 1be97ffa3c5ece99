// Ids are random from the first letter: four letters nearly always identify one. Print the shortest prefix that does.
import type { Project } from '../index.js'
import { hasColours, type Paint } from './paint.js'

/** The shortest prefix that a reference may have. */
const MIN_LETTERS = 4
/** Letters shown where colors mark the part that is enough to type. */
const SHOWN_LETTERS = 8

/** The shortest prefix of each id, of four letters or more, that no other id in the list has. */
export function shortIds(ids: readonly string[]): ReadonlyMap<string, string> {
  const sorted = [...new Set(ids)].sort()
  return new Map(
    sorted.map((id, index) => {
      const shared = Math.max(
        sharedLetters(id, sorted[index - 1] ?? ''),
        sharedLetters(id, sorted[index + 1] ?? ''),
      )
      return [id, id.slice(0, Math.max(MIN_LETTERS, shared + 1))]
    }),
  )
}

/** Adds to each row the prefix that is unique among all: a reference is resolved among all, not among the shown rows. */
export function withShortIds<Row extends { readonly id: string }>(
  rows: readonly Row[],
  all: readonly { readonly id: string }[],
): (Row & { readonly shortId: string })[] {
  const ids = shortIds([...rows, ...all].map(({ id }) => id))
  return rows.map((row) => ({ ...row, shortId: ids.get(row.id) ?? row.id }))
}

/** The shortest prefix that identifies one checkpoint in the project. */
export async function shortIdOf(project: Project, id: string): Promise<string> {
  const { checkpoints } = await project.list()
  return shortIds([id, ...checkpoints.map((checkpoint) => checkpoint.id)]).get(id) ?? id
}

/** As jj prints ids: the prefix to type in color, then a few dim letters. Without colors the prefix alone. */
export function paintId(
  { id, shortId }: { readonly id: string; readonly shortId: string },
  paint: Paint,
): string {
  if (!hasColours(paint)) return shortId
  return paint('yellow', shortId) + paint('dim', id.slice(shortId.length, SHOWN_LETTERS))
}

/** The columns that `paintId` needs for ids with prefixes of at most so many letters. */
export function idWidth(letters: number, paint: Paint): number {
  return hasColours(paint) ? Math.max(SHOWN_LETTERS, letters) : letters
}

function sharedLetters(a: string, b: string): number {
  let count = 0
  while (count < a.length && a[count] === b[count]) count++
  return count
}
