// Who owns which object of a state. Owners that are in the present state keep what they own; new elements take
// what is free. So each object is stored once, and no path to one leads through a far reference.
import { type ClassRegistry, SavestateError, shownPath, type ValuePath } from '../../model/index.js'
import { isPresent, leaveBlock } from './blocks.js'
import { objectsHeldBy, pathWithin } from './children.js'
import type { Beliefs, Container, Link, Owner, Slot } from './state-memory.js'

/** False if the object stands in the present state already. */
export function claimContainer(
  beliefs: Beliefs,
  {
    object,
    path,
    previous,
  }: {
    readonly object: object
    readonly path: ValuePath
    readonly previous: ReadonlyMap<string, Container>
  },
): boolean {
  if (isPresent(beliefs.owners.get(object), beliefs)) return false
  const key = JSON.stringify(path)
  const known = previous.get(key)
  const container = known?.object === object ? known : newContainer(beliefs, { object, path })
  container.pass = beliefs.pass
  beliefs.containers.set(key, container)
  take(beliefs, { object, owner: container })
  return true
}

function newContainer(
  beliefs: Beliefs,
  { object, path }: Pick<Container, 'object' | 'path'>,
): Container {
  beliefs.serial += 1
  const { serial, pass } = beliefs
  return { kind: 'container', serial, path, object, pass }
}

/**
 * Gives new elements the objects that they are, as far as these are free. It comes before `claimRest` for any
 * of them: or a chain of elements that lead to each other would end up in the first.
 */
export function claimRoots(beliefs: Beliefs, slots: readonly Slot[]): void {
  for (const slot of slots) claim(beliefs, { object: slot.root, owner: slot })
}

/** Gives new elements the objects inside, as far as these are free. */
export function claimRest(
  beliefs: Beliefs,
  {
    slots,
    classes,
  }: { readonly slots: readonly Slot[]; readonly classes: ClassRegistry | undefined },
): void {
  for (const slot of slots) {
    const pending = [slot.root].filter(
      (root) => isObject(root) && beliefs.owners.get(root) === slot,
    )
    for (let object = pending.pop(); isObject(object); object = pending.pop()) {
      for (const held of objectsHeldBy(object, classes))
        if (claim(beliefs, { object: held.object, owner: slot })) pending.push(held.object)
    }
  }
}

/** True if the object is the slot's since now. */
function claim(
  beliefs: Beliefs,
  { object, owner }: { readonly object: unknown; readonly owner: Slot },
): boolean {
  if (!isObject(object) || isPresent(beliefs.owners.get(object), beliefs)) return false
  take(beliefs, { object, owner })
  return true
}

export function take(
  { owners }: Beliefs,
  { object, owner }: { readonly object: object; readonly owner: Owner },
): void {
  const before = owners.get(object)
  if (before === owner) return
  // If it is ever met again, it does not hold all that it was recorded with.
  if (before?.kind === 'slot') {
    leaveBlock(before)
    before.record = undefined
  }
  owners.set(object, owner)
}

/** Slots must be located. */
export function linkTo(owner: Owner, object: object): Link {
  const { serial } = owner
  if (owner.kind === 'container')
    return { object, serial, isElement: false, sequence: undefined, step: 0 }
  const { sequence } = owner
  return { object, serial, isElement: owner.root === object, sequence, step: stepOf(owner) }
}

/** Whether the path that was written for it still leads there. Slots must be located. */
export function holds(link: Link, beliefs: Beliefs): boolean {
  const owner = beliefs.owners.get(link.object)
  if (!isPresent(owner, beliefs)) return false
  if (owner.kind === 'container') return owner.serial === link.serial
  if (owner.sequence !== link.sequence || stepOf(owner) !== link.step) return false
  // An element that was changed may hold the object in another place, unless it is the object.
  return owner.serial === link.serial || (link.isElement && owner.root === link.object)
}

function stepOf({ key, index }: Slot): string | number {
  return key ?? index
}

export function pathOfSlot(slot: Slot): ValuePath {
  const { kind, path } = slot.sequence
  return kind === 'value' ? path : [...path, stepOf(slot)]
}

/** Where the content of an object is stored. Slots must be located. */
export function pathOfObject(
  beliefs: Beliefs,
  {
    object,
    owner,
    classes,
  }: {
    readonly object: object
    readonly owner: Owner
    readonly classes: ClassRegistry | undefined
  },
): ValuePath {
  if (owner.kind === 'container') return owner.path
  const mayEnter = (inner: object) => beliefs.owners.get(inner) === owner
  const inside = isObject(owner.root)
    ? pathWithin(owner.root, { wanted: object, classes, mayEnter })
    : undefined
  if (inside !== undefined) return [...pathOfSlot(owner), ...inside]
  const place = shownPath(pathOfSlot(owner))
  throw new SavestateError(
    'STATE_UNSTORABLE',
    `Cannot store ${place}: an instance of a registered class in it shares an object with another element`,
    { hint: 'Leave the object out of what toValue returns, and set it after the state is read.' },
  )
}

export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
