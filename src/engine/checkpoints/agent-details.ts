// What a checkpoint says of the agent: where it stands in its session, what its state consists of, and the
// tool calls up to it.
import type { Ledger } from '../../ledger/index.js'
import { type Checkpoint, SavestateError, type StateId } from '../../model/index.js'
import type { StoreContext } from '../operation/context.js'

/** What a state is, how long, and the same for what stands under each of its keys. */
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
    state: session.state === null ? null : summaryOf(ledger, session.state),
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

/** Everything else of the checkpoint can be shown without the key. */
function summaryOf({ states }: Ledger, state: StateId): StateSummary {
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
