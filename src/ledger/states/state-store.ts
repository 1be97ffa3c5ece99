// Stores the states of agents by their differences (README.md). Reading a state needs no other state, and content that two
// states have in common is stored once.
import type { ClassRegistry, StateChange, StateId } from '../../model/index.js'
import type { Database } from '../../system/index.js'
import { number } from '../rows.js'
import { NO_VAULT, type Vault } from '../encryption/index.js'
import { appendToState } from './append-state.js'
import { readChanges } from './changes.js'
import { copyValue } from './copy-value.js'
import { layOut } from './layout.js'
import { readBody, readState } from './read-state.js'
import type { Rows } from './rows.js'
import type { Part } from './state-body.js'
import type { StateMemory } from './stored-view.js'
import type { Pass } from './match-slots.js'
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
    return this.#pass(memory, (pass) => writeState(pass, layOut(state)))
  }

  /**
   * Takes the state as it is now, and returns a function that writes it later, as `write` does: the caller may change
   * it meanwhile. Throws STATE_UNSTORABLE.
   */
  capture(state: unknown, memory: StateMemory): () => StateId {
    const layout = memory.captures.copyLayout(layOut(state), this.#classes)
    return () => this.#pass(memory, (pass) => writeState(pass, layout))
  }

  /** Items for a later `append`, as they are now. Throws STATE_UNSTORABLE. */
  captureItems(
    items: readonly unknown[],
    { key, memory }: { readonly key: string; readonly memory: StateMemory },
  ): readonly unknown[] {
    const options = { path: [key], classes: this.#classes }
    return items.map((item) => memory.captures.copyElement(item, options))
  }

  /**
   * The same as `write` of the whole state with these items at the end of a list, but looks at nothing else.
   * The list is made if there is none.
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

  /** A copy: what would be read if the value was written. Throws STATE_UNSTORABLE. */
  copyOf<T>(value: T): T
  copyOf(value: unknown): unknown {
    return copyValue(value, { classes: this.#classes })
  }

  /** The kinds and sizes of the parts of a state, without reading them. */
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
    const { view, captures } = memory
    try {
      const rows = {
        database: this.#database,
        vault: this.#vault,
        key: this.#vault.keyForWriting(),
      }
      return work({ ...rows, classes: this.#classes, view, captures })
    } catch (error) {
      // The view is half updated, and the rows will be gone with the transaction.
      memory.forget()
      throw error
    }
  }

  /** Forgets the view if rows were removed meanwhile, or if the last transaction was rolled back. */
  #verify(memory: StateMemory): void {
    const { last } = memory.view
    const row = this.#database.get(
      `SELECT (SELECT number FROM state_generation) AS generation,
         (SELECT body FROM states WHERE id = ?) AS body,
         hex(randomblob(5)) AS chance`,
      last?.id ?? 0,
    )
    const generation = number(row ?? {}, 'generation')
    const isSound = last === undefined || row?.['body'] === last.body
    if (memory.view.generation !== generation || !isSound) memory.forget()
    const { view } = memory
    view.generation = generation
    if (view.mark === '') view.mark = String(row?.['chance'])
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
