// Whether what was stored of an owner is what it holds now, without a look at what it leads to.
import { SavestateError, type ValuePath } from '../../model/index.js'
import { isInUse, recordOfSlot } from './blocks.js'
import { objectsHeldBy } from './children.js'
import { hashOf } from './element-rows.js'
import { isPlainObject } from './layout.js'
import { holds, isObject } from './ownership.js'
import { isAsRecorded, isPlainArray } from './record.js'
import type { Part } from './state-body.js'
import { type Container, locate, type Owner, type Sequence, type Slot } from './state-memory.js'
import { elementOf, type Pass } from './store-fresh.js'
import { keyOf } from './write-state.js'

/** Items that are about to be added to a list of the present state. */
export type Growth = {
  /** The state without them. */
  readonly root: Part
  /** Of the list. */
  readonly path: readonly string[]
  readonly items: readonly unknown[]
}

/** Objects of other owners; undefined if it is not as it was stored. */
type Others = readonly object[] | undefined

/** What the owner leads to; undefined if it is not as it was stored. */
export function othersIn(
  pass: Pass,
  { owner, growth }: { readonly owner: Owner; readonly growth: Growth },
): Others {
  return owner.kind === 'slot'
    ? othersInSlot(pass, owner)
    : othersInContainer(pass, { container: owner, growth })
}

function othersInSlot(pass: Pass, slot: Slot): Others {
  const record = recordOfSlot(slot)
  if (record !== undefined) return isAsRecorded(record) ? linkedFrom(pass, slot) : undefined
  return isWrittenTheSame(pass, slot) ? othersWithin(pass, slot) : undefined
}

function linkedFrom({ beliefs }: Pass, { links }: Slot): Others {
  if (links === undefined) return []
  locate(beliefs)
  // Otherwise what was written leads to something else by now.
  return links.every((link) => holds(link, beliefs)) ? links.map(({ object }) => object) : undefined
}

function isWrittenTheSame(pass: Pass, slot: Slot): boolean {
  try {
    return hashOf(elementOf(pass, slot), pass) === slot.hash
  } catch (error) {
    // It holds something by now that could not be stored.
    if (error instanceof SavestateError && error.code === 'STATE_UNSTORABLE') return false
    throw error
  }
}

/** Inside an instance of a class is nothing of others: that would have been refused. */
function othersWithin({ beliefs, classes }: Pass, slot: Slot): readonly object[] {
  const others: object[] = []
  const own = new Set([slot.root].filter(isObject))
  for (const object of own) {
    for (const { object: held } of objectsHeldBy(object, classes)) {
      if (beliefs.owners.get(held) === slot) own.add(held)
      else others.push(held)
    }
  }
  return others
}

type Place = { readonly container: Container; readonly growth: Growth }

function othersInContainer(pass: Pass, { container, growth }: Place): Others {
  const { object, path } = container
  const part = partAt(growth.root, path)
  switch (part?.kind) {
    case 'object':
      return isPlainObject(object) ? othersInKeys(pass, { container, part }) : undefined
    case 'entries': {
      const slots = slotsAt(pass, { kind: 'entries', path })
      const isSame =
        isPlainObject(object) &&
        slots.length === part.tree.length &&
        isSameList(Object.keys(object), slots.map(keyOfSlot)) &&
        isSameList(Object.values(object), slots.map(rootOfSlot))
      return isSame ? othersInSlots(pass, slots) : undefined
    }
    case 'list': {
      const slots = slotsAt(pass, { kind: 'list', path })
      const roots = slots.map(rootOfSlot)
      // The caller may have added the items to it already.
      const added = isSameList(path, growth.path) ? growth.items : []
      const isSame =
        Array.isArray(object) &&
        isPlainArray(object) &&
        slots.length === part.tree.length &&
        (isSameList(object, roots) || isSameList(object, [...roots, ...added]))
      return isSame ? othersInSlots(pass, slots) : undefined
    }
    default:
      return undefined
  }
}

/** Of an object that is stored key by key, in the row of the state. */
function othersInKeys(
  pass: Pass,
  {
    container: { object, path },
    part: { entries },
  }: { readonly container: Container; readonly part: Extract<Part, { kind: 'object' }> },
): Others {
  const keys = entries.map(([key]) => key)
  if (!isSameList(Object.keys(object), keys)) return undefined
  const others: object[] = []
  for (const [key, part] of entries) {
    const value: unknown = Reflect.get(object, key)
    const found = othersInKey(pass, { value, part, path: [...path, key] })
    if (found === undefined) return undefined
    others.push(...found)
  }
  return others
}

function othersInKey(
  pass: Pass,
  { value, part, path }: { readonly value: unknown; readonly part: Part; readonly path: ValuePath },
): Others {
  if (part.kind === 'primitive') return Object.is(part.value, value) ? [] : undefined
  if (part.kind === 'element') {
    const slots = slotsAt(pass, { kind: 'value', path })
    return isSameList([value], slots.map(rootOfSlot)) ? othersInSlots(pass, slots) : undefined
  }
  const container = pass.beliefs.containers.get(JSON.stringify(path))
  return container !== undefined && container.object === value ? [container.object] : undefined
}

function othersInSlots(pass: Pass, slots: readonly Slot[]): Others {
  const { beliefs } = pass
  const others: object[] = []
  for (const slot of slots) {
    if (!isInUse(slot, beliefs)) return undefined
    if (!isObject(slot.root)) continue
    // Otherwise the element as a whole is a reference to an object of another.
    const isOwn = beliefs.owners.get(slot.root) === slot
    if (!isOwn && linkedFrom(pass, slot) === undefined) return undefined
    others.push(slot.root)
  }
  return others
}

function slotsAt({ beliefs }: Pass, place: Pick<Sequence, 'kind' | 'path'>): readonly Slot[] {
  return beliefs.sequences.get(keyOf(place))?.slots ?? []
}

function keyOfSlot({ key }: Slot): string | undefined {
  return key
}

function rootOfSlot({ root }: Slot): unknown {
  return root
}

function isSameList(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one.length === other.length && one.every((item, place) => Object.is(item, other[place]))
}

/** Undefined if nothing is stored by itself there. */
function partAt(part: Part | undefined, path: ValuePath): Part | undefined {
  const [key, ...rest] = path
  if (key === undefined || part === undefined) return part
  if (part.kind !== 'object') return undefined
  return partAt(part.entries.find(([name]) => name === key)?.[1], rest)
}
