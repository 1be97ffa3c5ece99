// What a process believes to be stored of the state it wrote last: which element holds each of its values,
// what that was made of, and who owns each object. An object belongs to the one slot that holds its content;
// where else it stands, a far reference leads to that slot.
import type { StateId, ValuePath } from '../../model/index.js'
import type { Block } from './blocks.js'
import type { KnownTree } from './list-tree.js'
import type { FlatRecord, KeyLists } from './record.js'

/** The elements of one list, of one large object, or of one single value. */
export type Sequence = {
  readonly kind: 'list' | 'entries' | 'value'
  readonly path: ValuePath
  slots: Slot[]
  /** In their order; some slots are in none. */
  blocks: readonly Block[]
  readonly known: KnownTree
}

type Owning = {
  /** No two have the same. */
  readonly serial: number
  /** The pass that found it in the state last; it is in the present state if that is the present pass. */
  pass: number
}

/** The place of an element in the state. It has a slot of its own for each content. */
export type Slot = Owning & {
  readonly kind: 'slot'
  /** Of an entry. */
  readonly key: string | undefined
  readonly root: unknown
  /** While it is set, the block has the record and the pass. */
  block: Block | undefined
  /** Undefined: it must be written out to be compared, or a block has it. */
  record: FlatRecord | undefined
  /** The objects in it that belong to others; undefined when there are none. */
  links: readonly Link[] | undefined
  id: number
  zeros: number
  hash: string
  /** As it was when it was new; `locate` brings it up to date. */
  sequence: Sequence
  index: number
}

type NewSlot = Pick<Slot, 'sequence' | 'index' | 'key' | 'root'>

/** In the present state, and not stored yet. */
export function newSlot(beliefs: Beliefs, place: NewSlot): Slot {
  beliefs.serial += 1
  return {
    // These come first because every save looks at them: they are together in memory.
    key: place.key,
    root: place.root,
    pass: beliefs.pass,
    block: undefined,
    record: undefined,
    links: undefined,
    id: 0,
    zeros: 0,
    hash: '',
    sequence: place.sequence,
    index: place.index,
    serial: beliefs.serial,
    kind: 'slot',
  }
}

/** Tells each slot where it is now. Only far references need to know. */
export function locate(beliefs: Beliefs): void {
  if (beliefs.locatedIn === beliefs.pass) return
  beliefs.locatedIn = beliefs.pass
  for (const sequence of beliefs.sequences.values()) {
    for (const [index, slot] of sequence.slots.entries()) {
      slot.sequence = sequence
      slot.index = index
    }
  }
}

/** An object that is taken apart: the state, a list, an object whose keys are stored one by one. */
export type Container = Owning & {
  readonly kind: 'container'
  readonly path: ValuePath
  readonly object: object
}

export type Owner = Slot | Container

/**
 * A far reference holds as long as its object is in the same place of the same owner. It does not hold the owner:
 * two elements that refer to each other would keep everything alive that they ever were.
 */
export type Link = {
  readonly object: object
  /** Of the owner. */
  readonly serial: number
  /** The owner is the element that the object is. */
  readonly isElement: boolean
  /** Where the owner is: its sequence, and from there a key or an index. */
  readonly sequence: Sequence | undefined
  readonly step: string | number
}

export type Beliefs = {
  /** Of the store, when this was believed. */
  generation: number | undefined
  /** Begins the marks of all states written from here. */
  mark: string
  last: { readonly id: StateId; readonly body: string; readonly root: string } | undefined
  pass: number
  /** The pass in which all slots were told where they are. */
  locatedIn: number
  serial: number
  readonly owners: WeakMap<object, Owner>
  readonly keyLists: KeyLists
  /** By path. */
  containers: Map<string, Container>
  /** By kind and path. */
  sequences: Map<string, Sequence>
}

/** One for each session and process. It never keeps more alive than the last state. */
export class StateMemory {
  /** For StateStore only. */
  beliefs: Beliefs = noBeliefs()

  /** To be called when a transaction in which something was written has failed. */
  forget(): void {
    this.beliefs = noBeliefs()
  }
}

function noBeliefs(): Beliefs {
  return {
    generation: undefined,
    mark: '',
    last: undefined,
    pass: 0,
    locatedIn: 0,
    serial: 0,
    owners: new WeakMap(),
    keyLists: new Map(),
    containers: new Map(),
    sequences: new Map(),
  }
}
