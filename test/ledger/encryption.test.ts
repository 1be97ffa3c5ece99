// Encryption at rest: through the SDK, from another process, and by searching the files.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { SealedValue, type Store } from '../../src/internal.js'
import { Ledger, SealingKey } from '../../src/ledger/index.js'
import { openDatabase } from '../../src/system/index.js'
import { type Scratch, scratch } from '../support/scratch.js'
import { exportOf } from '../support/export-of.js'

const KEY = 'a1'.repeat(32)
const OTHER = Buffer.alloc(32, 0xb2).toString('base64')
const MARKER = 'PLAINTEXT-MARKER'
const ENCRYPTED = { encryption: { key: KEY } }
const PLAIN = { encryption: {} }

let s: Scratch
afterEach(() => s.dispose())

const failing = (code: string) => expect.objectContaining({ code })

/** Writes the marker into every value that a caller can store. */
async function fill(store: Store): Promise<void> {
  const project = await store.project(s.project)
  const session = await store.session<Record<string, unknown>>('work', {
    project,
    metadata: { note: `${MARKER} 1` },
  })
  const messages = Array.from({ length: 60 }, (_, n) => ({ role: 'user', text: `${MARKER} ${n}` }))
  const state = {
    messages,
    [`${MARKER} key`]: 1,
    small: `${MARKER} small`,
    at: new Date(5),
    long: `${MARKER} long `.repeat(2000),
  }
  await session.save({ state, files: true, metadata: [`${MARKER} 2`] })
  await session.append('messages', [{ role: 'user', text: `${MARKER} last` }])
  await session.tool({ id: 'a', name: 'send', args: { to: MARKER } }, async (call) => {
    call.partial(`${MARKER} partial`)
    return `${MARKER} result`
  })
  // Never ends: the process dies with it.
  void session.tool({ id: 'c', name: 'send', args: MARKER }, async (call) => {
    call.partial(`${MARKER} partial`)
    return new Promise(() => undefined)
  })
  const throwing = session.tool({ id: 'b', name: 'send', args: MARKER }, async () => {
    throw new Error(MARKER)
  })
  await expect(throwing).rejects.toThrow(MARKER)
  const threads = store.threads
  const place = { thread: 't', ns: '', id: '1' }
  const serial = (data: string | Uint8Array) => ({ type: 'json', data })
  await threads.put({
    ...place,
    parent: null,
    facts: JSON.stringify({ v: 4, note: MARKER }),
    metadata: serial(`"${MARKER}"`),
    run: null,
    files: null,
    deltas: [],
    sends: null,
    values: new Map([['messages', [`"${MARKER}"`]]]),
  })
  await threads.putWrites(place, [
    { task: 'x', idx: 0, channel: 'c', value: serial(`"${MARKER}"`) },
    { task: 'x', idx: 1, channel: 'c', value: serial(Buffer.from(MARKER)) },
  ])
  await session.close()
}

async function check(store: Store): Promise<void> {
  const resumed = await store.resume<Record<string, unknown>>('work')
  const { session, state, info, inFlight } = resumed
  expect(inFlight).toMatchObject([{ id: 'c', args: MARKER, partials: [`${MARKER} partial`] }])
  expect(info.metadata).toEqual({ note: `${MARKER} 1` })
  expect(state).toMatchObject({ [`${MARKER} key`]: 1, small: `${MARKER} small`, at: new Date(5) })
  expect(state?.['messages']).toHaveLength(61)
  const [newest, ...older] = await session.list()
  const oldest = older.at(-1)
  expect((await session.show(oldest?.id ?? '')).agent?.metadata).toEqual([`${MARKER} 2`])
  expect(await session.stateAt(newest?.id, { keys: ['small'] })).toEqual({
    small: `${MARKER} small`,
  })
  const again = { id: 'a', name: 'send', args: { to: MARKER } }
  expect(await session.tool(again, async () => 'not run')).toBe(`${MARKER} result`)
  const place = { thread: 't', ns: '', id: '1' }
  const contents = await store.threads.read(place)
  expect(contents?.values.get('messages')).toEqual([`"${MARKER}"`])
  expect(contents?.writes.map(({ value }) => Buffer.from(value.data).toString())).toEqual([
    `"${MARKER}"`,
    MARKER,
  ])
  const found = await store.threads.find(place)
  expect(found).toMatchObject({ facts: expect.stringContaining(MARKER) })
  expect(found?.metadata).toEqual({ type: 'json', data: `"${MARKER}"` })
  const exported = await exportOf(session)
  expect(JSON.stringify(exported)).toContain(`${MARKER} last`)
  await session.close()
}

/** The files of the store that contain the marker. */
function filesWithMarker(): string[] {
  return readdirSync(s.home, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => readFileSync(path).includes(MARKER))
}

function ledger() {
  return openDatabase(join(s.home, 'ledger.db'), { timeoutMs: 1000 })
}

async function withStore(
  options: Parameters<Scratch['open']>[0],
  work: (store: Store) => Promise<void>,
): Promise<void> {
  const store = await s.open(options)
  await work(store)
  await store.close()
}

test('a store that is encrypted from the start works, and its files contain no plain value', async () => {
  s = await scratch({ files: { 'a.txt': 'one' } })
  const store = await s.open(ENCRYPTED)
  await fill(store)
  // Also while it is open, when the newest rows are in the write-ahead log.
  expect(filesWithMarker()).toEqual([])
  await check(store)
  await store.close()
  expect(filesWithMarker()).toEqual([])
  await withStore(ENCRYPTED, check)
})

test('without encryption, the same search finds the marker', async () => {
  s = await scratch()
  await withStore(PLAIN, fill)
  expect(filesWithMarker()).not.toEqual([])
})

test('content that two states share is stored once, also across forks', async () => {
  s = await scratch()
  const store = await s.open(ENCRYPTED)
  const session = await store.session<Record<string, unknown>>('one')
  const messages = Array.from({ length: 500 }, (_, n) => ({ n }))
  const { id } = await session.save({ state: { messages } })
  const fork = await store.fork<Record<string, unknown>>(id, { session: 'two' })
  await fork.append('messages', [{ n: 500 }])
  await session.append('messages', [{ n: 500 }])
  await session.rewind(id, { restore: 'state' })
  expect(await session.stateAt()).toEqual({ messages })
  const database = ledger()
  expect(database.get('SELECT count(*) AS count FROM elements')).toEqual({ count: 501 })
  database.close()
  await store.close()
})

test('the error about a missing or wrong key names the needed id, and lists need no key', async () => {
  s = await scratch({ files: { 'a.txt': 'one' } })
  await withStore(ENCRYPTED, fill)
  for (const [options, code] of [
    [PLAIN, 'KEY_MISSING'],
    [{ encryption: { key: OTHER } }, 'KEY_WRONG'],
  ] as const) {
    const store = await s.open(options)
    const keyId = String(ledgerKeys()[0])
    await expect(store.resume('work')).rejects.toMatchObject({
      code,
      message: expect.stringContaining(keyId),
      hint: expect.stringContaining('SAVESTATE_KEY'),
    })
    const session = await store.session<Record<string, unknown>>('work')
    await expect(session.save({ state: { a: 1 } })).rejects.toThrow(failing(code))
    await expect(session.append('messages', [{}])).rejects.toThrow(failing(code))
    await expect(session.stateAt()).rejects.toThrow(failing(code))
    await expect(session.tool({ id: 'z', name: 'z' }, async () => 1)).rejects.toThrow(failing(code))
    await expect(session.save({ metadata: 1 })).rejects.toThrow(failing(code))
    await expect(exportOf(session)).rejects.toThrow(failing(code))
    await expect(store.threads.read({ thread: 't', ns: '', id: '1' })).rejects.toThrow(
      failing(code),
    )
    const project = await store.project(s.project)
    const [newest] = await project.list()
    expect((await store.sessions())[0]?.metadata).toEqual(new SealedValue(keyId))
    expect((await project.show(newest?.id ?? '')).agent?.state?.kind).toBe('encrypted')
    await store.status()
    await store.verify()
    const withFiles = (await session.list()).at(-1)?.id ?? ''
    s.write({ 'a.txt': 'two' })
    expect((await project.diff(withFiles)).changes).toHaveLength(1)
    expect(await session.rewind(withFiles, { restore: 'files' })).toMatchObject({ applied: true })
    await session.close()
    await store.close()
  }
  await withStore(ENCRYPTED, check)
})

function ledgerKeys(): unknown[] {
  const database = ledger()
  try {
    return database.all('SELECT id FROM keys').map(({ id }) => id)
  } finally {
    database.close()
  }
}

test('an invalid key is rejected, and never printed', async () => {
  s = await scratch()
  for (const key of [KEY.slice(1), `${KEY}00`, 'secret', '', new Uint8Array(31), `${OTHER}=`]) {
    const opening = s.open({ encryption: { key } })
    await expect(opening).rejects.toThrow(failing('KEY_UNUSABLE'))
    const error = await opening.catch((fault: unknown) => fault)
    const shown = key instanceof Uint8Array || key === '' ? 'nothing' : key
    expect(JSON.stringify(error)).not.toContain(shown)
  }
  // The same key, in all its spellings.
  await withStore(ENCRYPTED, fill)
  const bytes = Buffer.from(KEY, 'hex')
  const spellings = [
    KEY.toUpperCase(),
    `${KEY}\n`,
    bytes,
    bytes.toString('base64'),
    bytes.toString('base64url'),
  ]
  for (const key of spellings) await withStore({ encryption: { key } }, check)
})

test('swapping two rows is detected in every table', async () => {
  s = await scratch()
  await withStore(ENCRYPTED, async (store) => {
    const session = await store.session<Record<string, unknown>>('work')
    const list = (name: string) => Array.from({ length: 3 }, (_, n) => `${name} ${n}`.repeat(30))
    await session.save({ state: { a: list('a'), b: list('b') }, metadata: { n: 1 } })
    await session.save({ state: { a: list('c'), b: list('d') }, metadata: { n: 2 } })
    await session.tool({ id: 'x', name: 't', args: 1 }, async () => 'x')
    await session.tool({ id: 'y', name: 't', args: 2 }, async () => 'y')
    await session.close()
  })
  s.allowDamage()
  const database = ledger()
  const swaps: readonly (readonly [table: string, key: string, columns: readonly string[]])[] = [
    ['elements', 'id', ['text']],
    ['elements', 'id', ['hash', 'text']],
    ['nodes', 'id', ['body']],
    ['states', 'id', ['body']],
    ['tool_calls', 'seq', ['args']],
    ['tool_calls', 'seq', ['outcome']],
    ['checkpoints', 'seq', ['metadata']],
  ]
  for (const [table, key, columns] of swaps) {
    const swap = () =>
      database.transaction(() => {
        const [one = {}, two = {}] = database.all(
          `SELECT ${key} AS key, ${columns.join()} FROM ${table} ORDER BY ${key} LIMIT 2`,
        )
        // The hash is unique: neither may have the other's for a moment.
        const set = columns.map((column) => `${column} = ?`).join()
        const put = (row: typeof one, to: unknown) =>
          database.run(
            `UPDATE ${table} SET ${set} WHERE ${key} = ?`,
            ...columns.map((column) => row[column] as string),
            to as number,
          )
        if (columns.includes('hash'))
          database.run(`UPDATE elements SET hash = x'00' WHERE id = ?`, one['key'] as number)
        put(one, two['key'])
        put(two, one['key'])
      })
    swap()
    await withStore(ENCRYPTED, async (store) => {
      const looking = async () => {
        const session = await store.session('work')
        try {
          for (const { id } of await session.list()) {
            await session.stateAt(id)
          }
          await session.tool({ id: 'x', name: 't', args: 1 }, async () => 'x')
          await exportOf(session)
        } finally {
          await session.close()
        }
      }
      expect([table, columns, await looking().catch((error: unknown) => error)]).toEqual([
        table,
        columns,
        failing('STORE_DAMAGED'),
      ])
    })
    swap()
  }
  database.close()
  await withStore(ENCRYPTED, async (store) => {
    expect((await store.resume('work')).state).toMatchObject({ a: expect.any(Array) })
  })
})

test('a collection without the key removes only unreferenced rows', async () => {
  s = await scratch()
  const states = ['one', 'two'].map((name) => ({
    messages: Array.from({ length: 200 }, (_, n) => ({ n, name: n < 100 ? 'both' : name })),
  }))
  await withStore(ENCRYPTED, async (store) => {
    for (const [place, state] of states.entries()) {
      const session = await store.session<object>(`session ${place}`)
      await session.save({ state, status: 'completed' })
      await session.close()
    }
  })
  const count = () => {
    const database = ledger()
    const row = database.get('SELECT count(*) AS count FROM elements')
    database.close()
    return row?.['count']
  }
  expect(count()).toBe(300)
  await withStore(PLAIN, async (store) => {
    await store.deleteSession('session 0')
    await store.prune()
  })
  expect(count()).toBe(200)
  await withStore(ENCRYPTED, async (store) => {
    expect((await store.resume('session 1')).state).toEqual(states[1])
  })
})

test('a flipped bit damages only its own checkpoint, and the error names it', async () => {
  s = await scratch()
  const ids: string[] = []
  await withStore(ENCRYPTED, async (store) => {
    const session = await store.session<Record<string, unknown>>('work')
    for (const n of [1, 2, 3]) {
      const { id } = await session.save({ state: { list: [`element ${n} `.repeat(20)] } })
      ids.push(id)
    }
    await session.close()
  })
  s.allowDamage()
  const database = ledger()
  const text = String(database.get('SELECT text FROM elements WHERE id = 2')?.['text'])
  const flipped = text.slice(0, 40) + (text[40] === 'A' ? 'B' : 'A') + text.slice(41)
  database.run('UPDATE elements SET text = ? WHERE id = 2', flipped)
  database.close()
  await withStore(ENCRYPTED, async (store) => {
    const session = await store.session('work')
    await expect(session.stateAt(ids[1])).rejects.toMatchObject({
      code: 'STORE_DAMAGED',
      message: expect.stringContaining(`Checkpoint ${ids[1]}`),
    })
    expect(await session.stateAt(ids[0])).toEqual({ list: ['element 1 '.repeat(20)] })
    expect(await session.stateAt(ids[2])).toEqual({ list: ['element 3 '.repeat(20)] })
    await session.close()
  })
})

test('rekey encrypts a plain store, changes its key and decrypts it, and leaves no old value behind', async () => {
  s = await scratch({ files: { 'a.txt': 'one' } })
  await withStore(PLAIN, fill)
  await withStore({ encryption: { newKey: KEY } }, async (store) => {
    const { plan } = await store.rekey({ dryRun: true })
    expect(plan).toMatchObject({ from: [], isNeeded: true })
    expect(Object.keys(plan.rows).sort()).toEqual([
      'checkpoints',
      'elements',
      'graph_checkpoints',
      'graph_writes',
      'nodes',
      'partials',
      'sessions',
      'states',
      'tool_calls',
    ])
    const { moved, damaged } = await store.rekey()
    expect([moved, damaged]).toEqual([plan.total, 0])
    expect(filesWithMarker()).toEqual([])
    await check(store)
  })
  expect(filesWithMarker()).toEqual([])
  await withStore(ENCRYPTED, check)
  await withStore({ encryption: { key: KEY, newKey: OTHER } }, async (store) => {
    expect(await store.rekey()).toMatchObject({ applied: true, damaged: 0 })
    expect(await store.rekey()).toMatchObject({ applied: false, plan: { isNeeded: false } })
  })
  await withStore(ENCRYPTED, async (store) => {
    await expect(store.resume('work')).rejects.toThrow(failing('KEY_WRONG'))
    // A retired key cannot be used again.
    await expect(store.rekey()).rejects.toThrow(failing('KEY_WRONG'))
  })
  await withStore({ encryption: { key: OTHER } }, async (store) => {
    await check(store)
    expect(await store.rekey({ plain: true })).toMatchObject({ applied: true, plan: { to: null } })
  })
  await withStore(PLAIN, async (store) => {
    await check(store)
    const session = await store.session('work')
    await session.save({ state: { a: 1 } })
    expect((await store.verify()).problems).toEqual([])
  })
  // A caller that passes the old key expects an encrypted store.
  await withStore({ encryption: { key: OTHER } }, async (store) => {
    const session = await store.session('work')
    await expect(session.save({ state: { a: 2 } })).rejects.toThrow(failing('KEY_WRONG'))
  })
})

test('if the table of keys is damaged, states can be read but not written', async () => {
  s = await scratch()
  await withStore(ENCRYPTED, fill)
  const database = ledger()
  database.run(`UPDATE keys SET check_value = replace(check_value, 'A', 'B')`)
  database.close()
  await withStore(ENCRYPTED, async (store) => {
    const session = await store.session('work')
    expect(await session.stateAt()).toMatchObject({ small: `${MARKER} small` })
    await expect(session.save({ state: { a: 1 } })).rejects.toThrow(failing('KEY_WRONG'))
    await session.close()
  })
})

test.each(['another store', 'a reader of the ledger'])(
  'while %s is open, a rekey changes nothing',
  async (what) => {
    s = await scratch()
    await withStore(PLAIN, fill)
    const store = await s.open(ENCRYPTED)
    const other = what === 'another store' ? await s.open(PLAIN) : ledger()
    if ('get' in other) other.get('SELECT count(*) FROM elements')
    await expect(store.rekey()).rejects.toThrow(failing('STORE_BUSY'))
    expect(ledgerKeys()).toEqual([])
    expect(readdirSync(s.home).filter((name) => name.includes('rekeyed'))).toEqual([])
    await other.close()
    expect(await store.rekey()).toMatchObject({ applied: true, damaged: 0 })
    expect(filesWithMarker()).toEqual([])
    await check(store)
    await store.close()
  },
)

test('a rekey removes the older backup', async () => {
  s = await scratch({ files: { 'a.txt': 'one' } })
  await withStore(PLAIN, fill)
  await withStore(PLAIN, async (store) => {
    await store.prune()
  })
  expect(filesWithMarker()).toContain(join(s.home, 'ledger.db.backup'))
  await withStore(ENCRYPTED, async (store) => {
    await store.rekey()
    expect(filesWithMarker()).toEqual([])
    // A new backup has what the ledger has: sealed values.
    await store.prune()
    expect(filesWithMarker()).toEqual([])
  })
})

test('an open session continues during a rekey', async () => {
  s = await scratch()
  const store = await s.open(PLAIN)
  const writer = await store.session<Record<string, unknown>>('old')
  const messages = Array.from({ length: 400 }, (_, n) => ({ n, text: `text ${n}` }))
  await writer.save({ state: { messages } })
  await writer.close()
  await store.close()
  const both = await s.open({ encryption: { key: OTHER, newKey: KEY } })
  const changing = both.rekey()
  // The same contents, some of them before the ledger is replaced.
  const session = await both.session<Record<string, unknown>>('new')
  for (let n = 0; n < 20; n += 1) {
    await session.save({ state: { messages: messages.slice(0, 20 * n), n } })
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect(await changing).toMatchObject({ applied: true, damaged: 0 })
  await session.append('messages', [{ n: -1 }])
  expect(await both.rekey({ dryRun: true })).toMatchObject({ plan: { isNeeded: false } })
  expect((await both.verify()).problems).toEqual([])
  await session.close()
  await both.close()
  await withStore(ENCRYPTED, async (open) => {
    expect((await open.resume('old')).state).toEqual({ messages })
    expect((await open.resume('new')).state).toEqual({
      messages: [...messages.slice(0, 380), { n: -1 }],
      n: 19,
    })
  })
})

test('a malformed state does not prevent decryption', async () => {
  s = await scratch()
  await withStore(ENCRYPTED, async (store) => {
    const session = await store.session<Record<string, unknown>>('work')
    await session.save({ state: { n: 1 } })
    await session.save({ state: { n: 2 } })
    await session.close()
  })
  const database = ledger()
  database.run('UPDATE states SET body = ? WHERE id = 1', '[2]')
  database.close()
  await withStore(ENCRYPTED, async (store) => {
    expect(await store.rekey({ plain: true })).toMatchObject({ applied: true })
  })
  await withStore(PLAIN, async (store) => {
    expect((await store.resume('work')).state).toEqual({ n: 2 })
  })
})

/** A plain store whose copy takes several slices. */
async function saveLongSession() {
  const messages = Array.from({ length: 3000 }, (_, n) => ({ n, text: `text ${n} `.repeat(20) }))
  await withStore(PLAIN, async (store) => {
    const session = await store.session<Record<string, unknown>>('old')
    await session.save({ state: { messages } })
    await session.close()
  })
  return messages
}

test('closing the ledger in a pause of the copy ends the rekey, and is not reported as damage', async () => {
  s = await scratch()
  await saveLongSession()
  const key = new SealingKey(Buffer.alloc(32, 1))
  const open = Ledger.open(s.home, { durability: 'process', keys: { key } })
  const onRows = () => {
    setImmediate(() => open.close())
    // Longer than a slice of the copy, so that it pauses now.
    for (const startMs = performance.now(); performance.now() - startMs < 20; );
  }
  const rewriting = open.rekey.rewrite(key, { nowMs: 0, onRows })
  await expect(rewriting).rejects.toThrow(failing('STORE_CLOSED'))
  expect(readdirSync(s.home).filter((name) => name.includes('rekeyed'))).toEqual([])
})

test('a save in a pause of the copy makes the copy start again and is not lost', async () => {
  s = await scratch()
  const messages = await saveLongSession()
  const both = await s.open(ENCRYPTED)
  const session = await both.session<Record<string, unknown>>('new')
  const reports: number[] = []
  let saving: Promise<unknown> | undefined
  const onProgress = ({ phase, files }: { readonly phase: string; readonly files: number }) => {
    if (phase !== 'seal' || files === 0) return
    reports.push(files)
    if (saving !== undefined) return
    saving = new Promise((resolve) => {
      setImmediate(resolve)
    }).then(() => session.save({ state: { saved: 'meanwhile' } }))
    // Longer than a slice of the copy, so that it pauses now.
    for (const startMs = performance.now(); performance.now() - startMs < 20; );
  }
  expect(await both.rekey({ onProgress })).toMatchObject({ applied: true, damaged: 0 })
  await saving
  expect(await both.rekey({ dryRun: true })).toMatchObject({ plan: { isNeeded: false } })
  expect(reports.slice(0, 2)).toEqual([1024, 1024])
  await session.close()
  await both.close()
  await withStore(ENCRYPTED, async (store) => {
    expect((await store.resume('new')).state).toEqual({ saved: 'meanwhile' })
    expect((await store.resume('old')).state).toEqual({ messages })
  })
})
