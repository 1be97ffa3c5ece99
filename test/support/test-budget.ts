// How far a search goes. `npm test` tries a part of what `npm run test:long` tries, with the same seeds, so that what
// the short one finds the long one finds too.

export const isLong = process.env['SAVESTATE_LONG'] !== undefined

/** How many cases to try out of those that the long run tries; a quarter by default. */
export function tries(long: number, short = Math.ceil(long / 4)): number {
  return isLong ? long : short
}
