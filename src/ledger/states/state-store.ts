// States of agents, stored by their differences, exactly. A state is whole in itself: it needs no other one to
// be read, and whatever two states have in common is stored once.
import {
  type ClassRegistry,
  decodeValue,
  encodeValue,
  type StateChange,
  type StateId,
} from '../../model/index.js'
import type { Database } from '../../system/index.js'
import { number } from '../rows.js'
import { NO_VAULT, type Vault } from '../sealing/index.js'
import { noteAhead, takeAhead } from './ahead.js'
import { appendToState } from './append-state.js'
import { readChanges } from './changes.js'
import { readBody, readState } from './read-state.js'
import type { Rows } from './rows.js'
import type { Part } from './state-body.js'
import type { StateMemory } from './state-memory.js'
import type { Pass } from './store-fresh.js'
import { writeState } from './write-state.js'

export type Figures = {
  readonly kind: 'list' | 'object' | 'value'
  /** How many items or keys; null for a value, which is stored as a whole. */
  readonly length: number | null
}

export type StateSummary = Figures & {
  /** Of a state that is an object; none of one with more than 256 keys. */
  readonly keys: readonly (Figures & { readonly key: string })[]
}

export class StateStore {
  readonly #database: Database
  readonly #classes: ClassRegistry | undefined
  readonly #vault: Vault

  constructor(
    database: Database,
    options: {
      readonly classes?: ClassRegistry | undefined
      readonly vault?: Vault | undefined
    } = {},
  ) {
    this.#database = database
    this.#classes = options.classes
    this.#vault = options.vault ?? NO_VAULT
  }

  /**
   * Inside the caller's transaction; if that fails, the caller forgets the memory. Gives the id of the last
   * state if nothing is different. Changes nothing of the caller's.
   *
   * Throws STATE_UNSTORABLE, with the path, for what could not be brought back exactly; KEY_MISSING and KEY_WRONG.
   */
  write(state: unknown, memory: StateMemory): StateId {
    return this.#pass(memory, (pass) => writeState(pass, state))
  }

  /**
   * The same as `write` of the whole state with these items at the end of a list, but looks at nothing else.
   * The list is made if there is none. Objects that the items share with the state are shared again if the state
   * was written with this memory just before, and the list is not inside something that is stored as a whole.
   *
   * Throws BAD_INPUT if there is something else under the key.
   */
  append(
    base: StateId | undefined,
    {
      key,
      items,
    }: { readonly key: string | readonly string[]; readonly items: readonly unknown[] },
    memory: StateMemory,
  ): StateId {
    const path = typeof key === 'string' ? [key] : key
    return this.#pass(memory, (pass) => appendToState(pass, { base, path, items }))
  }

  /**
   * Fresh objects each time. With `keys` an object that has only those of its keys.
   *
   * Throws STORE_DAMAGED for what is missing, STATE_UNREADABLE for what is malformed or of an unknown class, and
   * BAD_INPUT for keys of a state that is no plain object; KEY_MISSING and KEY_WRONG if it is sealed.
   */
  read(id: StateId, options: { readonly keys?: readonly string[] } = {}): unknown {
    return readState(this.#reading(), { state: id, keys: options.keys, classes: this.#classes })
  }

  /**
   * The changes that turn one state into another, as fresh objects, at the cost of the difference. Undefined if the other one has to
   * be read as a whole. Throws as `read` does.
   */
  changes(before: StateId, after: StateId): readonly StateChange[] | undefined {
    return readChanges(this.#reading(), { before, after, classes: this.#classes })
  }

  /** Inside the transaction that writes it, for a state that gets its checkpoint later: until then no collection takes it. */
  noteAhead(state: StateId, facts: Parameters<typeof noteAhead>[2]): number {
    return noteAhead(this.#database, state, facts)
  }

  /** Inside the transaction that gives it a checkpoint. Undefined if it is gone. */
  takeAhead(note: number): StateId | undefined {
    return takeAhead(this.#database, note)
  }

  /** What would be read if it was written, without that. Throws STATE_UNSTORABLE. */
  copyOf<T>(value: T): T
  copyOf(value: unknown): unknown {
    const options = this.#classes === undefined ? {} : { classes: this.#classes }
    return decodeValue(encodeValue(value, options).text, options).value
  }

  /** What stands where, without reading it. */
  summary(id: StateId): StateSummary {
    const { root } = readBody(this.#reading(), id)
    const entries = root.kind === 'object' ? root.entries : []
    return { ...figuresOf(root), keys: entries.map(([key, part]) => ({ key, ...figuresOf(part) })) }
  }

  #reading(): Rows {
    return { database: this.#database, vault: this.#vault, key: undefined }
  }

  #pass<T>(memory: StateMemory, work: (pass: Pass) => T): T {
    this.#verify(memory)
    const { beliefs } = memory
    try {
      const rows = { database: this.#database, vault: this.#vault, key: this.#vault.forWriting() }
      return work({ ...rows, classes: this.#classes, beliefs, paths: new Map() })
    } catch (error) {
      // What it believes is half of this pass, and what was stored will be gone with the transaction.
      memory.forget()
      throw error
    }
  }

  /** Drops what is believed if rows were removed meanwhile, or the last transaction has failed after all. */
  #verify(memory: StateMemory): void {
    const { last } = memory.beliefs
    const row = this.#database.get(
      `SELECT (SELECT number FROM state_generation) AS generation,
         (SELECT body FROM states WHERE id = ?) AS body,
         hex(randomblob(5)) AS chance`,
      last?.id ?? 0,
    )
    const generation = number(row ?? {}, 'generation')
    const isSound = last === undefined || row?.['body'] === last.body
    if (memory.beliefs.generation !== generation || !isSound) memory.forget()
    const { beliefs } = memory
    beliefs.generation = generation
    if (beliefs.mark === '') beliefs.mark = String(row?.['chance'])
  }
}

function figuresOf(part: Part): Figures {
  switch (part.kind) {
    case 'list':
      return { kind: 'list', length: part.tree.length }
    case 'entries':
      return { kind: 'object', length: part.tree.length }
    case 'object':
      return { kind: 'object', length: part.entries.length }
    default:
      return { kind: 'value', length: null }
  }
}
