// Removes threads, or parts of them. A checkpoint stays as long as a remaining one depends on it: the value of a delta
// channel consists of the writes since an earlier checkpoint.
import type { StoredGraphCheckpoint } from '../../ledger/index.js'
import type { StoreContext } from '../operation/context.js'
import { readValues } from './graph-threads.js'

/** Keeps the latest checkpoint of each namespace and those it depends on. Returns how many were removed. */
export function keepLatest(context: StoreContext, thread: string): number {
  return removeFrom(context, {
    thread,
    choose: (all) => {
      const latest = new Map<string, string>()
      for (const { ns, id } of all) if (id > (latest.get(ns) ?? '')) latest.set(ns, id)
      return all.filter(({ ns, id }) => latest.get(ns) !== id)
    },
  })
}

/** Returns how many checkpoints were removed, in all threads. */
export function deleteRuns(context: StoreContext, runs: readonly string[]): number {
  const isOfRuns = ({ run }: StoredGraphCheckpoint) => run !== null && runs.includes(run)
  const threads = context.ledger.threads.threadsOfRuns(runs)
  const removed = threads.map((thread) =>
    removeFrom(context, { thread, choose: (all) => all.filter(isOfRuns) }),
  )
  return removed.reduce((sum, count) => sum + count, 0)
}

type Removal = {
  readonly thread: string
  readonly choose: (all: readonly StoredGraphCheckpoint[]) => readonly StoredGraphCheckpoint[]
}

function removeFrom(context: StoreContext, { thread, choose }: Removal): number {
  const { ledger } = context
  return ledger.transaction(() => {
    const all = ledger.threads.all(thread)
    const removed = new Set(choose(all))
    keepDependencies(context, { all, removed })
    const sends = mapSends(all.filter((checkpoint) => !removed.has(checkpoint)))
    for (const checkpoint of removed)
      ledger.threads.remove(checkpoint, { keepWritesTo: sends.get(keyOf(checkpoint)) })
    return removed.size
  })
}

/** Maps each parent to the channel whose writes its children need. */
function mapSends(staying: readonly StoredGraphCheckpoint[]): Map<string, string> {
  return new Map(
    staying.flatMap(({ ns, parent, sends }) =>
      parent === null || sends === null ? [] : [[keyOf({ ns, id: parent }), sends]],
    ),
  )
}

/** Removes from `removed` the checkpoints that remaining ones depend on. */
function keepDependencies(
  context: StoreContext,
  {
    all,
    removed,
  }: {
    readonly all: readonly StoredGraphCheckpoint[]
    readonly removed: Set<StoredGraphCheckpoint>
  },
): void {
  const byPlace = new Map(all.map((checkpoint) => [keyOf(checkpoint), checkpoint]))
  const parentOf = ({ ns, parent }: StoredGraphCheckpoint) =>
    parent === null ? undefined : byPlace.get(keyOf({ ns, id: parent }))
  const staying = all.filter((checkpoint) => !removed.has(checkpoint))
  // A dependency must be complete too, so the loop appends to the list that it iterates over.
  for (const kept of staying) {
    const open = new Set(kept.deltas)
    const seen = new Set([kept])
    let above = parentOf(kept)
    // Stop at a parent that stays anyway: its own iteration continues upwards.
    while (above !== undefined && open.size > 0 && removed.has(above) && !seen.has(above)) {
      seen.add(above)
      removed.delete(above)
      staying.push(above)
      for (const channel of readValues(context, { state: above.state, channels: [...open] }).keys())
        open.delete(channel)
      above = parentOf(above)
    }
  }
}

function keyOf({ ns, id }: Pick<StoredGraphCheckpoint, 'ns' | 'id'>): string {
  return JSON.stringify([ns, id])
}
