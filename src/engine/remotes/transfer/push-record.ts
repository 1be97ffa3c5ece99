// How the last push to each remote went, and which sessions were forked: a note in the ledger, for `status` and for the pauses of the
// daemon between attempts.
import { isRecord, tryParseJson } from '../../../base/index.js'
import { SavestateError } from '../../../model/index.js'
import type { StoreContext } from '../../operation/context.js'
import { changeNote, readNote } from '../../store/kv-notes.js'

export type PushRecord = {
  /** The last push without an error. */
  readonly pushedAtMs: number | null
  /** Null after a push without an error. */
  readonly failure: PushFailure | null
  /** Those from the last days, the newest first. */
  readonly forks: readonly Fork[]
}

/** Another machine had continued `session`, and the steps that only this store had became `fork`. */
export type Fork = { readonly session: string; readonly fork: string; readonly atMs: number }

export type PushFailure = {
  readonly code: string
  readonly message: string
  /** The first of the failures in a row, and the last. */
  readonly sinceMs: number
  readonly atMs: number
  readonly attempts: number
}

const NEVER: PushRecord = { pushedAtMs: null, failure: null, forks: [] }
const MAX_MESSAGE_CHARS = 300
/** A user who comes back after a weekend still sees them. */
const KEEP_FORKS_MS = 7 * 24 * 60 * 60_000
const MAX_FORKS = 20

export function readPushRecord(context: StoreContext, remote: string): PushRecord {
  const { forks, ...record } = parse(readNote(context, keyOf(remote)))
  return { ...record, forks: recentForks(forks, context.clock.nowMs()) }
}

export function recordPush(context: StoreContext, remote: string, error?: unknown): void {
  const nowMs = context.clock.nowMs()
  const change = (text: string | undefined) => {
    const { pushedAtMs, failure, forks } = parse(text)
    const after: PushRecord =
      error === undefined
        ? { pushedAtMs: nowMs, failure: null, forks }
        : { pushedAtMs, failure: addFailure(failure, { error, nowMs }), forks }
    return JSON.stringify(after)
  }
  changeNote(context, { key: keyOf(remote), mayBeLost: true, change })
}

/** At once, and not with the result: an error after the fork must not hide it. */
export function recordFork(
  context: StoreContext,
  remote: string,
  { session, fork }: Pick<Fork, 'session' | 'fork'>,
): void {
  const atMs = context.clock.nowMs()
  const change = (text: string | undefined) => {
    const { forks, ...record } = parse(text)
    const kept = recentForks(forks, atMs).slice(0, MAX_FORKS - 1)
    return JSON.stringify({ ...record, forks: [{ session, fork, atMs }, ...kept] })
  }
  changeNote(context, { key: keyOf(remote), change })
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

function recentForks(forks: readonly Fork[], nowMs: number): readonly Fork[] {
  return forks.filter(({ atMs }) => nowMs - atMs < KEEP_FORKS_MS)
}

function keyOf(remote: string): string {
  return `push:${remote}`
}

/** A note that is not ours counts as none: it only describes. */
function parse(text: string | undefined): PushRecord {
  const value = tryParseJson(text)
  return isRecord(value) && 'failure' in value ? { ...NEVER, ...(value as PushRecord) } : NEVER
}
