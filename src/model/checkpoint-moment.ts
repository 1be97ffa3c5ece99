// Whether a checkpoint of a coding agent shows the folder before or after the work that it names. The hooks write the
// event and the calls into the checkpoint's metadata (see docs/guide/coding-agents.md); checkpoints of other callers have no moment.

/** `before`: made before the prompt or call it names. `after`: made after the calls it names. */
export type CheckpointMoment = 'before' | 'after'

const BEFORE: readonly unknown[] = ['turn-start', 'before-tool']
const AFTER: readonly unknown[] = ['after-tool', 'turn-end', 'session-end']

/** From the keys of an agent's metadata that decide it. */
export function checkpointMoment({
  agentSession,
  at,
  hasCalls,
}: {
  readonly agentSession: unknown
  readonly at: unknown
  readonly hasCalls: boolean
}): CheckpointMoment | null {
  if (typeof agentSession !== 'string') return null
  // A save at the start of a call is named by the calls since the last save, if there were any.
  if (hasCalls || AFTER.includes(at)) return 'after'
  return BEFORE.includes(at) ? 'before' : null
}

/** Null also for metadata that is sealed with a key that was not given. */
export function readCheckpointMoment(metadata: unknown): CheckpointMoment | null {
  if (typeof metadata !== 'object' || metadata === null) return null
  const field = (key: string): unknown => Reflect.get(metadata, key)
  return checkpointMoment({
    agentSession: field('agentSession'),
    at: field('at'),
    hasCalls: Array.isArray(field('calls')),
  })
}
