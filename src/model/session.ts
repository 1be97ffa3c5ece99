// A session: one agent's task over time, with its tool calls.
import type { CheckpointId, ProjectId } from './ids.js'
import { SavestateError } from './errors.js'
import { isStorableText } from './reference.js'

/** The status, and for two of them the reason. */
export type Status =
  | { readonly state: 'in_progress' | 'completed' }
  | { readonly state: 'failed' | 'halted'; readonly reason: string }

export type StatusWord = Status['state']
export const STATUS_WORDS: readonly StatusWord[] = ['in_progress', 'completed', 'failed', 'halted']
export const IN_PROGRESS: Status = { state: 'in_progress' }

/** A row number in the ledger. A session's id may be any text, so nothing is derived from it. */
export type SessionKey = number

export type Session = {
  readonly key: SessionKey
  readonly id: string
  readonly agent: string | null
  readonly project: ProjectId | null
  readonly status: Status
  readonly createdAtMs: number
  readonly updatedAtMs: number
  readonly head: CheckpointId | null
  /** The number that the next checkpoint gets. */
  readonly nextStep: number
  readonly turn: number
  readonly metadata: unknown
  /** The checkpoint of another session that this one was forked from. */
  readonly forkedFrom: CheckpointId | null
  /** Incremented whenever another process takes over the session. A holder of an older number can never write again (I11). */
  readonly fence: number
  readonly lease: Lease | null
}

/** The process that may write, and when the lease expires without a heartbeat. */
export type Lease = { readonly owner: LeaseOwner; readonly expiresAtMs: number }

/** Identifies a process so that its death can be proven on the same host. */
export type LeaseOwner = {
  readonly host: string
  readonly pid: number
  /** Differs after every boot. */
  readonly boot: string
  readonly startedAt: string
  /** The PID namespace, on systems that have them; absent in old records. */
  readonly namespace?: string
}

export const LEASE_MS = 30_000
export const HEARTBEAT_MS = 10_000

export type ToolStatus = 'started' | 'confirmed' | 'failed' | 'skipped'

export type ToolCall = {
  readonly id: string
  readonly name: string
  readonly args: unknown
  readonly idempotencyKey: string
  readonly status: ToolStatus
  readonly result: unknown
  readonly error: unknown
  /** The step that the session was at when the call began. */
  readonly step: number
  readonly startedAtMs: number
  readonly endedAtMs: number | null
}

const MAX_SESSION_ID = 200

/** Any text is allowed; an id never becomes part of a path. */
export function parseSessionId(text: unknown): string {
  const isShort = typeof text === 'string' && text.length > 0 && text.length <= MAX_SESSION_ID
  if (isShort && isStorableText(text)) return text
  throw new SavestateError(
    'BAD_INPUT',
    `A session id has 1 to ${MAX_SESSION_ID} characters of valid Unicode without NUL`,
  )
}

/** A status as text: `in_progress`, `completed`, or for example `failed: reason`. */
export type StatusText = 'in_progress' | 'completed' | `failed: ${string}` | `halted: ${string}`

export function statusText(status: Status): StatusText {
  return 'reason' in status ? `${status.state}: ${status.reason}` : status.state
}

export function parseStatus(state: string, reason: string | null): Status {
  if (state === 'in_progress' || state === 'completed') return { state }
  if (state === 'failed' || state === 'halted') return { state, reason: reason ?? '' }
  throw new SavestateError('BAD_INPUT', `${JSON.stringify(state)} is not a status`, {
    hint: `It is one of ${STATUS_WORDS.join(', ')}.`,
  })
}
