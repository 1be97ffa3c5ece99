// The agent's part of a checkpoint: its position in the session, a summary of its state, and the tool calls up to it.
import type { Ledger } from '../../ledger/index.js'
import { type Checkpoint, SavestateError, type StateId } from '../../model/index.js'
import type { StoreContext } from '../operation/context.js'

/** The kind and length of a state, and of the value of each of its keys. */
export type StateSummary = {
  readonly kind: string
  readonly length: number | null
  readonly keys: readonly {
    readonly key: string
    readonly kind: string
    readonly length: number | null
  }[]
}

export type ToolView = {
  readonly id: string
  readonly name: string
  readonly status: string
  readonly idempotencyKey: string
  readonly step: number
  readonly startedAt: Date
}

export type AgentDetails = {
  readonly parent: string | null
  readonly turn: number
  readonly toolCall: string | null
  readonly schemaVersion: number | null
  readonly metadata: unknown
  readonly state: StateSummary | null
  /** The newest calls up to this checkpoint. */
  readonly tools: readonly ToolView[]
}

const MAX_TOOLS = 50

export function agentDetails(
  { ledger }: StoreContext,
  { session }: Checkpoint,
): AgentDetails | null {
  if (session === null) return null
  const tools = ledger.tools.outlines(session.key, { upToStep: session.step, limit: MAX_TOOLS })
  return {
    parent: session.parent,
    turn: session.turn,
    toolCall: session.toolCall,
    schemaVersion: session.schemaVersion,
    metadata: session.metadata ?? null,
    state: session.state === null ? null : summarizeState(ledger, session.state),
    tools: tools.map(({ id, name, status, idempotencyKey, step, startedAtMs }) => ({
      id,
      name,
      status,
      idempotencyKey,
      step,
      startedAt: new Date(startedAtMs),
    })),
  }
}

/** Without the key only the state stays hidden; the rest of the checkpoint can be shown. */
function summarizeState({ states }: Ledger, state: StateId): StateSummary {
  try {
    return states.summary(state)
  } catch (error) {
    const isLocked =
      error instanceof SavestateError &&
      (error.code === 'KEY_MISSING' || error.code === 'KEY_WRONG')
    if (!isLocked) throw error
    return { kind: 'encrypted', length: null, keys: [] }
  }
}
