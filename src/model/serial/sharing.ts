// Tracks which objects have been written and which of them lead back to unfinished ones. An instance of a registered class is
// created from its finished value, so nothing in that value may lead back to the instance or its containers.

export type Written = {
  /** Indexes of its first and last part of the text; no last part while it is unfinished. */
  readonly start: number
  end: number | undefined
  /** How many objects contain it. */
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
  // Path compression: without it long lists would take quadratic time.
  for (const written of finished) written.leadsTo = target
  return target
}

/** Records that `target` can be reached from something in `from`. */
export function noteLead(from: Written, target: Written | undefined): void {
  if (target === undefined || target.depth >= from.depth) return
  if (from.leadsTo === undefined || target.depth < from.leadsTo.depth) from.leadsTo = target
}
