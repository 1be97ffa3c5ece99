// Decides whether a new checkpoint would add nothing to the newest one. Equal trees are not enough: a tree does not
// contain skipped paths, and a file that could not be saved must be listed (I9).
import type { FilesCheckpoint, SkipReason } from '../../model/index.js'
import type { Captured } from '../../snapshot/index.js'
import type { StoreContext } from '../operation/context.js'

/** Skips that surprise the user. Other skipped paths come and go as programs run, or match the user's own rules. */
const MISSED: readonly SkipReason[] = ['too-large', 'unreadable', 'unstable', 'reserved']

export function isSameAsCheckpoint(
  { ledger }: StoreContext,
  known: FilesCheckpoint | undefined,
  { snapshot }: Captured,
): known is FilesCheckpoint {
  if (known?.snapshot.tree !== snapshot.tree) return false
  const missed = snapshot.skippedPaths.filter(({ reason }) => MISSED.includes(reason))
  if (missed.length === 0) return true
  const { skippedPaths = [] } = ledger.checkpoints.details(known.id) ?? {}
  const listed = new Set(skippedPaths.map(({ path }) => path))
  return missed.every(({ path }) => listed.has(path))
}
