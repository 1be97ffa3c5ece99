// Saves the files before the first change of a turn, for callers that cannot tell which tool changes files.
import * as z from 'zod/mini'
import { sessionOperation } from '../operation/operation.js'
import { projectOf, readSession } from './session-context.js'
import { addCheckpoint, type SessionSaveResult } from './session-save.js'

export type OncePerTurnResult =
  | SessionSaveResult
  | { readonly created: false; readonly reason: 'once-per-turn' | 'unchanged' }

/** The last turn whose files were saved; kept as long as the session is open. */
export class SavedTurns {
  turn: number | undefined
}

export const saveOncePerTurn = sessionOperation({
  name: 'saveOncePerTurn',
  summary: 'Save the files once in this turn, if they changed',
  effect: 'adds',
  input: () => z.strictObject({ reason: z.string(), turns: z.instanceof(SavedTurns) }),
  async run(context, { reason, turns }, callbacks): Promise<OncePerTurnResult> {
    projectOf(context)
    const { turn } = readSession(context)
    if (turns.turn === turn) return { created: false, reason: 'once-per-turn' }
    const saved = await addCheckpoint(
      context,
      { reason, files: true, ifChanged: true },
      // The agent has not changed anything in this turn yet.
      { callbacks, writeState: (base) => base, moment: { type: 'look' } },
    )
    // Only after a success: after a failure the next call tries again.
    turns.turn = turn
    return saved.created ? saved : { created: false, reason: 'unchanged' }
  },
})
