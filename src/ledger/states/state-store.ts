// Stores the states of agents by their differences (README.md). Reading a state needs no other state, and content that two
// states have in common is stored once.
import type { SessionKey, StateChange, StateId } from '../../model/index.js'
import { number } from '../rows.js'
import { SealedTable } from '../ledger-table.js'
import { appendToState } from './append-state.js'
import { readChanges } from './changes.js'
import { copyValue } from './captures.js'
import { layOut } from './layout.js'
import {
  type CheckpointListLength,
  type ListSlice,
  readListLengths,
  readListSlice,
  type SliceRequest,
} from './read-list.js'
import { readBody, readState } from './read-state.js'
import type { Rows } from './rows.js'
import type { Part } from './state-body.js'
import type { StateMemory } from './stored-view.js'
import type { Pass } from './match-slots.js'
import { writeState } from './write-state.js'

export type Figures = {
  readonly kind: 'list' | 'object' | 'value'
  /** The number of items or keys; null for a value. */
  readonly length: number | null
}

export type StateSummary = Figures & {
  /** Empty if the state is not an object, or has more than 256 keys. */
  readonly keys: readonly (Figures & { readonly key: string })[]
}

export class StateStore extends SealedTable {
  /**
   * Inside the caller's transaction; if that fails, the caller calls `memory.forget()`. Returns the id of the last state if nothing
   * changed. Never changes the caller's objects.
   *
   * Throws STATE_UNSTORABLE, with the path, for a value that a read could not restore exactly; KEY_MISSING and KEY_WRONG.
   */
  write(state: unknown, memory: StateMemory): StateId {
    return this.#pass(memory, (pass) => writeState(pass, layOut(state)))
  }

  /**
   * Copies the state, and returns a function that writes the copy later, as `write` does. The caller may change the state
   * meanwhile. Throws STATE_UNSTORABLE.
   */
  capture(state: unknown, memory: StateMemory): () => StateId {
    const layout = memory.captures.copyLayout(layOut(state), this.classes)
    return () => this.#pass(memory, (pass) => writeState(pass, layout))
  }

  /** Copies items for a later `append`. Throws STATE_UNSTORABLE. */
  captureItems(
    items: readonly unknown[],
    { key, memory }: { readonly key: string; readonly memory: StateMemory },
  ): readonly unknown[] {
    const options = { path: [key], classes: this.classes }
    return items.map((item) => memory.captures.copyElement(item, options))
  }

  /**
   * Like `write` of the whole state with these items at the end of a list, but reads only that list. Creates the list if the key has
   * no value. Throws BAD_INPUT if the value is not a list.
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
   * Returns new objects each time. With `keys`, an object with only these keys.
   *
   * Throws STORE_DAMAGED for missing rows, STATE_UNREADABLE for malformed rows and unknown classes, BAD_INPUT for keys of a state
   * that is not a plain object, KEY_MISSING and KEY_WRONG.
   */
  read(id: StateId, options: { readonly keys?: readonly string[] } = {}): unknown {
    return readState(this.#reading(), { state: id, keys: options.keys, classes: this.classes })
  }

  /** Items of the list under a key; undefined if the state has no such list. Reads no other item. Throws as `read` does. */
  slice(id: StateId, part: Pick<SliceRequest, 'key' | 'from' | 'limit'>): ListSlice | undefined {
    return readListSlice(this.#reading(), { state: id, ...part, classes: this.classes })
  }

  /** The length of the list under a key at every checkpoint of a session, oldest first. Throws KEY_MISSING, KEY_WRONG. */
  listLengths(session: SessionKey, key: string): readonly CheckpointListLength[] {
    return readListLengths(this.#reading(), { session, key, classes: this.classes })
  }

  /**
   * The changes that turn one state into another, as new objects. The cost depends on the difference only. Undefined if the other
   * state has to be read as a whole. Throws as `read` does.
   */
  changes(before: StateId, after: StateId): readonly StateChange[] | undefined {
    return readChanges(this.#reading(), { before, after, classes: this.classes })
  }

  /** Returns the value that a read would return after a write of this one. Throws STATE_UNSTORABLE. */
  copyOf<T>(value: T): T
  copyOf(value: unknown): unknown {
    return copyValue(value, { classes: this.classes })
  }

  /** The kinds and sizes of the parts of a state, without reading them. */
  summary(id: StateId): StateSummary {
    const { root } = readBody(this.#reading(), id)
    const entries = root.kind === 'object' ? root.entries : []
    const keys = entries.map(([key, part]) => ({ key, ...measurePart(part) }))
    return { ...measurePart(root), keys }
  }

  #reading(): Rows {
    return { database: this.database, vault: this.vault, key: undefined }
  }

  #pass<T>(memory: StateMemory, work: (pass: Pass) => T): T {
    this.#discardStale(memory)
    const { view, captures } = memory
    try {
      const rows = {
        database: this.database,
        vault: this.vault,
        key: this.vault.keyForWriting(),
      }
      return work({ ...rows, classes: this.classes, view, captures })
    } catch (error) {
      // The view is half updated, and the transaction will be rolled back.
      memory.forget()
      throw error
    }
  }

  /** Forgets the view if rows were removed since, or if the last transaction was rolled back. */
  #discardStale(memory: StateMemory): void {
    const { last } = memory.view
    const row = this.database.get(
      `SELECT (SELECT number FROM state_generation) AS generation,
         (SELECT body FROM states WHERE id = ?) AS body,
         hex(randomblob(5)) AS chance`,
      last?.id ?? 0,
    )
    const generation = number(row ?? {}, 'generation')
    const isStored = last === undefined || row?.['body'] === last.body
    if (memory.view.generation !== generation || !isStored) memory.forget()
    const { view } = memory
    view.generation = generation
    if (view.mark === '') view.mark = String(row?.['chance'])
  }
}

function measurePart(part: Part): Figures {
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
