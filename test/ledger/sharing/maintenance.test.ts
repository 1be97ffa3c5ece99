// Shared logs beside the other things that a ledger does: a new key, a repair, a backup, the removal of a project.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  ledgerFiles,
  Ledger,
  rescueLedger,
  SealingKey,
  StateMemory,
} from '../../../src/ledger/index.js'
import { makeId, parseCheckpointId } from '../../../src/model/index.js'
import { openDatabase, SetAside } from '../../../src/system/index.js'
import { encode, newChain, pullAll, receive, REMOTE, sessionLog, ship } from './chain.js'
import { sessionPicture } from './pictures.js'

const LOG = sessionLog('task')
const KEY = new SealingKey(Buffer.alloc(32, 7))
const PENDING_TEXT = 'a message that is still pending'

/** One ledger without a store, with a session of three steps; the last one is pending. */
function sharedLedger(key?: SealingKey) {
  const home = mkdtempSync(join(tmpdir(), 'savestate-shared-'))
  const open = (keys: { key?: SealingKey; newKey?: SealingKey } = {}) =>
    Ledger.open(home, { durability: 'process', keys })
  const ledger = open(key === undefined ? {} : { key })
  const memory = new StateMemory()
  const messages: string[] = []
  const append = (on: Ledger, message: string) => {
    messages.push(message)
    on.transaction(() => {
      const session = on.sessions.byId('task')
      if (session === undefined) throw new Error('the session exists')
      const id = parseCheckpointId(makeId((bytes) => Buffer.alloc(bytes, messages.length)))
      const state = on.states.write(
        { messages: [...messages] },
        on === ledger ? memory : new StateMemory(),
      )
      const { key: row, nextStep: step, head: parent } = session
      const status = { state: 'in_progress' } as const
      const position = {
        key: row,
        id: 'task',
        agent: null,
        parent,
        step,
        status,
        turn: 0,
        toolCall: null,
        state,
      }
      const more = { schemaVersion: null, metadata: { step }, operationId: null }
      const facts = {
        id,
        project: null,
        kind: 'save',
        name: null,
        reason: null,
        createdAtMs: step,
        pinned: false,
      } as const
      on.checkpoints.insert(
        {
          ...facts,
          authors: null,
          commit: null,
          snapshot: null,
          changes: null,
          session: { ...position, ...more },
        },
        undefined,
      )
      on.sessions.advance(session, { head: id, status, atMs: step, leaseUntilMs: null })
    })
  }
  ledger.transaction(() =>
    ledger.sessions.create({ id: 'task', agent: null, project: null, metadata: { m: 1 }, atMs: 1 }),
  )
  append(ledger, 'first')
  ledger.sharing.share(LOG, { remote: REMOTE })
  const chain = newChain(LOG)
  ship(ledger, chain)
  append(ledger, 'second')
  ship(ledger, chain)
  append(ledger, PENDING_TEXT)
  const pending = ledger.sharing.prepare(LOG, encode)
  if (pending === undefined) throw new Error('something is pending')
  const dispose = () => rmSync(home, { recursive: true })
  return { home, ledger, open, append, chain, pending, [Symbol.dispose]: dispose }
}

/** The session as an empty ledger takes it over. */
function pictureElsewhere(chain: Parameters<typeof pullAll>[1]) {
  const home = mkdtempSync(join(tmpdir(), 'savestate-shared-'))
  const other = Ledger.open(home, { durability: 'process' })
  expect(pullAll(other, chain)).toBe('applied')
  const picture = sessionPicture(other, 'task')
  other.close()
  rmSync(home, { recursive: true })
  return picture
}

function query(home: string, sql: string) {
  const database = openDatabase(ledgerFiles(home).ledger, { timeoutMs: 1000 })
  try {
    return database.all(sql)
  } finally {
    database.close()
  }
}

test.each([
  ['to a first key', undefined, KEY],
  ['to none', KEY, undefined],
  ['to another one', KEY, new SealingKey(Buffer.alloc(32, 8))],
])('a change of the key %s keeps the pending segment and all numbers', async (_, before, after) => {
  using shared = sharedLedger(before)
  const { ledger, chain, pending, append } = shared
  ledger.close()
  const both = {
    ...(before !== undefined && { key: before }),
    ...(after !== undefined && { newKey: after }),
  }
  const changing = shared.open(both)
  await changing.rekey.rewrite(after, { nowMs: 1, onRows: () => undefined })
  changing.close()
  const changed = shared.open(after === undefined ? {} : { key: after })
  expect(changed.sharing.prepare(LOG, encode)).toEqual(pending)
  receive(chain, pending)
  changed.sharing.acknowledge(LOG, chain.position)
  append(changed, 'after the change')
  expect(ship(changed, chain)).toBe(true)
  // Only the new element: the others are known by their numbers.
  expect(chain.segments.at(-1)?.content.elements).toHaveLength(1)
  expect(pictureElsewhere(chain)).toEqual(sessionPicture(changed, 'task'))
  changed.close()
})

test('with a key the pending segment is sealed', () => {
  using shared = sharedLedger(KEY)
  shared.ledger.close()
  const [row] = query(shared.home, 'SELECT body FROM shared_outbox')
  expect(String(row?.['body'])).toMatch(/^~/)
  const keyless = shared.open()
  expect(() => keyless.sharing.prepare(LOG, encode)).toThrow(
    expect.objectContaining({ code: 'KEY_MISSING' }),
  )
  keyless.close()
})

test('a backup has the shared logs', () => {
  using shared = sharedLedger()
  shared.ledger.backUp(1)
  shared.ledger.close()
  const database = openDatabase(ledgerFiles(shared.home).backup, { timeoutMs: 0 })
  expect(database.all('SELECT next_n FROM shared_logs')).toEqual([{ next_n: 3 }])
  database.close()
})

test('a rescued ledger shares nothing: it may lack rows, and must not replace what the remote has', () => {
  using shared = sharedLedger()
  const { ledger, home, chain } = shared
  const picture = sessionPicture(ledger, 'task')
  ledger.backUp(1)
  ledger.close()
  writeFileSync(
    ledgerFiles(home).ledger,
    'no database at all, and long enough to be read as one'.repeat(40),
  )
  rescueLedger(home, new SetAside({ root: home, folder: join(home, 'aside') }))
  const rescued = shared.open()
  expect(sessionPicture(rescued, 'task')).toEqual(picture)
  expect(rescued.sharing.list()).toEqual([])
  expect(rescued.rowChecks.dangling()).toEqual([])
  // The next pull finds the session here, and makes a fork of what the remote does not have.
  expect(pullAll(rescued, chain)).toBe('diverged')
  rescued.close()
})

const MEND = { atMs: 1, stateLost: '{}', keep: () => undefined }

test('nothing is shared any more after a repair has removed a row', () => {
  using shared = sharedLedger()
  const { home, ledger } = shared
  const [row] = query(home, 'SELECT rowid AS number FROM checkpoints WHERE step = 0')
  const fault = { table: 'checkpoints', rowid: Number(row?.['number']) } as const
  ledger.rowChecks.removeRow(fault, () => undefined)
  ledger.rowChecks.mendReferences(MEND)
  expect(ledger.sharing.list()).toEqual([])
  expect(ledger.rowChecks.dangling()).toEqual([])
  ledger.close()
})

test('nothing is shared any more after a repair has found references to a lost row', () => {
  using shared = sharedLedger()
  const { home, ledger } = shared
  ledger.close()
  const database = openDatabase(ledgerFiles(home).ledger, { timeoutMs: 0 })
  database.exec('PRAGMA foreign_keys = OFF')
  database.run('DELETE FROM sessions')
  database.close()
  const repaired = shared.open()
  expect(repaired.rowChecks.dangling()).not.toEqual([])
  repaired.rowChecks.mendReferences(MEND)
  expect(repaired.sharing.list()).toEqual([])
  expect(repaired.rowChecks.dangling()).toEqual([])
  repaired.close()
})

test('a repair without faults changes nothing', () => {
  using shared = sharedLedger()
  const { ledger, pending } = shared
  ledger.rowChecks.mendReferences(MEND)
  expect(ledger.sharing.prepare(LOG, encode)).toEqual(pending)
  ledger.close()
})

test('a failed transaction notes nothing, and the next one does', () => {
  using shared = sharedLedger()
  const { ledger, chain, pending, append } = shared
  receive(chain, pending)
  ledger.sharing.acknowledge(LOG, chain.position)
  ledger.close()
  // The triggers are created in the first transaction of a connection; a rollback removes them.
  const again = shared.open()
  const fail = () =>
    again.transaction(() => {
      throw new Error('no')
    })
  expect(fail).toThrow('no')
  expect(again.sharing.get(LOG)?.isDirty).toBe(false)
  append(again, 'noted')
  expect(again.sharing.get(LOG)?.isDirty).toBe(true)
  again.close()
})
