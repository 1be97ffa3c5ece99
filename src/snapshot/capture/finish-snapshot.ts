// The end of a capture: the snapshot's tree, made of as much of the last one as still holds.
import type { ObjectId, Snapshot } from '../../model/index.js'
import type { ObjectStore } from '../objects/object-store.js'
import { describeSnapshot, type TreeBuilder } from './build-snapshot.js'
import type { PackedNodes } from './stat-cache/packed-nodes.js'
import type { Scanned } from './scan/scan-types.js'
import type { CachedProject } from './stat-cache/stat-cache.js'

export type Finished = {
  readonly snapshot: Snapshot
  /** The blob of the modes. */
  readonly modes: ObjectId | undefined
}

/** All contents are hashed. */
export function finishSnapshot(
  scanned: Scanned,
  now: {
    readonly known: CachedProject | undefined
    readonly builder: TreeBuilder
    readonly hasSameModes: boolean
    readonly hasSameFiles: boolean
    readonly store: ObjectStore
    readonly packed: PackedNodes | undefined
  },
): Finished {
  const { known, builder, hasSameModes, hasSameFiles, store, packed } = now
  const tree = known?.snapshot?.tree
  if (hasSameFiles && hasSameModes && tree !== undefined && store.has(tree))
    return { snapshot: describeSnapshot(tree, scanned, packed), modes: known?.modes }
  const canReuse = hasSameModes && known?.modes !== undefined && store.has(known.modes)
  const parts = builder.finish(canReuse ? known.modes : undefined, packed)
  return { snapshot: describeSnapshot(parts.tree, scanned, packed), modes: parts.modes }
}
