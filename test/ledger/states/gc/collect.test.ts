// docs/guide/store.md#states: with any mix of writes, drops and collections, referenced states read back exactly, and unreferenced rows are
// removed in the end. The test compares with naive full copies.
/* oxlint-disable vitest/expect-expect, vitest/no-standalone-expect -- the checks are in what every command runs */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { tries } from '../../../support/test-budget.js'
import type { StateId } from '../../../../src/model/index.js'
import { type Database, openDatabase } from '../../../../src/system/index.js'
import {
  collectStates,
  STATE_TABLES,
  StateMemory,
  StateStore,
} from '../../../../src/ledger/states/index.js'
import { stateDifference, strictCopy } from '../../../support/strict-copy.js'

const root = mkdtempSync(join(tmpdir(), 'savestate-collect-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

/** The tables that refer to states in a ledger. */
const HOLDERS = `
  CREATE TABLE file.checkpoints (id INTEGER PRIMARY KEY, state INTEGER REFERENCES states (id));
  CREATE TABLE file.graph_checkpoints (id INTEGER PRIMARY KEY, state INTEGER REFERENCES states (id));
  CREATE TABLE file.sessions (key INTEGER PRIMARY KEY, fence INTEGER, deleted_at INTEGER);
  CREATE TABLE file.facts (key TEXT PRIMARY KEY, value TEXT);
  CREATE TABLE file.shared_numbers (kind INTEGER, local);`
const TABLES = ['states', 'nodes', 'elements'] as const

type State = { messages: unknown[]; facts: Record<string, unknown>; n: number }
type Choice = { readonly kind: string; readonly a: number; readonly b: number }
type Held = { readonly holder: 'checkpoints' | 'graph_checkpoints'; row: number; copy: unknown }

/** Two writers, each with a connection, a memory and a state of its own, as two processes have. */
class Writer {
  readonly database: Database
  readonly store: StateStore
  readonly memory = new StateMemory()
  state: State = { messages: [], facts: {}, n: 0 }
  last: StateId | undefined
  readonly removed: unknown[] = []

  constructor(path: string) {
    this.database = openDatabase(path, { timeoutMs: 1000 })
    this.database.exec('PRAGMA synchronous = OFF; PRAGMA foreign_keys = ON')
    this.store = new StateStore(this.database)
  }
}

class World {
  readonly writers: readonly [Writer, Writer]
  readonly collector: Database
  readonly held: Held[] = []
  /** Contents that were written once, and may be written again. */
  readonly past: State[] = []

  constructor(path: string) {
    const database = openDatabase(path, { timeoutMs: 1000 })
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF')
    database.exec(STATE_TABLES + HOLDERS)
    this.collector = database
    this.writers = [new Writer(path), new Writer(path)]
  }

  do({ kind, a, b }: Choice): void {
    const writer = this.writers[a % 2] ?? this.writers[0]
    const { state } = writer
    const messages = Array.from({ length: 1 + (b % 40) }, (_, n) => ({
      // Some are stored already, and some exist only once.
      text: n % 2 === 0 ? `${n % 5} ${b % 7}` : `${this.past.length} ${n}`,
    }))
    if (kind === 'append') state.messages.push(...messages)
    if (kind === 'edit') state.messages[b % (state.messages.length + 1)] = { edited: b % 9 }
    if (kind === 'fact') state.facts[`fact ${b % 40}`] = { value: b % 11 }
    if (kind === 'take out')
      writer.removed.push(...state.messages.splice(b % (state.messages.length + 1)))
    // The same objects, which the memory may know as stored.
    if (kind === 'bring back') state.messages.push(...writer.removed.splice(0))
    if (kind === 'come again')
      writer.state = strictCopy(this.past[b % (this.past.length || 1)] ?? state)
    if (kind === 'forget') writer.memory.forget()
    if (kind === 'drop') this.drop(b)
    else if (kind === 'append to the last') this.appendToLast(writer, messages)
    else this.write(writer)
  }

  write(writer: Writer): void {
    writer.state.n += 1
    this.hold(writer, () => writer.store.write(writer.state, writer.memory))
  }

  appendToLast(writer: Writer, items: readonly unknown[]): void {
    const isThere =
      writer.last !== undefined &&
      writer.database.get('SELECT 1 FROM checkpoints WHERE state = ?', writer.last) !== undefined
    if (!isThere) return this.write(writer)
    writer.state = writer.store.read(writer.last as StateId) as State
    writer.state.messages.push(...items)
    const request = { key: 'messages', items }
    this.hold(writer, () => writer.store.append(writer.last, request, writer.memory))
  }

  /** State and holder in one transaction, as every save does. */
  hold(writer: Writer, store: () => StateId): void {
    const holder = this.held.length % 3 === 0 ? 'graph_checkpoints' : 'checkpoints'
    const row = writer.database.transaction(() => {
      const id = store()
      writer.last = id
      writer.database.run(`INSERT INTO ${holder} (state) VALUES (?)`, id)
      return Number(writer.database.get('SELECT last_insert_rowid() AS row')?.['row'])
    })
    this.held.push({ holder, row, copy: strictCopy(writer.state) })
    this.past.push(strictCopy(writer.state))
  }

  drop(place: number): void {
    for (const { holder, row } of this.held.splice(place % (this.held.length + 1), 1 + (place % 4)))
      this.collector.run(`DELETE FROM ${holder} WHERE id = ?`, row)
  }

  /** `meanwhile` runs before each step of the collection, like other processes. */
  async collect(meanwhile: Choice[]): Promise<void> {
    const interrupted: Database = {
      ...plain(this.collector),
      all: (sql, ...values) => {
        this.oneOf(meanwhile)
        return this.collector.all(sql, ...values)
      },
      transaction: (work) => {
        this.oneOf(meanwhile)
        return this.collector.transaction(() => {
          this.isAlone = true
          try {
            return work()
          } finally {
            this.isAlone = false
          }
        })
      },
    }
    await collectStates(interrupted, async () => undefined)
  }

  isAlone = false

  oneOf(meanwhile: Choice[]): void {
    if (this.isAlone) return
    const choice = meanwhile.pop()
    if (choice !== undefined) this.do(choice)
  }

  check(): void {
    for (const { holder, row, copy } of this.held) {
      const found = this.collector.get(`SELECT state FROM ${holder} WHERE id = ?`, row)
      const id = Number(found?.['state']) as StateId
      const { store } = this.writers[row % 2] ?? this.writers[0]
      expect(stateDifference(copy, store.read(id))).toBe(undefined)
    }
  }

  count(): number[] {
    return TABLES.map((table) =>
      Number(this.collector.get(`SELECT count(*) AS count FROM ${table}`)?.['count']),
    )
  }

  close(): void {
    for (const { database } of [...this.writers, { database: this.collector }]) database.close()
  }
}

/** The methods of a resource, each of which can be replaced. */
function plain(database: Database): Database {
  return {
    exec: (sql) => database.exec(sql),
    get: (sql, ...values) => database.get(sql, ...values),
    all: (sql, ...values) => database.all(sql, ...values),
    run: (sql, ...values) => database.run(sql, ...values),
    transaction: (work) => database.transaction(work),
    withBusyTimeout: (waitMs, work) => database.withBusyTimeout(waitMs, work),
    close: () => database.close(),
    abandon: () => database.abandon(),
  }
}

const KINDS = [
  'append',
  'append to the last',
  'edit',
  'fact',
  'take out',
  'take out',
  'bring back',
  'bring back',
  'come again',
  'forget',
  'drop',
  'drop',
] as const
const choice = fc.record({ kind: fc.constantFrom(...KINDS), a: fc.nat(), b: fc.nat(500) })
const step = fc.oneof(
  { weight: 4, arbitrary: choice.map((it) => ({ meanwhile: undefined, choice: it })) },
  {
    weight: 1,
    arbitrary: fc
      .array(choice, { maxLength: 6 })
      .map((meanwhile) => ({ meanwhile, choice: undefined })),
  },
)

let count = 0
test('referenced states read back exactly, with collections between and during any writes', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 30 }), async (steps) => {
      count += 1
      const world = new World(join(root, `${count}.db`))
      for (const { meanwhile, choice: next } of steps) {
        if (next !== undefined) world.do(next)
        else await world.collect([...meanwhile])
        world.check()
      }
      await world.collect([])
      world.check()
      const before = world.count()
      await world.collect([])
      expect(world.count()).toEqual(before)
      while (world.held.length > 0) world.drop(0)
      await world.collect([])
      expect(world.count()).toEqual([0, 0, 0])
      // Both continue to write.
      for (const writer of world.writers) world.write(writer)
      world.check()
      world.close()
    }),
    { numRuns: tries(120), seed: 1 },
  )
})
