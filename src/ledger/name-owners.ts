// Records who gave a checkpoint its name. An automatic prune keeps every checkpoint that the user named, and an agent cannot give a
// name of the user's to another one. Recorded only where the row does not say it: a name of a checkpoint outside of sessions
// is the user's, and one in a session was given by the program that saved it.
import type { CheckpointId, NamedBy, ProjectId } from '../model/index.js'
import type { Database } from '../system/index.js'

const KEY = 'named-by '

/** A condition on a row of `checkpoints` that has a name. */
export const IS_NAMED_BY_USER = `coalesce(
  (SELECT value FROM facts WHERE key = '${KEY}' || checkpoints.id),
  CASE WHEN checkpoints.session IS NULL THEN 'user' ELSE 'program' END) = 'user'`

export class NameOwners {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  record(id: CheckpointId, by: NamedBy): void {
    this.#database.run('INSERT OR REPLACE INTO facts (key, value) VALUES (?, ?)', KEY + id, by)
  }

  /** Whether the user gave this name to a checkpoint of the project. */
  isUsers(project: ProjectId, name: string): boolean {
    const sql = `SELECT 1 FROM checkpoints WHERE project = ? AND name = ? AND ${IS_NAMED_BY_USER} LIMIT 1`
    return this.#database.get(sql, project, name) !== undefined
  }

  /** Whether the user gave this checkpoint the name that it has. */
  hasUsersName(id: CheckpointId): boolean {
    const sql = `SELECT 1 FROM checkpoints WHERE id = ? AND name IS NOT NULL AND ${IS_NAMED_BY_USER}`
    return this.#database.get(sql, id) !== undefined
  }
}

/** Part of a collection: records of checkpoints that are gone. */
export function forgetNameOwners(database: Database): void {
  database.run(
    `DELETE FROM facts WHERE key >= '${KEY}' AND key < 'named-by!'
     AND substr(key, ${KEY.length + 1}) NOT IN (SELECT id FROM checkpoints)`,
  )
}
