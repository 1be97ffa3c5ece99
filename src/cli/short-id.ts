// Ids begin with their time, so neighbours look alike: show as many letters as tell them apart.
import type { Project } from '../index.js'

const MIN_LETTERS = 8

/** The start of each id that no other of them has. */
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

/** Each with the start of its id that no other of all has: of some rows of a list, what is typed is looked up in the whole. */
export function withShortIds<Row extends { readonly id: string }>(
  rows: readonly Row[],
  all: readonly { readonly id: string }[],
): (Row & { readonly shortId: string })[] {
  const ids = shortIds([...rows, ...all].map(({ id }) => id))
  return rows.map((row) => ({ ...row, shortId: ids.get(row.id) ?? row.id }))
}

/** The start of one id that no other checkpoint of the project has. */
export async function shortIdOf(project: Project, id: string): Promise<string> {
  const { checkpoints } = await project.list()
  return shortIds([id, ...checkpoints.map((checkpoint) => checkpoint.id)]).get(id) ?? id
}

function sharedLetters(a: string, b: string): number {
  let count = 0
  while (count < a.length && a[count] === b[count]) count++
  return count
}
