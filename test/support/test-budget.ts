// How many cases a search tries. `npm test` tries a part of the cases of `npm run test:long`, with the same seeds, so the long run
// finds everything that the short one finds.

export const isLong = process.env['SAVESTATE_LONG'] !== undefined

/** The number of cases to try: all in the long run, otherwise a quarter by default. */
export function tries(long: number, short = Math.ceil(long / 4)): number {
  return isLong ? long : short
}
