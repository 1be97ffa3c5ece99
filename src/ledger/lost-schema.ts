// The part of a ledger's file that names its tables, made anew: without it SQLite finds none of them, though all their
// rows are there. Where each table begins follows from the order in which the tables were made: in a file that can
// shrink, SQLite keeps the first pages for that. So an empty ledger, made in the same order, tells. In which order it
// was can only be tried, and is believed when every table agrees with its indexes and its rules.
import {
  closeSync,
  copyFileSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { SavestateError } from '../model/index.js'
import { openDatabase } from '../system/index.js'
import { createTables } from './schema.js'
import { allowShrinking } from './upkeep.js'
import { pagesInLog } from './wal-file.js'

const PAGE_BYTES = 4096
/** Behind the head of the file, page 1 is a page like others. */
const FILE_HEAD_BYTES = 100
const INNER = 5
/** Places in the head of the file. */
const AT = { changes: 24, pageCount: 28, freeList: 32, validFor: 92 } as const
/** What a check says of pages that nobody refers to any more, and of how pages could be moved. Nothing is lost by either. */
const HARMLESS = /never used|ptr ?map|^ok$/i

/** The path of a database with the same rows, in `folder`; undefined if no order of making fits. `from` is not changed. */
export function withSchemaAnew(from: string, folder: string): string | undefined {
  const whole = join(folder, 'whole.db')
  copyFileSync(from, whole)
  writePages(whole, pagesInLog(`${from}-wal`))
  for (const isRewritten of [false, true]) {
    const [model, anew] = [join(folder, 'model.db'), join(folder, 'anew.db')]
    for (const path of [model, anew]) rmSync(path, { force: true })
    const schemaPages = makeModel(model, isRewritten)
    copyFileSync(whole, anew)
    graft(anew, readFileSync(model), schemaPages)
    if (isSound(anew)) return anew
  }
  return undefined
}

/** An empty ledger; the pages below page 1 that name its tables. */
function makeModel(path: string, isRewritten: boolean): readonly number[] {
  const database = openDatabase(path, { timeoutMs: 0 })
  try {
    allowShrinking(database)
    createTables(database)
    if (isRewritten) database.exec('VACUUM file')
    const sql = `SELECT pageno FROM dbstat('file') WHERE name = 'sqlite_schema' AND pageno > 1`
    return database.all(sql).map((row) => Number(row['pageno']))
  } finally {
    database.close()
  }
}

/** Page 1 becomes that of the model; the pages below it are put behind all others, where they are in nobody's way. */
function graft(path: string, model: Buffer, schemaPages: readonly number[]): void {
  const pageCount = Math.ceil(statSync(path).size / PAGE_BYTES)
  const pageOf = (number: number) => model.subarray((number - 1) * PAGE_BYTES, number * PAGE_BYTES)
  const placeOf = new Map(schemaPages.map((number, n) => [number, pageCount + 1 + n]))
  const first = Buffer.from(pageOf(1))
  if (first[FILE_HEAD_BYTES] === INNER) {
    const moved = (at: number) => first.writeUInt32BE(placeOf.get(first.readUInt32BE(at)) ?? 0, at)
    const cells = first.readUInt16BE(FILE_HEAD_BYTES + 3)
    moved(FILE_HEAD_BYTES + 8)
    for (let cell = 0; cell < cells; cell += 1)
      moved(first.readUInt16BE(FILE_HEAD_BYTES + 12 + cell * 2))
  }
  first.writeUInt32BE(first.readUInt32BE(AT.changes), AT.validFor)
  first.writeUInt32BE(pageCount + schemaPages.length, AT.pageCount)
  // Which pages are free stood on the lost one, and is of no use to who only reads.
  first.fill(0, AT.freeList, AT.freeList + 8)
  const pages = [...placeOf].map(([number, place]) => [place, pageOf(number)] as const)
  writePages(path, new Map([[1, first], ...pages]))
}

function writePages(path: string, pages: ReadonlyMap<number, Buffer>): void {
  const fd = openSync(path, 'r+')
  try {
    for (const [number, bytes] of pages)
      writeSync(fd, bytes, 0, bytes.length, (number - 1) * bytes.length)
  } finally {
    closeSync(fd)
  }
}

function isSound(path: string): boolean {
  try {
    const database = openDatabase(path, { timeoutMs: 0 })
    try {
      const told = database
        .all('PRAGMA file.integrity_check(1000000)')
        .flatMap((row) => String(row['integrity_check']).split('\n'))
      return told.every((line) => line.startsWith('***') || HARMLESS.test(line))
    } finally {
      database.close()
    }
  } catch (error) {
    if (error instanceof SavestateError && error.code === 'DISK_FULL') throw error
    // Not a database to SQLite: the order was another.
    return false
  }
}
