// What is remembered of a session between two of its events, which may come to two processes.
import { fieldsOf } from '../../base/index.js'

export type Call = {
  readonly key: string
  readonly label: string
  /** The end of such a call is a checkpoint, so one that is missing is owed. */
  readonly isOwed: boolean
  readonly agentId: string | undefined
}

export type Memory = {
  /** The prompt of the turn that is under way. */
  readonly turn: { readonly id: string | undefined; readonly prompt: string } | undefined
  /** Calls that were begun and whose end was not seen, oldest first. */
  readonly running: readonly Call[]
  /** Calls since the last checkpoint whose end was seen. */
  readonly ended: readonly Call[]
}

export const NO_MEMORY: Memory = { turn: undefined, running: [], ended: [] }

/** More than any agent has under way at once. Of more the oldest are forgotten: no file is, only who changed it. */
export const MAX_CALLS = 64

/** What is not of this form is as good as nothing: the next checkpoint is made all the same. */
export function parseMemory(value: unknown): Memory {
  const fields = fieldsOf(value)
  const turn = fieldsOf(fields['turn'])
  const prompt = turn['prompt']
  return {
    turn: typeof prompt === 'string' ? { id: optionalText(turn['id']), prompt } : undefined,
    running: parseCalls(fields['running']),
    ended: parseCalls(fields['ended']),
  }
}

function parseCalls(value: unknown): readonly Call[] {
  if (!Array.isArray(value)) return []
  return value.slice(-MAX_CALLS).flatMap((item: unknown) => {
    const { key, label, isOwed, agentId } = fieldsOf(item)
    if (typeof key !== 'string' || typeof label !== 'string') return []
    return [{ key, label, isOwed: isOwed === true, agentId: optionalText(agentId) }]
  })
}

function optionalText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
