// Selects what to remove so that the store fits its size limit. Pure: the caller provides the sizes.

/** The removable parts of a project, or of a session without a project, in removal order. */
export type Giver<Part> = { readonly candidates: readonly Part[] }

/** The store as it would be. */
export type SizeModel<Part> = {
  /** The bytes of the whole store without what was removed. */
  total(): number
  bytesOf(giver: Giver<Part>): number
  remove(part: Part): void
  restore(part: Part): void
}

export type SizeLimits = {
  readonly capBytes: number
  /** A project that takes no more than this gives nothing: a larger one must not cost it its history. */
  readonly fairBytes: number
}

/**
 * The fewest parts, in the order of the candidates, without which the store fits; undefined if it would not fit without
 * all of them. The project that takes the most gives first, so a small project keeps its history as long as a larger one
 * can give. In the end `model` is without exactly those.
 */
export function chooseForSize<Part>(
  givers: readonly Giver<Part>[],
  model: SizeModel<Part>,
  { capBytes, fairBytes }: SizeLimits,
): readonly Part[] | undefined {
  const queues = givers.map((giver) => ({ giver, left: [...giver.candidates] }))
  const chosen: Part[] = []
  while (model.total() > capBytes) {
    const open = queues.filter(
      ({ giver, left }) => left.length > 0 && model.bytesOf(giver) > fairBytes,
    )
    const [first, ...others] = open
    if (first === undefined) {
      for (const part of chosen) model.restore(part)
      return undefined
    }
    const largest = others.reduce(
      (most, it) => (model.bytesOf(it.giver) > model.bytesOf(most.giver) ? it : most),
      first,
    )
    const part = largest.left.shift()
    if (part === undefined) break
    model.remove(part)
    chosen.push(part)
  }
  return withoutNeedless(chosen, model, capBytes)
}

/** Takes parts that free too little out of the selection again, the last chosen first. */
function withoutNeedless<Part>(
  chosen: readonly Part[],
  model: SizeModel<Part>,
  capBytes: number,
): readonly Part[] {
  const needed = chosen.toReversed().filter((part) => {
    model.restore(part)
    if (model.total() <= capBytes) return false
    model.remove(part)
    return true
  })
  return needed.reverse()
}

/** The largest size that all of these can have so that they fit together; those that are smaller keep what they have. */
export function fairShare(sizes: readonly number[], availableBytes: number): number {
  let left = Math.max(0, availableBytes)
  const ascending = sizes.toSorted((a, b) => a - b)
  for (const [place, size] of ascending.entries()) {
    const share = left / (ascending.length - place)
    if (size > share) return share
    left -= size
  }
  return Infinity
}
