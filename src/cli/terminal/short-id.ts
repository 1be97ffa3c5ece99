// Ids are random, so four letters nearly always identify one. Print the shortest unique prefix.
import type { Request } from '../runtime/command.js'
import { hasColors, type Paint } from './colors.js'

/** Letters to print if colors mark the unique prefix. */
const SHOWN_LETTERS = 8

export async function shortIdOf({ store }: Pick<Request, 'store'>, id: string): Promise<string> {
  return (await (await store()).shortIds([id])).get(id) ?? id
}

/** As in jj: the unique prefix in color, then a few dim letters. Without colors only the prefix. */
export function paintId(
  { id, shortId }: { readonly id: string; readonly shortId: string },
  paint: Paint,
): string {
  if (!hasColors(paint)) return shortId
  return paint('yellow', shortId) + paint('dim', id.slice(shortId.length, SHOWN_LETTERS))
}

/** The columns that `paintId` needs for prefixes of at most `letters`. */
export function idWidth(letters: number, paint: Paint): number {
  return hasColors(paint) ? Math.max(SHOWN_LETTERS, letters) : letters
}
