// The word that someone most likely meant.

/** The known word with the fewest edits, if they are few enough to be a slip. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  const ranked = known
    .map((candidate) => ({ candidate, distance: distance(word.toLowerCase(), candidate) }))
    .sort((a, b) => a.distance - b.distance)
  const [best] = ranked
  if (best === undefined) return undefined
  const isSlip = best.distance <= Math.max(1, Math.floor(best.candidate.length / 3))
  return isSlip ? best.candidate : undefined
}

/** Letters added, dropped or changed, and neighbours swapped. */
function distance(a: string, b: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let row = 1; row <= a.length; row++) {
    const current = [row]
    for (let column = 1; column <= b.length; column++) {
      const isSame = a[row - 1] === b[column - 1]
      const isSwapped = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]
      current.push(
        Math.min(
          (last[column] ?? 0) + 1,
          (current[column - 1] ?? 0) + 1,
          (last[column - 1] ?? 0) + (isSame ? 0 : 1),
          isSwapped && row > 1 && column > 1 ? (beforeLast[column - 2] ?? 0) + 1 : Infinity,
        ),
      )
    }
    beforeLast = last
    last = current
  }
  return last[b.length] ?? Infinity
}
