// Who owns which object of a state. Owners that are in the present state keep what they own; new elements take
// what is free. So each object is stored once, and no path to one leads through a far reference.
import { type ClassRegistry, SavestateError, shownPath, type ValuePath } from '../../model/index.js'
import { objectsHeldBy, pathWithin } from './children.js'
import { objectsIn } from './record.js'
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
  const container: Container =
    known?.object === object
      ? known
      : { kind: 'container', path, object, pass: 0, isSuspect: false }
  container.pass = beliefs.pass
  beliefs.containers.set(key, container)
  take(beliefs, { object, owner: container })
  return true
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
  if (before !== undefined) before.isSuspect = true
  owners.set(object, owner)
}

export function isPresent(owner: Owner | undefined, { pass }: Beliefs): owner is Owner {
  return owner?.pass === pass
}

/** Whether all objects whose content it holds are still its own. */
export function ownsAll({ owners }: Beliefs, slot: Slot): boolean {
  return slot.record !== undefined && objectsIn(slot.record).every((it) => owners.get(it) === slot)
}

export function linkTo(owner: Owner, object: object): Link {
  if (owner.kind === 'container') return { object, owner, sequence: undefined, step: 0 }
  return { object, owner, sequence: owner.sequence, step: stepOf(owner) }
}

/** Whether the path that was written for it still leads there. */
export function holds({ object, owner, sequence, step }: Link, beliefs: Beliefs): boolean {
  const now = beliefs.owners.get(object)
  if (!isPresent(now, beliefs)) return false
  if (now.kind === 'container' || owner.kind === 'container') return now === owner
  if (now.sequence !== sequence || stepOf(now) !== step) return false
  // An element that was changed may hold the object elsewhere, unless it is the object.
  return now === owner || (now.root === object && owner.root === object)
}

function stepOf({ key, index }: Slot): string | number {
  return key ?? index
}

export function pathOfSlot(slot: Slot): ValuePath {
  const { kind, path } = slot.sequence
  return kind === 'value' ? path : [...path, stepOf(slot)]
}

/** Where the content of an object is stored. */
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
    { hint: 'Leave the object out of what toValue gives, and set it after the state is read.' },
  )
}

export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
