// Selects the checkpoints to remove so that the store fits its size limit. Pure: the caller provides the sizes.
import type { CheckpointId } from './ids.js'

/** The removable checkpoints of a project, in removal order: automatic ones first, oldest first. */
export type Giver = { readonly candidates: readonly CheckpointId[] }

/** The store as it would be. */
export type SizeModel = {
  /** The bytes of the whole store without what was removed. */
  total(): number
  /** The bytes of one project's checkpoints. */
  bytesOf(giver: Giver): number
  remove(id: CheckpointId): void
  restore(id: CheckpointId): void
}

/**
 * The fewest checkpoints, in the order of the candidates, without which the store fits; undefined if it would not fit
 * without all of them. The project that takes the most gives first, so a small project keeps its history as long as a
 * larger one can give. In the end `model` is without exactly those.
 */
export function chooseForSize(
  givers: readonly Giver[],
  capBytes: number,
  model: SizeModel,
): readonly CheckpointId[] | undefined {
  const queues = givers.map((giver) => ({ giver, left: [...giver.candidates] }))
  const chosen: CheckpointId[] = []
  while (model.total() > capBytes) {
    const open = queues.filter(({ left }) => left.length > 0)
    const [first, ...others] = open
    if (first === undefined) {
      for (const id of chosen) model.restore(id)
      return undefined
    }
    const largest = others.reduce(
      (most, it) => (model.bytesOf(it.giver) > model.bytesOf(most.giver) ? it : most),
      first,
    )
    const id = largest.left.shift()
    if (id === undefined) break
    model.remove(id)
    chosen.push(id)
  }
  return withoutNeedless(chosen, capBytes, model)
}

/** Takes checkpoints that free too little out of the selection again, the last chosen first. */
function withoutNeedless(
  chosen: readonly CheckpointId[],
  capBytes: number,
  model: SizeModel,
): readonly CheckpointId[] {
  const needed = chosen.toReversed().filter((id) => {
    model.restore(id)
    if (model.total() <= capBytes) return false
    model.remove(id)
    return true
  })
  return needed.reverse()
}
