// The context that each sealed value outside of states is bound to. Forks and copied threads copy rows in SQL, and a copy must stay
// readable. Their contexts therefore have only columns that the copy and the original share.
import type { SealContext } from './sealing-key.js'

export function toolContext(
  column: 'args' | 'outcome',
  call: { readonly id: string; readonly idempotencyKey: string },
): SealContext {
  return ['tool_calls', column, call.id, call.idempotencyKey]
}

export function partialContext(call: number, index: number): SealContext {
  return ['partials', call, index]
}

export function sessionContext(id: string): SealContext {
  return ['sessions', 'metadata', id]
}

export function checkpointContext(id: string): SealContext {
  return ['checkpoints', 'metadata', id]
}

/** Names as they are stored. */
export function graphContext(
  column: 'facts' | 'metadata',
  { ns, id }: { readonly ns: string; readonly id: string },
): SealContext {
  return ['graph_checkpoints', column, ns, id]
}

/** Names as they are stored. */
export function writeContext(write: {
  readonly ns: string
  readonly checkpoint: string
  readonly task: string
  readonly idx: number
}): SealContext {
  return ['graph_writes', write.ns, write.checkpoint, write.task, write.idx]
}
