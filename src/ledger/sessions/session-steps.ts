// Reads the steps of a session for its prune, and removes them. Both work in batches, newest first, so that each transaction is short
// however long the session is.
import {
  type CheckpointId,
  parseCheckpointId,
  type PrunableStep,
  type SessionKey,
} from '../../model/index.js'
import { mergeAuthorsIntoNext } from '../checkpoints/authors.js'
import { reparent } from '../checkpoints/row-removal.js'
import { number, optional, text } from '../rows.js'
import { LedgerTable } from '../ledger-table.js'

export type SessionStep = PrunableStep & { readonly step: number }

export class SessionSteps extends LedgerTable {
  /**
   * The steps before `step`, newest first. A checkpoint that an undo or redo needs counts as pinned. So does the one just before
   * it, because an undo restores its state.
   */
  before(
    session: SessionKey,
    { step, limit }: { readonly step: number; readonly limit: number },
  ): SessionStep[] {
    const rows = this.database.all(
      `SELECT id, step, name, pinned OR id IN (SELECT safety FROM operations UNION SELECT result FROM operations)
         OR EXISTS (SELECT 1 FROM checkpoints AS next WHERE next.session = it.session AND next.step = it.step + 1
           AND next.id IN (SELECT result FROM operations)) AS pinned
       FROM checkpoints AS it WHERE session = ? AND step < ? ORDER BY step DESC LIMIT ?`,
      session,
      step,
      limit,
    )
    return rows.map((row) => ({
      id: parseCheckpointId(text(row, 'id')),
      step: number(row, 'step'),
      name: optional(row, 'name'),
      pinned: number(row, 'pinned') === 1,
    }))
  }

  /**
   * Inside a transaction. Removes these checkpoints of a session, all of them at step `from` or later, and gives their parents to
   * their children. A parent has a lower step than its children, so only the rows from that step on are searched for children:
   * this batch, and the few that earlier batches kept. The first row of a forked session refers to a parent in the original one.
   */
  drop(
    session: SessionKey,
    { ids, from }: { readonly ids: readonly CheckpointId[]; readonly from: number },
  ): void {
    if (ids.length === 0) return
    const list = JSON.stringify(ids)
    mergeAuthorsIntoNext(this.database, ids)
    const children = this.database.all(
      `SELECT id, parent FROM checkpoints
         WHERE session = ?1 AND step >= ?2 AND parent IN (SELECT value FROM json_each(?3))
       UNION ALL
       SELECT first.id, first.parent FROM sessions AS fork JOIN checkpoints AS first ON first.session = fork.key
         AND first.step = (SELECT min(step) FROM checkpoints WHERE session = fork.key)
         WHERE fork.forked_from IS NOT NULL AND fork.key <> ?1
         AND first.parent IN (SELECT value FROM json_each(?3))`,
      session,
      from,
      list,
    )
    reparent(this.database, { ids, children })
    this.database.run('DELETE FROM checkpoints WHERE id IN (SELECT value FROM json_each(?))', list)
  }
}
