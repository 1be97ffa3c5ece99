// The state of a session's turn between two events, which different processes may handle.
import { fieldsOf, type OutsideCommand, parseOutsideCommands } from '../../base/index.js'
import type { TestResult } from './test-commands.js'

export type Call = {
  readonly key: string
  readonly label: string
  /** A checkpoint is made when such a call ends. If the end event is missing, a later event makes it. */
  readonly isPending: boolean
  readonly agentId: string | undefined
  readonly failed?: true
  /** Its commands that probably changed something outside the folder. */
  readonly outside?: readonly OutsideCommand[]
  /** The result of the tests that it ran. */
  readonly tests?: TestResult
}

export type TurnState = {
  /** The current turn. */
  readonly turn: { readonly id: string | undefined; readonly prompt: string } | undefined
  /** Calls without an end event so far, oldest first. */
  readonly running: readonly Call[]
  /** Calls that have ended since the last checkpoint. */
  readonly ended: readonly Call[]
}

export const NO_TURN_STATE: TurnState = { turn: undefined, running: [], ended: [] }

/** More than any agent runs at once. Dropping older calls loses labels and authors, but no files. */
export const MAX_CALLS = 64

/** Ignores malformed parts: the next checkpoint is made anyway. */
export function parseTurnState(value: unknown): TurnState {
  const { turn, running, ended } = fieldsOf(value)
  const { id, prompt } = fieldsOf(turn)
  return {
    turn: typeof prompt === 'string' ? { id: optionalText(id), prompt } : undefined,
    running: parseCalls(running),
    ended: parseCalls(ended),
  }
}

function parseCalls(value: unknown): readonly Call[] {
  if (!Array.isArray(value)) return []
  return value.flatMap((item: unknown) => {
    const { key, label, isPending, agentId, failed, outside, tests } = fieldsOf(item)
    if (typeof key !== 'string' || typeof label !== 'string') return []
    const call = { key, label, isPending: isPending === true, agentId: optionalText(agentId) }
    const commands = parseOutsideCommands(outside)
    const ran: Pick<Call, 'tests'> = tests === 'passed' || tests === 'failed' ? { tests } : {}
    return [
      {
        ...call,
        ...(failed === true ? { failed } : {}),
        ...(commands.length === 0 ? {} : { outside: commands }),
        ...ran,
      },
    ]
  })
}

function optionalText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** Treats all calls as ended: the process that ran them is gone. The save before has recorded their commands. */
export function endAll({ ended, running }: TurnState): readonly Call[] {
  return newest([...ended, ...running.filter(({ isPending }) => isPending).map(withoutOutside)])
}

export function withoutOutside({ outside: _recorded, ...call }: Call): Call {
  return call
}

export function newest(calls: readonly Call[]): readonly Call[] {
  return calls.slice(-MAX_CALLS)
}

type CoveringSave = { readonly covers: readonly string[] }

/** After a save, drops the calls that it covers. */
export function afterSave(state: TurnState, { covers }: CoveringSave): TurnState {
  return { ...state, ended: state.ended.filter(({ key }) => !covers.includes(key)) }
}

/** After saves that failed, restores the calls that they would have covered. `decided` is the state before them. */
export function afterFailedSaves(
  state: TurnState,
  { saves, state: decided }: { readonly saves: readonly CoveringSave[]; readonly state: TurnState },
): TurnState {
  const lost = decided.ended.filter(({ key }) => saves.some(({ covers }) => covers.includes(key)))
  return { ...state, ended: newest([...lost, ...state.ended]) }
}
