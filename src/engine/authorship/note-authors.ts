// What a look at the folder says of who has changed it since the look before, and what has to be remembered for the
// next one. A look that finds nothing changed makes no checkpoint; it is remembered all the same, or the next change
// would be put down to whoever was at work before it.
import {
  type CheckpointId,
  judge,
  type Moment,
  type Project,
  type Task,
} from '../../model/index.js'
import type { StoreContext } from '../operation/context.js'

export type Look = {
  /** Who has changed what is new, if something is. */
  readonly authors: readonly string[]
  /** Inside the transaction that adds the checkpoint. */
  readonly made: (checkpoint: CheckpointId) => void
  readonly foundNothing: () => void
}

export type MomentInput = Extract<Moment, { type: 'event' }>

/** The caller holds the project's lock and has just captured the folder. */
export function lookAt(
  { ledger, clock }: StoreContext,
  { id: project }: Project,
  moment: Moment,
): Look {
  const { authorship } = ledger
  const known = authorship.tasks(project)
  const { authors, tasks, settled } = judge(known, moment, clock.nowMs())
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
    foundNothing() {
      const isNews = changed(tasks(undefined)) || settled.length > 0
      // Lost, it only makes something the person's and an agent's that one of them has made alone.
      if (isNews) ledger.transactionNoSync(() => note(undefined))
    },
  }
}
