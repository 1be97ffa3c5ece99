// What is recorded of a session's turn between two of its events, which two processes may handle.
import { fieldsOf } from '../../base/index.js'

export type Call = {
  readonly key: string
  readonly label: string
  /** The end of such a call is a checkpoint, so a missing one is still to be saved. */
  readonly isPending: boolean
  readonly agentId: string | undefined
}

export type TurnState = {
  /** The prompt of the turn that is under way. */
  readonly turn: { readonly id: string | undefined; readonly prompt: string } | undefined
  /** Calls that were begun and whose end was not seen, oldest first. */
  readonly running: readonly Call[]
  /** Calls since the last checkpoint whose end was seen. */
  readonly ended: readonly Call[]
}

export const NO_TURN_STATE: TurnState = { turn: undefined, running: [], ended: [] }

/** More than any agent has under way at once. Of more the oldest are forgotten: no file is, only who changed it. */
export const MAX_CALLS = 64

/** What is not of this form is as good as nothing: the next checkpoint is made all the same. */
export function parseTurnState(value: unknown): TurnState {
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
    const { key, label, isPending, agentId } = fieldsOf(item)
    if (typeof key !== 'string' || typeof label !== 'string') return []
    return [{ key, label, isPending: isPending === true, agentId: optionalText(agentId) }]
  })
}

function optionalText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** All calls, as ended: the process that ran them is gone. */
export function allOf({ ended, running }: TurnState): readonly Call[] {
  return newest([...ended, ...running.filter(({ isPending }) => isPending)])
}

export function newest(calls: readonly Call[]): readonly Call[] {
  return calls.slice(-MAX_CALLS)
}

type Held = { readonly holds: readonly string[] }

/** After a save: the calls that it holds need no other one. */
export function afterSave(state: TurnState, { holds }: Held): TurnState {
  return { ...state, ended: state.ended.filter(({ key }) => !holds.includes(key)) }
}

/** After saves that failed: the next save names the calls that they would have held. `decided` is the state before them. */
export function afterFailedSaves(
  state: TurnState,
  { saves, state: decided }: { readonly saves: readonly Held[]; readonly state: TurnState },
): TurnState {
  const held = decided.ended.filter(({ key }) => saves.some(({ holds }) => holds.includes(key)))
  return { ...state, ended: newest([...held, ...state.ended]) }
}
