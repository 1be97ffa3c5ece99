// Whether a checkpoint says all that a new one would. What is left out is in no tree: a file that could not be saved is
// news although the tree is the same, and must be listed (I9).
import type { FilesCheckpoint, SkipReason } from '../../model/index.js'
import type { Captured } from '../../snapshot/index.js'
import type { StoreContext } from '../operation/context.js'

/** Where a person expects the content to be saved. Others come and go as programs run, or were asked for. */
const MISSED: readonly SkipReason[] = ['too-large', 'unreadable', 'unstable', 'reserved']

export function hasNothingNew(
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
