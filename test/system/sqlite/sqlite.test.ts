import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  type Database,
  openDatabase,
  openLockDatabase,
  removeForeignObjects,
  versionInFile,
} from '../../../src/system/sqlite/sqlite.js'
import { builtInDriver, bundledDriver } from '../../../src/system/sqlite/sqlite-driver.js'
import { isBusy } from '../../../src/system/sqlite/sqlite-errors.js'

/** Another process may run another Node, so it uses the package, whatever this one uses. */
const DRIVER = import.meta.resolve('@photostructure/sqlite')
const BUILT_IN = builtInDriver()
const DRIVERS = [
  ['the addon', bundledDriver()] as const,
  ...(BUILT_IN === undefined ? [] : [['Node', BUILT_IN] as const]),
]

let all: string
let folder: string
let path: string

beforeAll(() => {
  all = mkdtempSync(join(tmpdir(), 'savestate-sqlite-'))
})

beforeEach(() => {
  folder = mkdtempSync(join(all, 'test-'))
  path = join(folder, 'a.db')
})

afterAll(() => rmSync(all, { recursive: true, force: true }))

describe.each(DRIVERS)('with the SQLite of %s', (_, driver) => {
  const open = (file = path) => openDatabase(file, { timeoutMs: 0, driver })

  function filled(file = path): Database {
    const database = open(file)
    database.exec('PRAGMA file.journal_mode = WAL')
    database.exec('CREATE TABLE file.texts (text); PRAGMA file.user_version = 7')
    database.run('INSERT INTO texts VALUES (?)', 'one')
    return database
  }

  const textIn = (database: Database) => database.get('SELECT text FROM texts')?.['text']

  /** The result of another process, which then closes the database last, or assumes so. */
  function textForOthers(): unknown {
    const script = `
    const { DatabaseSync } = await import(${JSON.stringify(DRIVER)})
    let text
    const database = new DatabaseSync(${JSON.stringify(path)})
    database.function('tell', (value) => (text = value))
    database.exec('SELECT tell(text) FROM texts')
    database.close()
    process.stdout.write(text)
  `
    const args = ['--input-type=module', '-e', script]
    const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
    expect(stderr).toBe('')
    return stdout
  }

  function filesHeld(): string[] {
    return readdirSync('/dev/fd').flatMap((fd) => {
      try {
        const file = readlinkSync(join('/dev/fd', fd))
        return file.startsWith(folder) ? [file] : []
      } catch {
        // The descriptor that was used to list the others.
        return []
      }
    })
  }

  test('a closed database has no open files, whatever was run on it', () => {
    filled().close()
    for (let i = 0; i < 5; i += 1) {
      const database = open()
      expect(textIn(database)).toBe('one')
      database.close()
    }
    expect(filesHeld()).toEqual([])
  })

  test('the last connection to close merges the log; abandoning leaves it', () => {
    const [first, second] = [filled(), open()]
    first.close()
    expect(readdirSync(folder)).toContain('a.db-wal')
    second.close()
    expect(readdirSync(folder)).toEqual(['a.db'])
    const third = open()
    third.run('UPDATE texts SET text = ?', 'two')
    third.abandon()
    expect(readdirSync(folder)).toContain('a.db-wal')
    expect(textForOthers()).toBe('two')
  })

  test('reading the version, or a second connection, does not drop locks of the first', () => {
    const first = filled()
    expect(versionInFile(path, { driver })).toBe(0)
    const second = open()
    second.close()
    // SQLite would remove a log that no one has locked, and later writes to it would be lost.
    expect(textForOthers()).toBe('one')
    first.run('UPDATE texts SET text = ?', 'two')
    expect(textForOthers()).toBe('two')
    first.close()
  })

  test('an unfinished transaction ends with the connection', () => {
    const database = filled()
    database.exec('BEGIN')
    database.run('UPDATE texts SET text = ?', 'never')
    database.close()
    const other = open()
    expect(textIn(other)).toBe('one')
    other.run('UPDATE texts SET text = ?', 'others can write')
    other.close()
  })

  test('FTS5 finds groups of three characters, in the one virtual table that a caller allows', () => {
    const words = `CREATE VIRTUAL TABLE words USING fts5(text, content='', contentless_delete=1,
      detail='none', tokenize='trigram case_sensitive 1')`
    const options = { timeoutMs: 0, driver, virtualTable: words }
    const database = openDatabase(path, options)
    database.exec(words.replace('words', 'file.words'))
    database.run('INSERT INTO words (rowid, text) VALUES (?, ?)', 7, 'größe 😀x')
    const rowsWith = (gram: string) =>
      database.all('SELECT rowid FROM words WHERE words MATCH ?', `"${gram}"`)
    expect([rowsWith('röß'), rowsWith(' 😀x'), rowsWith('röz')]).toEqual([
      [{ rowid: 7 }],
      [{ rowid: 7 }],
      [],
    ])
    database.run('DELETE FROM words WHERE rowid = 7')
    expect(rowsWith('röß')).toEqual([])
    database.close()
    openDatabase(path, options).close()
    for (const virtualTable of [undefined, `${words} `])
      expect(() =>
        openDatabase(path, { timeoutMs: 0, driver, ...(virtualTable && { virtualTable }) }),
      ).toThrow('which Savestate did not create')
  })

  test.each(['plain', "it's", 'a b?c#d%20e', 'x;y&mode=rw', 'ümläut'])(
    'the version of a file in a folder called %s is read, and nothing is left there',
    (name) => {
      const place = join(folder, name)
      mkdirSync(place)
      filled(join(place, 'b.db')).close()
      expect(versionInFile(join(place, 'b.db'), { driver })).toBe(7)
      expect(readdirSync(place)).toEqual(['b.db'])
    },
  )

  test('a file that is not a database has no version, and a missing one is not created', () => {
    expect(versionInFile(path, { driver })).toBe(undefined)
    expect(readdirSync(folder)).toEqual([])
    writeFileSync(path, 'not a database at all, and long enough to tell'.repeat(50))
    expect(versionInFile(path, { driver })).toBe(undefined)
    expect(() => open()).toThrow('not a database')
    expect(filesHeld()).toEqual([])
  })

  test('every call reports a database that another process keeps locked as a busy store', () => {
    const first = filled()
    first.exec('BEGIN IMMEDIATE')
    const second = open()
    const [holder, lock] = [1, 2].map(() =>
      openLockDatabase(join(folder, 'lock'), { timeoutMs: 0, driver }),
    )
    holder?.exec('BEGIN EXCLUSIVE')
    for (const ask of [
      () => second.transaction(() => undefined),
      () => second.run('UPDATE texts SET text = 2'),
      () => second.exec('DELETE FROM texts'),
      () => second.get('DELETE FROM texts RETURNING *'),
      () => second.all('DELETE FROM texts RETURNING *'),
      () => lock?.exec('BEGIN IMMEDIATE'),
    ]) {
      const error = errorOf(ask)
      expect(error).toMatchObject({ code: 'STORE_BUSY', hint: expect.stringContaining('again') })
      expect([isBusy(error), isBusy((error as Error).cause)]).toEqual([true, true])
    }
    lock?.close()
    holder?.close()
    second.close()
    first.close()
  })

  test('a caller that sets a timeout waits no longer, even in a transaction', () => {
    const first = filled()
    first.exec('BEGIN IMMEDIATE')
    const timeoutMs = 30_000
    const second = openDatabase(path, { timeoutMs, driver })
    const start = performance.now()
    for (const ask of [
      () => second.transaction(() => undefined),
      () => second.run('UPDATE texts SET text = 2'),
    ])
      expect(errorOf(() => second.withBusyTimeout(1, ask))).toMatchObject({ code: 'STORE_BUSY' })
    expect(performance.now() - start).toBeLessThan(timeoutMs)
    second.close()
    first.close()
  })

  function errorOf(work: () => unknown): unknown {
    try {
      work()
    } catch (error) {
      return error
    }
    throw new Error('It has not failed')
  }

  test('a full disk is reported with its folder', () => {
    const database = filled()
    database.exec('PRAGMA file.max_page_count = 4')
    const fill = () => database.run('INSERT INTO texts VALUES (?)', 'x'.repeat(100_000))
    expect(fill).toThrow(
      expect.objectContaining({ code: 'DISK_FULL', message: `The disk of ${folder} is full` }),
    )
    database.close()
  })

  /** FTS5 had memory bugs that a crafted file can trigger through a trigger or a view. */
  test.each([
    ['trigger', `CREATE TRIGGER file.planted AFTER INSERT ON texts BEGIN DELETE FROM texts; END`],
    ['view', `CREATE VIEW file.planted AS SELECT text FROM texts`],
    ['table', `CREATE VIRTUAL TABLE file.planted USING fts5(x)`],
  ])(
    'a %s in the schema is refused, and everything else in the file can be recovered',
    (type, sql) => {
      const planter = filled()
      planter.exec(sql)
      planter.close()
      const message = `${path} has a ${type} called planted, which Savestate did not create`
      expect(() => open()).toThrow(expect.objectContaining({ code: 'STORE_DAMAGED', message }))
      expect(filesHeld()).toEqual([])
      removeForeignObjects(path, { driver })
      const database = open()
      expect(textIn(database)).toBe('one')
      expect(database.all(`SELECT name FROM file.sqlite_schema WHERE name = 'planted'`)).toEqual([])
      database.close()
    },
  )

  test('a schema is not trusted: it cannot call unsafe functions', () => {
    const database = open()
    database.exec(`CREATE TABLE file.texts (text DEFAULT (load_extension('x')))`)
    const insert = () => database.exec('INSERT INTO texts DEFAULT VALUES')
    expect(insert).toThrow('unsafe use of load_extension()')
    database.close()
  })

  test('a lock file that is not empty is refused before SQLite reads it', () => {
    filled().close()
    const lock = () => openLockDatabase(path, { timeoutMs: 0, driver })
    expect(lock).toThrow(expect.objectContaining({ code: 'STORE_DAMAGED' }))
  })
})
