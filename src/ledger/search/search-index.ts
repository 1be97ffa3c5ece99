// The index of a project's texts, in a file of its own beside the ledger: which checkpoints may contain a word. It is derived, so it
// may be deleted at any time. It holds no text of a prompt or an answer: only which groups of three characters each checkpoint has,
// the ids of the stored values to read them from, and changed paths. A reader verifies each candidate against the ledger.
import { type Database, openDatabase } from '../../system/index.js'
import { number, text } from '../rows.js'

/** Groups of three characters find a word inside of others. Texts are indexed in lower case, so that case is ignored exactly. */
const WORDS = `CREATE VIRTUAL TABLE words USING fts5(text, content='', contentless_delete=1, detail='none',
  tokenize='trigram case_sensitive 1')`

const TABLES = `
  ${WORDS.replace('words', 'file.words')};
  CREATE TABLE file.checkpoints (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    -- Its tree and its state. If they are others now, something was removed, and the whole index is built again.
    content TEXT NOT NULL,
    name TEXT,
    -- As JSON: the ids of the elements that no earlier checkpoint has, and [path, blob or null] of each change.
    elements TEXT NOT NULL,
    changes TEXT NOT NULL
  ) STRICT;
  -- The stored values and nodes of lists that were indexed.
  CREATE TABLE file.seen_elements (id INTEGER PRIMARY KEY) STRICT;
  CREATE TABLE file.seen_nodes (id INTEGER PRIMARY KEY) STRICT;
`

/** Raise it by 2 after a change of the tables or of the texts. The lowest bit says whether conversations are indexed. */
const VERSION = 2
const BUSY_MS = 8000
const GRAM = 3

export type IndexedCheckpoint = {
  readonly seq: number
  readonly id: string
  readonly content: string
  readonly name: string | null
  readonly elements: readonly number[]
  /** The changed paths, and the object of each file that exists after the change. */
  readonly changes: readonly (readonly [path: string, blob: string | null])[]
}

export class SearchIndex {
  readonly #database: Database

  private constructor(database: Database) {
    this.#database = database
  }

  /** Creates the file. Undefined if it has another version, or other contents than asked for: remove it then. */
  static open(
    path: string,
    { hasConversations }: { readonly hasConversations: boolean },
  ): SearchIndex | undefined {
    const wanted = VERSION + (hasConversations ? 1 : 0)
    const database = openDatabase(path, { timeoutMs: BUSY_MS, virtualTable: WORDS })
    try {
      // Not a log in a file of its own: a reader must not need to write.
      database.exec('PRAGMA file.journal_mode = TRUNCATE; PRAGMA file.synchronous = NORMAL')
      if (versionOf(database) === 0)
        database.transaction(() => {
          if (versionOf(database) !== 0) return
          database.exec(TABLES)
          database.exec(`PRAGMA file.user_version = ${wanted}`)
        })
      if (versionOf(database) === wanted) return new SearchIndex(database)
      database.close()
      return undefined
    } catch (error) {
      database.close()
      throw error
    }
  }

  /** The indexed checkpoints, oldest first. */
  known(): readonly (readonly [seq: number, content: string, name: string | null])[] {
    const row = this.#database.get(
      `SELECT '[' || coalesce(group_concat(json_array(seq, content, name)), '') || ']' AS known
       FROM (SELECT * FROM checkpoints ORDER BY seq)`,
    )
    return JSON.parse(String(row?.['known']))
  }

  transaction<T>(work: () => T): T {
    return this.#database.transaction(work)
  }

  /** Inside a transaction. Replaces the checkpoint. `text` has all its texts in lower case. */
  put(checkpoint: IndexedCheckpoint, indexed: string): void {
    const { seq, id, content, name, elements, changes } = checkpoint
    this.#database.run('DELETE FROM words WHERE rowid = ?', seq)
    this.#database.run(
      'INSERT OR REPLACE INTO checkpoints (seq, id, content, name, elements, changes) VALUES (?, ?, ?, ?, ?, ?)',
      seq,
      id,
      content,
      name,
      JSON.stringify(elements),
      JSON.stringify(changes),
    )
    // The tokenizer stops at a zero.
    const whole = indexed.replaceAll('\0', ' ')
    this.#database.run('INSERT INTO words (rowid, text) VALUES (?, ?)', seq, whole)
  }

  /** Inside a transaction. False if it was noted before. */
  noteElement(id: number): boolean {
    const sql = 'INSERT OR IGNORE INTO seen_elements (id) VALUES (?)'
    return this.#database.run(sql, id).changes === 1
  }

  hasNode(id: number): boolean {
    return this.#database.get('SELECT 1 FROM seen_nodes WHERE id = ?', id) !== undefined
  }

  /** Inside a transaction. */
  noteNode(id: number): void {
    this.#database.run('INSERT OR IGNORE INTO seen_nodes (id) VALUES (?)', id)
  }

  /** The numbers of the checkpoints that may contain all of these words in lower case, newest first. */
  candidates(words: readonly string[]): readonly number[] {
    const grams = [...new Set(words.flatMap(gramsOf))]
    const rows =
      grams.length === 0
        ? this.#database.all('SELECT seq FROM checkpoints ORDER BY seq DESC')
        : this.#database.all(
            'SELECT rowid AS seq FROM words WHERE words MATCH ? ORDER BY rowid DESC',
            grams.map((gram) => `"${gram.replaceAll('"', '""')}"`).join(' AND '),
          )
    return rows.map((row) => number(row, 'seq'))
  }

  /** How many checkpoints have this number or a higher one. */
  countFrom(seq: number): number {
    const row = this.#database.get('SELECT count(*) AS n FROM checkpoints WHERE seq >= ?', seq)
    return number(row ?? {}, 'n')
  }

  get(seq: number): IndexedCheckpoint | undefined {
    const row = this.#database.get('SELECT * FROM checkpoints WHERE seq = ?', seq)
    if (row === undefined) return undefined
    const { name } = row
    return {
      seq,
      id: text(row, 'id'),
      content: text(row, 'content'),
      name: typeof name === 'string' ? name : null,
      elements: JSON.parse(text(row, 'elements')),
      changes: JSON.parse(text(row, 'changes')),
    }
  }

  close(): void {
    this.#database.close()
  }
}

function versionOf(database: Database): number {
  return Number(database.get('PRAGMA file.user_version')?.['user_version'])
}

/** None for a word that is shorter, or that the tokenizer would cut: such a word does not narrow the candidates. */
function gramsOf(word: string): readonly string[] {
  const letters = word.includes('\0') ? [] : Array.from(word)
  const count = Math.max(0, letters.length - GRAM + 1)
  return Array.from({ length: count }, (_, at) => letters.slice(at, at + GRAM).join(''))
}
