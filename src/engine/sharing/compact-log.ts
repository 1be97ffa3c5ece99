// Compacts logs on a remote, if it is worth it (docs/internals/shared.md#collection).
import {
  compactSegments,
  isWorthCompacting,
  type LogName,
  type LogSize,
  mayBeWorthCompacting,
  type SegmentContent,
} from '../../model/index.js'
import type { Remote } from '../../remote/index.js'
import { isUnreachable } from './retry.js'

type Request = {
  readonly log: LogName
  /** Those of the card of the log. */
  readonly steps: number
  /** As `Remote.sizes` has it; otherwise it is asked. */
  readonly size?: LogSize | undefined
}

/**
 * Replaces the segments of a log by one base if most of them is dead. Reads the log only if its size says that this is possible. A process
 * that has the log then sends a base of its own with its next call, so a session is compacted by its holder, or while no one has it.
 */
export async function compactIfWorth(
  remote: Remote,
  { log, steps, size: given }: Request,
): Promise<boolean> {
  const size = given ?? (await remote.sizes(log))[0]
  if (size === undefined || !mayBeWorthCompacting({ ...size, kind: log.kind }, { steps }))
    return false
  return remote.compact(log, (contents: readonly SegmentContent[]) => {
    const compacted = compactSegments(contents, log)
    return isWorthCompacting(contents, compacted) ? compacted : undefined
  })
}

/** The same after a removal that was shipped. If the remote cannot be reached, `prune --remote` does it later. */
export async function compactIfReachable(remote: Remote, request: Request): Promise<void> {
  try {
    await compactIfWorth(remote, request)
  } catch (error) {
    if (!isUnreachable(error)) throw error
  }
}
