// Reads what the hooks of a coding agent recorded about the checkpoint that a bisect found.
import { fieldsOf } from '../../base/index.js'
import type { CheckpointId } from '../../model/index.js'
import type { StoreContext } from '../operation/context.js'

/** Nulls without hooks, and if the metadata is encrypted and there is no key. */
export function describeBroken(
  { ledger }: StoreContext,
  id: CheckpointId,
): { readonly prompt: string | null; readonly tool: string | null } {
  const { prompt, tool, calls, agentSession } = fieldsOf(
    ledger.checkpoints.get(id)?.session?.metadata,
  )
  if (typeof agentSession !== 'string') return { prompt: null, tool: null }
  const named = Array.isArray(calls) ? calls.filter((call) => typeof call === 'string') : []
  return {
    prompt: typeof prompt === 'string' ? prompt : null,
    tool: named.length > 0 ? named.join(', ') : typeof tool === 'string' ? tool : null,
  }
}
