// Finds what is stored already: for each value of a list the slot that holds it unchanged. What is left is
// new, or changed, or cannot be compared without being written out.
import { isPlainElement } from '../../model/index.js'
import type { Spread } from './layout.js'
import { claimRoots, holds, isObject } from './ownership.js'
import { isAsRecorded, isLikeRecorded } from './record.js'
import { type Beliefs, locate, newSlot, type Sequence, type Slot } from './state-memory.js'

/** An element to be stored. */
export type Fresh = {
  readonly slot: Slot
  /** What stood there before, perhaps with the same content. */
  readonly before: Slot | undefined
  /** It is JSON data with the content of `before`, in other objects. */
  readonly isCopy: boolean
}

export type Settled = {
  readonly sequence: Sequence
  readonly fresh: Fresh[]
  /** Slots that stay only if their links hold. */
  readonly linked: readonly Slot[]
  /** The elements before this place are as they were; undefined if all are. */
  changedFrom: number | undefined
}

/** After it `sequence` has a slot for each value, and all of them are of the present pass. */
export function settle(
  beliefs: Beliefs,
  { sequence, spread }: { readonly sequence: Sequence; readonly spread: Spread },
): Settled {
  const { values, keys } = spread
  const { pass, owners } = beliefs
  const old = sequence.slots
  const linked: Slot[] = []
  const stays = (slot: Slot | undefined, index: number): boolean => {
    const value = values[index]
    if (slot === undefined || slot.key !== keys?.[index]) return false
    if (!isObject(value)) {
      if (!Object.is(slot.root, value)) return false
    } else {
      if (slot.root !== value || slot.pass === pass || slot.record === undefined) return false
      if (!isAsRecorded(value, slot.record)) return false
    }
    slot.pass = pass
    if (slot.links !== undefined) linked.push(slot)
    return true
  }

  // Most lists have one place that changed, mostly their end: from both sides it is found without a search.
  const shift = old.length - values.length
  let from = 0
  while (from < Math.min(old.length, values.length) && stays(old[from], from)) from += 1
  let end = values.length
  while (end > from && end + shift > from && stays(old[end + shift - 1], end - 1)) end -= 1
  if (from === end && shift === 0) return { sequence, fresh: [], linked, changedFrom: undefined }

  const fresh: Fresh[] = []
  const middle: Slot[] = []
  for (let index = from; index < end; index += 1) {
    const root = values[index]
    const owner = isObject(root) ? owners.get(root) : undefined
    const moved = owner?.kind === 'slot' ? owner : undefined
    const nearby = shift === 0 ? [old[index]] : [old[index], old[index + shift]]
    const found = [moved, ...nearby].find((slot) => stays(slot, index))
    const slot = found ?? newSlot(beliefs, { sequence, index, key: keys?.[index], root })
    middle.push(slot)
    if (found !== undefined) continue
    const copied = nearby.find((other) => other !== undefined && isCopy(slot, other))
    fresh.push({ slot, before: copied ?? old[index], isCopy: copied !== undefined })
  }
  sequence.slots = old.slice(0, from).concat(middle, old.slice(end + shift))
  return { sequence, fresh, linked, changedFrom: from }
}

function isCopy({ root, key }: Slot, { record, key: otherKey }: Slot): boolean {
  if (!isObject(root) || record === undefined || key !== otherKey) return false
  return isLikeRecorded(root, record) && isPlainElement(root)
}

/** Makes those fresh whose links no longer hold. What is fresh already must have claimed its root. */
export function dropBrokenLinks(beliefs: Beliefs, settled: readonly Settled[]): void {
  const isBroken = ({ pass, links }: Slot) =>
    pass === beliefs.pass && links?.every((link) => holds(link, beliefs)) === false
  if (settled.every(({ linked }) => linked.length === 0)) return
  locate(beliefs)
  let count: number
  do {
    count = 0
    for (const at of settled) {
      for (const before of at.linked) {
        if (!isBroken(before)) continue
        makeFresh(beliefs, { before, at })
        count += 1
      }
    }
    // Each of them may have been what a link of another led to.
  } while (count > 0)
}

function makeFresh(
  beliefs: Beliefs,
  { before, at }: { readonly before: Slot; readonly at: Settled },
): void {
  const { sequence, index, key, root } = before
  const slot = newSlot(beliefs, { sequence, index, key, root })
  before.pass = 0
  claimRoots(beliefs, [slot])
  sequence.slots[index] = slot
  at.fresh.push({ slot, before, isCopy: false })
  at.changedFrom = Math.min(at.changedFrom ?? index, index)
}
