// What sealed values outside of states are bound to. A copy of a row that is made in SQL must still open, so what a
// fork or a copied thread gets along is bound to what the copy has in common with the original.
import type { Place } from './sealing-key.js'

export function toolPlace(
  column: 'args' | 'outcome',
  call: { readonly id: string; readonly idempotencyKey: string },
): Place {
  return ['tool_calls', column, call.id, call.idempotencyKey]
}

export function partialPlace(call: number, place: number): Place {
  return ['partials', call, place]
}

export function sessionPlace(id: string): Place {
  return ['sessions', 'metadata', id]
}

export function checkpointPlace(id: string): Place {
  return ['checkpoints', 'metadata', id]
}

/** Names as they are stored. */
export function graphPlace(
  column: 'facts' | 'metadata',
  { ns, id }: { readonly ns: string; readonly id: string },
): Place {
  return ['graph_checkpoints', column, ns, id]
}

/** Names as they are stored. */
export function writePlace(write: {
  readonly ns: string
  readonly checkpoint: string
  readonly task: string
  readonly idx: number
}): Place {
  return ['graph_writes', write.ns, write.checkpoint, write.task, write.idx]
}
