// Neighbours in a list whose records are one: what has not changed since the last save, which is nearly all, is
// compared from end to end without a look at each slot. A block is of no other use, and is given up as soon as anything
// is about one of its slots alone.
import { type FlatRecord, isAsRecorded } from './record.js'
import type { Beliefs, Owner, Sequence, Slot } from './state-memory.js'

/** Slots that follow each other in a sequence. Their own records are not there meanwhile. */
export type Block = {
  readonly slots: readonly Slot[]
  readonly keys: readonly (string | undefined)[]
  readonly roots: readonly unknown[]
  readonly record: FlatRecord
  /** Where in the record the slots begin, and the end of the last. */
  readonly starts: readonly number[]
  /** The place of the first slot. */
  start: number
  /** Of all the slots, instead of their own. */
  pass: number
  isGivenUp: boolean
}

/** Large enough that what is in it counts, and not the block; small enough to be given up for one change. */
const SLOTS_IN_BLOCK = 64

/** True if the owner is in the state that is being written, or was written last. */
export function isPresent(owner: Owner | undefined, beliefs: Beliefs): owner is Owner {
  if (owner?.kind === 'slot') return isInUse(owner, beliefs)
  return owner?.pass === beliefs.pass
}

/** The same of a slot. */
export function isInUse({ pass, block }: Slot, beliefs: Beliefs): boolean {
  return pass === beliefs.pass || block?.pass === beliefs.pass
}

type Values = {
  readonly values: readonly unknown[]
  readonly keys: readonly string[] | undefined
  /** Where the block would be among them. */
  readonly index: number
}

/** The values from this place on are those of the block, and nothing in them has changed. */
export function isBlockAt(block: Block, { values, keys, index }: Values): boolean {
  const { roots, slots } = block
  if (block.isGivenUp || index < 0 || index + slots.length > values.length) return false
  for (let place = 0; place < slots.length; place += 1) {
    if (!Object.is(values[index + place], roots[place])) return false
    if (keys?.[index + place] !== block.keys[place]) return false
  }
  return isAsRecorded(block.record)
}

/** After it the slot stands for itself. */
export function leaveBlock({ block }: Slot): void {
  if (block !== undefined) giveUp(block)
}

export function giveUp(block: Block): void {
  if (block.isGivenUp) return
  block.isGivenUp = true
  for (const slot of block.slots) {
    slot.record = recordOfSlot(slot)
    slot.pass = block.pass
    slot.block = undefined
  }
}

/** Undefined: it must be written out to be compared. */
export function recordOfSlot(slot: Slot): FlatRecord | undefined {
  const { block } = slot
  if (block === undefined) return slot.record
  const place = block.slots.indexOf(slot)
  const [start, end] = [block.starts[place] ?? 0, block.starts[place + 1] ?? 0]
  return start === end ? undefined : block.record.slice(start, end)
}

/** Makes blocks of the slots that are in none, where enough of them are together. All must be present. */
export function formBlocks(sequence: Sequence, { pass }: Beliefs): void {
  const { slots } = sequence
  const blocks: Block[] = []
  const fill = (from: number, end: number) => {
    if (end - from < SLOTS_IN_BLOCK) return
    let start = from
    for (let index = from; index < end; index += 1) {
      if (!fitsIn(slots[index])) start = index + 1
      if (index + 1 - start < SLOTS_IN_BLOCK) continue
      blocks.push(newBlock(slots.slice(start, index + 1), { start, pass }))
      start = index + 1
    }
  }
  let end = 0
  for (const block of sequence.blocks) {
    if (block.isGivenUp) continue
    fill(end, block.start)
    blocks.push(block)
    end = block.start + block.slots.length
  }
  fill(end, slots.length)
  sequence.blocks = blocks
}

/** Slots with links are looked at one by one. */
function fitsIn(slot: Slot | undefined): boolean {
  if (slot === undefined || slot.block !== undefined || slot.links !== undefined) return false
  return slot.record !== undefined || typeof slot.root !== 'object' || slot.root === null
}

function newBlock(
  slots: readonly Slot[],
  { start, pass }: { readonly start: number; readonly pass: number },
): Block {
  const record: unknown[] = []
  const starts = [0]
  for (const slot of slots) {
    for (const word of slot.record ?? []) record.push(word)
    starts.push(record.length)
  }
  const block: Block = {
    slots,
    keys: slots.map(({ key }) => key),
    roots: slots.map(({ root }) => root),
    // A copy has no room to grow.
    record: record.slice(),
    starts,
    start,
    pass,
    isGivenUp: false,
  }
  for (const slot of slots) {
    slot.record = undefined
    slot.block = block
  }
  return block
}
