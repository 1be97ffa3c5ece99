// Which sessions of a remote a prune reads. Most of a large remote stays unread: the heads and the counts of a few rows tell whether a limit
// of the policy was passed since the last prune by this store.
import { isRecord, tryParseJson } from '../../base/index.js'
import { isRetentionDue, type LogName, type LogSize, retentionPolicy } from '../../model/index.js'
import type { LogHead, Remote } from '../../remote/index.js'
import type { StoreContext } from '../operation/context.js'
import { isHeld } from '../sessions/open-session.js'
import { changeNote, readNote } from '../store/kv-notes.js'
import { storeSettings } from '../store/settings.js'

export type Selection = {
  /** To be read: retention may remove something. */
  readonly due: readonly LogHead[]
  /** Sessions that some process has. */
  readonly inUse: readonly LogHead[]
  /** After the prune. `skipped`: sessions that have to be read next time. */
  readonly record: (skipped: readonly LogName[]) => void
}

/** The clock of the server may be behind this one. */
const SKEW_MS = 3_600_000

export async function selectSessions(context: StoreContext, remote: Remote): Promise<Selection> {
  const nowMs = context.clock.nowMs()
  const policy = retentionPolicy(storeSettings(context.home).config)
  const key = `prune-remote:${await remote.id()}`
  const policyText = JSON.stringify(policy)
  const last = readLast(context, key)
  const isComparable = last?.policy === policyText
  const skipped = new Set(last?.skipped)
  const heads = await remote.heads({ kind: 'session' })
  const inUse = heads.filter((head) => isInUse(context, remote, head))
  const known = new Set(inUse)
  const sizes = await sizesOf(remote)
  const isDue = (head: LogHead) => {
    const { ages } = head.card ?? {}
    if (known.has(head) || head.hash === null) return false
    if (ages === null || ages === undefined) return true
    const isUnchanged =
      isComparable && !skipped.has(head.log.id) && head.updatedAtMs < last.atMs - SKEW_MS
    const { checkpoints = 0 } = sizes.get(nameText(head.log)) ?? {}
    const sinceMs = isUnchanged ? last.atMs : 0
    return isRetentionDue({ ...ages, checkpoints }, policy, { nowMs, sinceMs })
  }
  return {
    due: heads.filter(isDue),
    inUse,
    record(again) {
      const ids = [...inUse.map(({ log }) => log.id), ...again.map(({ id }) => id)]
      const text = JSON.stringify({ atMs: nowMs, policy: policyText, skipped: ids })
      changeNote(context, { key, mayBeLost: true, change: () => text })
    },
  }
}

/**
 * A lease in a git repository does not expire, and is given up by `handoff` only: a session that this store has, and that no process here
 * writes, is its to prune.
 */
export function isInUse(
  context: StoreContext,
  { kind }: Remote,
  { holder, ...head }: LogHead,
): boolean {
  if (holder === null) return false
  if (kind !== 'git') return true
  const { ledger, clock } = context
  const shared = ledger.sharing.get(head.log)
  const lease = ledger.sessions.byId(head.log.id)?.lease ?? null
  const isOurs = shared?.fence === head.fence && !shared.isDirty
  return !isOurs || isHeld(lease, clock.nowMs())
}

/** By `nameText`. */
export async function sizesOf(remote: Remote): Promise<ReadonlyMap<string, LogSize>> {
  const sizes = await remote.sizes()
  return new Map(sizes.map(({ log, ...size }) => [nameText(log), size]))
}

export function nameText({ kind, id }: LogName): string {
  return `${kind} ${id}`
}

type Last = {
  readonly atMs: number
  readonly policy: unknown
  readonly skipped: readonly unknown[]
}

function readLast(context: StoreContext, key: string): Last | undefined {
  const value = tryParseJson(readNote(context, key) ?? '')
  if (!isRecord(value)) return undefined
  const { atMs, policy, skipped } = value
  return typeof atMs === 'number' && Array.isArray(skipped) ? { atMs, policy, skipped } : undefined
}
