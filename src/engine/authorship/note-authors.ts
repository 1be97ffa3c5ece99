// Attributes the changes found by a capture to their authors, and records what the next attribution needs. A capture
// that finds no change makes no checkpoint but is recorded as well: otherwise the next change would be attributed to the
// author who was active before it.
import {
  type CheckpointId,
  attributeEvent,
  type ChangeEvent,
  type Project,
  type Task,
} from '../../model/index.js'
import type { StoreContext } from '../operation/context.js'

export type Attribution = {
  /** The authors of the changes, if there are any. */
  readonly authors: readonly string[]
  /** Call it inside the transaction that adds the checkpoint. */
  readonly made: (checkpoint: CheckpointId) => void
  /** Call it if nothing changed. */
  readonly recordNoChange: () => void
}

export type WorkEvent = Extract<ChangeEvent, { type: 'event' }>

/** The caller holds the project's lock and has just captured the folder. */
export function attributeChanges(
  { ledger, clock }: StoreContext,
  { id: project }: Project,
  moment: ChangeEvent,
): Attribution {
  const { authorship } = ledger
  const known = authorship.tasks(project)
  const { authors, tasks, settled } = attributeEvent(known, moment, clock.nowMs())
  const changed = (next: readonly Task[]) =>
    next.length !== known.length || next.some((task, n) => task !== known[n])
  const note = (made: CheckpointId | undefined) => {
    const next = tasks(made)
    if (changed(next)) authorship.setTasks(project, next)
    authorship.settle(settled)
  }
  return {
    authors,
    made: note,
    recordNoChange() {
      const isNews = changed(tasks(undefined)) || settled.length > 0
      // If this write is lost, a change is attributed to the user and an agent instead of one of them.
      if (isNews) ledger.transactionNoSync(() => note(undefined))
    },
  }
}
