// Finds what is stored already: for each value of a list the slot that holds it unchanged. What is left is
// new, or changed, or cannot be compared without being written out.
import { isPlainElement } from '../../model/index.js'
import { type Block, giveUp, isBlockAt, isInUse, leaveBlock, recordOfSlot } from './blocks.js'
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
  const { slots: old } = sequence
  const linked: Slot[] = []
  const stays = (slot: Slot | undefined, index: number): boolean => {
    const value = values[index]
    if (slot === undefined || slot.key !== keys?.[index]) return false
    if (!isObject(value)) {
      if (!Object.is(slot.root, value)) return false
    } else {
      if (slot.root !== value || isInUse(slot, beliefs)) return false
      leaveBlock(slot)
      if (slot.record === undefined || !isAsRecorded(slot.record)) return false
    }
    slot.pass = pass
    if (slot.links !== undefined) linked.push(slot)
    return true
  }
  const staysWhole = (block: Block, index: number): boolean => {
    if (isBlockAt(block, { values, keys, index })) {
      block.pass = pass
      return true
    }
    giveUp(block)
    return false
  }

  const shift = old.length - values.length
  const { from, end } = unchangedEnds(sequence, { length: values.length, stays, staysWhole })
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

type Look = {
  /** Of the values. */
  readonly length: number
  readonly stays: (slot: Slot | undefined, index: number) => boolean
  /** Gives the block up if it does not. */
  readonly staysWhole: (block: Block, index: number) => boolean
}

/**
 * How many values at the front are as they were, and from where on those at the back are. Most lists have one place
 * that changed, mostly their end: from both sides it is found without a search. Blocks between are given up.
 */
function unchangedEnds(
  { slots, blocks }: Sequence,
  { length, stays, staysWhole }: Look,
): { readonly from: number; readonly end: number } {
  const shift = slots.length - length
  let from = 0
  let ahead = 0
  while (from < Math.min(slots.length, length)) {
    const block = blocks[ahead]
    if (block?.start === from) {
      ahead += 1
      if (staysWhole(block, from)) {
        from += block.slots.length
        continue
      }
    }
    if (!stays(slots[from], from)) break
    from += 1
  }
  let end = length
  let behind = blocks.length
  while (end > from && end + shift > from) {
    const block = behind > ahead ? blocks[behind - 1] : undefined
    if (block !== undefined && block.start + block.slots.length === end + shift) {
      behind -= 1
      if (block.start - shift >= from && staysWhole(block, block.start - shift)) {
        end -= block.slots.length
        continue
      }
      giveUp(block)
    }
    if (!stays(slots[end + shift - 1], end - 1)) break
    end -= 1
  }
  for (const block of blocks.slice(ahead, behind)) giveUp(block)
  for (const block of blocks.slice(behind)) block.start -= shift
  return { from, end }
}

function isCopy({ root, key }: Slot, other: Slot): boolean {
  if (!isObject(root) || key !== other.key) return false
  const record = recordOfSlot(other)
  return record !== undefined && isLikeRecorded(root, record) && isPlainElement(root)
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
