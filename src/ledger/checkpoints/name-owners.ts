// Records who named a checkpoint. An automatic prune keeps every checkpoint that the user named, and an agent cannot move a name of the
// user to another checkpoint. By default, the user named a checkpoint outside of sessions, and the program that saved it named one in a
// session. Only exceptions are stored.
import type { CheckpointId, NamedBy, ProjectId } from '../../model/index.js'
import { LedgerTable } from '../ledger-table.js'

/** A condition on a row of `checkpoints` that has a name. */
export const IS_NAMED_BY_USER = `coalesce(
  checkpoints.named_by, CASE WHEN checkpoints.session IS NULL THEN 'user' ELSE 'program' END) = 'user'`

export class NameOwners extends LedgerTable {
  record(id: CheckpointId, by: NamedBy): void {
    this.database.run('UPDATE checkpoints SET named_by = ? WHERE id = ?', by, id)
  }

  /** Whether the user gave this name to a checkpoint of the project. */
  isUsers(project: ProjectId, name: string): boolean {
    const sql = `SELECT 1 FROM checkpoints WHERE project = ? AND name = ? AND ${IS_NAMED_BY_USER} LIMIT 1`
    return this.database.get(sql, project, name) !== undefined
  }

  /** Whether the user gave this checkpoint its name. */
  hasUsersName(id: CheckpointId): boolean {
    const sql = `SELECT 1 FROM checkpoints WHERE id = ? AND name IS NOT NULL AND ${IS_NAMED_BY_USER}`
    return this.database.get(sql, id) !== undefined
  }
}
