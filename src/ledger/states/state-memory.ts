// What a process believes to be stored of the state it wrote last: which element holds each of its values,
// what that was made of, and who owns each object. An object belongs to the one slot that holds its content;
// where else it stands, a far reference leads to that slot.
import type { StateId, ValuePath } from '../../model/index.js'
import type { KnownTree } from './list-tree.js'
import type { FlatRecord, KeyLists } from './record.js'

/** The elements of one list, of one large object, or of one single value. */
export type Sequence = {
  readonly kind: 'list' | 'entries' | 'value'
  readonly path: ValuePath
  slots: Slot[]
  readonly known: KnownTree
}

type Owning = {
  /** The pass that found it in the state last; it is in the present state if that is the present pass. */
  pass: number
  /** Some of its objects may belong to others now. */
  isSuspect: boolean
}

/** The place of an element in the state. It has a slot of its own for each content. */
export type Slot = Owning & {
  readonly kind: 'slot'
  sequence: Sequence
  index: number
  /** Of an entry. */
  readonly key: string | undefined
  readonly root: unknown
  id: number
  zeros: number
  hash: string
  /** Undefined: it must be written out to be compared. */
  record: FlatRecord | undefined
  /** The objects in it that belong to others; undefined when there are none. */
  links: readonly Link[] | undefined
}

type NewSlot = Pick<Slot, 'sequence' | 'index' | 'pass' | 'key' | 'root'>

export function newSlot(place: NewSlot): Slot {
  return {
    kind: 'slot',
    pass: place.pass,
    isSuspect: false,
    sequence: place.sequence,
    index: place.index,
    key: place.key,
    root: place.root,
    id: 0,
    zeros: 0,
    hash: '',
    record: undefined,
    links: undefined,
  }
}

/** An object that is taken apart: the state, a list, an object whose keys are stored one by one. */
export type Container = Owning & {
  readonly kind: 'container'
  readonly path: ValuePath
  readonly object: object
}

export type Owner = Slot | Container

/** A far reference holds as long as its object belongs to the same owner, in the same place. */
export type Link = {
  readonly object: object
  readonly owner: Owner
  readonly sequence: Sequence | undefined
  /** From the sequence to the owner: a key or an index. */
  readonly step: string | number
}

export type Beliefs = {
  /** Of the store, when this was believed. */
  generation: number | undefined
  /** Begins the marks of all states written from here. */
  mark: string
  last: { readonly id: StateId; readonly body: string; readonly root: string } | undefined
  pass: number
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
    owners: new WeakMap(),
    keyLists: new Map(),
    containers: new Map(),
    sequences: new Map(),
  }
}
