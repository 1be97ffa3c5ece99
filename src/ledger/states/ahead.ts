// States that are written before the checkpoint that will hold them, while its files are captured. A collection meanwhile would
// take them for nobody's, and the caller may have changed by then what they were made of. So each is noted, with who writes it:
// once another has the session that one can never write again (I11), and the note counts for nothing.
import { parseStateId, type SessionKey, type StateId } from '../../model/index.js'
import type { Database } from '../../system/index.js'
import { number } from '../rows.js'

export type Writer = { readonly key: SessionKey; readonly fence: number }

/** For a query of a collection. */
export const STATES_AHEAD = 'SELECT state FROM pending_states'

/** Inside the transaction that writes it. `isAlone`: nothing else of this writer is under way, so what it noted before counts for nothing. */
export function noteAhead(
  database: Database,
  state: StateId,
  { writer, isAlone }: { readonly writer: Writer; readonly isAlone: boolean },
): number {
  const { key, fence } = writer
  if (isAlone)
    database.run('DELETE FROM pending_states WHERE session = ? AND fence = ?', key, fence)
  const sql = 'INSERT INTO pending_states (session, fence, state) VALUES (?, ?, ?) RETURNING id'
  return number(database.get(sql, key, fence, state) ?? {}, 'id')
}

/** Inside the transaction that gives it a checkpoint. Undefined if it is gone: an older version collects it. */
export function takeAhead(database: Database, note: number): StateId | undefined {
  const row = database.get(
    'SELECT id FROM states WHERE id = (SELECT state FROM pending_states WHERE id = ?)',
    note,
  )
  database.run('DELETE FROM pending_states WHERE id = ?', note)
  return row === undefined ? undefined : parseStateId(number(row, 'id'))
}

/** Those of writers that have lost their session, or were killed and another has it since. */
export function dropNotesOfOthers(database: Database): void {
  database.run(
    `DELETE FROM pending_states WHERE NOT EXISTS (SELECT 1 FROM sessions
       WHERE deleted_at IS NULL AND key = pending_states.session AND sessions.fence = pending_states.fence)`,
  )
}
