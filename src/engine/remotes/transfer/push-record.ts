// How the last push to each remote went: a note in the ledger, for `status` and for the pauses of the daemon between attempts.
import { isRecord, tryParseJson } from '../../../base/index.js'
import { SavestateError } from '../../../model/index.js'
import type { StoreContext } from '../../operation/context.js'
import { changeNote, readNote } from '../../store/kv-notes.js'

export type PushRecord = {
  /** The last push without an error. */
  readonly pushedAtMs: number | null
  /** Null after a push without an error. */
  readonly failure: PushFailure | null
}

export type PushFailure = {
  readonly code: string
  readonly message: string
  /** The first of the failures in a row, and the last. */
  readonly sinceMs: number
  readonly atMs: number
  readonly attempts: number
}

const NEVER: PushRecord = { pushedAtMs: null, failure: null }
const MAX_MESSAGE_CHARS = 300

export function readPushRecord(context: StoreContext, remote: string): PushRecord {
  return parse(readNote(context, keyOf(remote)))
}

export function recordPush(context: StoreContext, remote: string, error?: unknown): void {
  const nowMs = context.clock.nowMs()
  const change = (text: string | undefined) => {
    const { pushedAtMs, failure } = parse(text)
    const after: PushRecord =
      error === undefined
        ? { pushedAtMs: nowMs, failure: null }
        : { pushedAtMs, failure: addFailure(failure, { error, nowMs }) }
    return JSON.stringify(after)
  }
  changeNote(context, { key: keyOf(remote), mayBeLost: true, change })
}

export function forgetPushes(context: StoreContext, remote: string): void {
  changeNote(context, { key: keyOf(remote), change: () => undefined })
}

function addFailure(
  before: PushFailure | null,
  { error, nowMs }: { readonly error: unknown; readonly nowMs: number },
): PushFailure {
  const isKnown = error instanceof SavestateError
  return {
    code: isKnown ? error.code : 'INTERNAL',
    message: (error instanceof Error ? error.message : String(error)).slice(0, MAX_MESSAGE_CHARS),
    sinceMs: before?.sinceMs ?? nowMs,
    atMs: nowMs,
    attempts: (before?.attempts ?? 0) + 1,
  }
}

function keyOf(remote: string): string {
  return `push:${remote}`
}

/** A note that is not ours counts as none: it only describes. */
function parse(text: string | undefined): PushRecord {
  const value = tryParseJson(text)
  return isRecord(value) && 'failure' in value ? (value as PushRecord) : NEVER
}
