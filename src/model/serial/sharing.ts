// Who has been written already, and what leads back to whom. An instance of a registered class is made
// from its finished value, so nothing in that value may lead back to the instance or to what is around it.

export type Written = {
  /** Its first and last part in the text; no last part while it is still being written. */
  readonly start: number
  end: number | undefined
  /** How many objects it stands in. */
  readonly depth: number
  /** Set once it occurs a second time. */
  id: number | undefined
  /** The outermost object that it leads back to. */
  leadsTo: Written | undefined
}

/** The outermost unfinished object that is, or can be reached from, this one. */
export function unfinishedFrom(from: Written): Written | undefined {
  const finished: Written[] = []
  let target: Written | undefined = from
  while (target !== undefined && target.end !== undefined) {
    finished.push(target)
    target = target.leadsTo
  }
  // The next search from here need not go the whole way again: long lists would take quadratic time.
  for (const written of finished) written.leadsTo = target
  return target
}

/** Notes that `from` holds something from which `target` can be reached. */
export function noteLead(from: Written, target: Written | undefined): void {
  if (target === undefined || target.depth >= from.depth) return
  if (from.leadsTo === undefined || target.depth < from.leadsTo.depth) from.leadsTo = target
}
