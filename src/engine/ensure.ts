// At most one automatic checkpoint of the files for each turn, and only if something changed since the last.
import * as z from 'zod/mini'
import { captureForRecord } from './capture.js'
import { withProjectLock } from './context.js'
import { lookAt } from './look.js'
import { hasNothingNew } from './nothing-new.js'
import { sessionOperation } from './operation.js'
import { recover } from './recover.js'
import { projectOf, sessionNow } from './session-context.js'
import { commit, type SessionSaveResult } from './session-save.js'

export type EnsureResult =
  | SessionSaveResult
  /** The turn had one already, or nothing has changed. */
  | { readonly created: false; readonly reason: 'once-per-turn' | 'unchanged' }

/** The turns that need nothing more, for as long as a session is open. */
export class EnsuredTurns {
  #turn: number | undefined

  has(turn: number): boolean {
    return this.#turn === turn
  }

  /** Only after it has worked: a refused or failed attempt does not use up the turn. */
  add(turn: number): void {
    this.#turn = turn
  }
}

export const ensure = sessionOperation({
  name: 'ensure',
  summary: 'Save the files once in this turn, if they changed',
  effect: 'adds',
  input: () => z.strictObject({ reason: z.string(), turns: z.instanceof(EnsuredTurns) }),
  async run(context, { reason, turns }, hooks): Promise<EnsureResult> {
    const project = projectOf(context)
    const { turn } = sessionNow(context)
    if (turns.has(turn)) return { created: false, reason: 'once-per-turn' }
    return withProjectLock(context, project, {
      purpose: 'save',
      work: async () => {
        await recover(context, project, hooks)
        const captured = await captureForRecord(context, project, hooks)
        // Called before the agent changes anything.
        const look = lookAt(context, project, { type: 'look' })
        const newest = context.ledger.checkpoints.newestFiles(project.id)
        if (hasNothingNew(context, newest, captured)) {
          turns.add(turn)
          look.foundNothing()
          context.ledger.projectRecords.touch(project.id, context.clock.nowMs())
          return { created: false, reason: 'unchanged' }
        }
        const writeState = (base: Parameters<Parameters<typeof commit>[2]['writeState']>[0]) => base
        const saved = await commit(
          context,
          { reason, files: true },
          { hooks, captured, look, writeState },
        )
        turns.add(turn)
        return saved
      },
    })
  },
})
