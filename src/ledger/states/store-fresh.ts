// Writes new elements out and stores them.
import {
  type ClassRegistry,
  encodeFarReference,
  encodeValue,
  type EncodedValue,
  type ValuePath,
} from '../../model/index.js'
import { isPresent } from './blocks.js'
import { zerosOf } from './chunks.js'
import { type Element, FAR, hashOf, PLAIN, storeElement, TAGGED } from './element-rows.js'
import { claimRest, isObject, linkTo, pathOfObject, pathOfSlot, take } from './ownership.js'
import { recordOf } from './record.js'
import type { Rows } from './rows.js'
import type { Fresh } from './settle.js'
import { type Beliefs, locate, type Slot } from './state-memory.js'

/** One call that writes. */
export type Pass = Rows & {
  readonly classes: ClassRegistry | undefined
  readonly beliefs: Beliefs
  /** Of objects that were referred to. */
  readonly paths: Map<object, ValuePath>
}

/** True if one of the elements refers to an object in another. They must have claimed their roots. */
export function storeFresh(pass: Pass, fresh: readonly Fresh[]): boolean {
  const { beliefs, classes } = pass
  claimRest(beliefs, { slots: fresh.map(({ slot }) => slot), classes })
  let hasFar = false
  for (const one of fresh) {
    const { slot, before } = one
    record(pass, slot)
    if (before !== undefined && one.isCopy && slot.links === undefined) {
      use(slot, before)
      continue
    }
    const element = elementOf(pass, slot)
    hasFar ||= element.form === FAR
    const hash = hashOf(element, pass)
    const id = before?.hash === hash ? before.id : storeElement(pass, { ...element, hash })
    use(slot, { id, hash, zeros: zerosOf(hash) })
  }
  return hasFar
}

function use(slot: Slot, { id, hash, zeros }: Pick<Slot, 'id' | 'hash' | 'zeros'>): void {
  slot.id = id
  slot.hash = hash
  slot.zeros = zeros
}

function record({ beliefs, classes }: Pass, slot: Slot): void {
  const { owners, keyLists } = beliefs
  if (!isObject(slot.root)) return
  const isElsewhere = (object: object) => owners.get(object) !== slot
  const recording = recordOf(slot.root, { isElsewhere, classes, keyLists })
  slot.record = recording?.record
  if (recording === undefined || recording.links.length === 0) return
  locate(beliefs)
  slot.links = recording.links.flatMap((object) => {
    const owner = owners.get(object)
    return owner === undefined ? [] : [linkTo(owner, object)]
  })
}

/** The content of a slot, as it is now. */
export function elementOf(pass: Pass, slot: Slot): Element {
  const { text, plain, far } = encodedOf(pass, slot)
  return {
    form: far ? FAR : plain ? PLAIN : TAGGED,
    text: slot.key === undefined ? text : `[${JSON.stringify(slot.key)},${text}]`,
  }
}

function encodedOf(pass: Pass, slot: Slot): EncodedValue {
  const { beliefs, classes } = pass
  const { root } = slot
  const farPath = (object: object) => {
    const owner = beliefs.owners.get(object)
    if (owner === slot) return undefined
    if (isPresent(owner, beliefs)) return pathTo(pass, object)
    // Only inside an instance of a class is anything left that nobody has claimed.
    take(beliefs, { object, owner: slot })
    return undefined
  }
  const whole = isObject(root) ? farPath(root) : undefined
  if (whole !== undefined) return encodeFarReference(whole)
  const path = pathOfSlot(slot)
  return encodeValue(root, { path, farPath, ...(classes === undefined ? {} : { classes }) })
}

function pathTo({ beliefs, classes, paths }: Pass, object: object): ValuePath | undefined {
  const known = paths.get(object)
  if (known !== undefined) return known
  const owner = beliefs.owners.get(object)
  if (owner === undefined) return undefined
  locate(beliefs)
  const path = pathOfObject(beliefs, { object, owner, classes })
  paths.set(object, path)
  return path
}
