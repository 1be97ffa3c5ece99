// Ids are random from the first letter: four letters nearly always identify one. Print the shortest prefix that does.
import type { Request } from '../runtime/command.js'
import { hasColours, type Paint } from './colors.js'

/** Letters shown where colors mark the part that is enough to type. */
const SHOWN_LETTERS = 8

/** The shortest prefix that identifies a checkpoint. */
export async function shortIdOf({ store }: Pick<Request, 'store'>, id: string): Promise<string> {
  return (await (await store()).shortIds([id])).get(id) ?? id
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
