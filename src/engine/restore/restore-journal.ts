// The journal of an unfinished rewind: written before the first change to a file, removed after the row is added. A process
// that finds a journal without a live owner finishes the work or rolls it back (I6).
import { mkdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import {
  type BytePath,
  type CheckpointId,
  type Entry,
  fsPath,
  staysBelowRoot,
  type ObjectId,
  type OperationId,
  type OperationKind,
  type OwnedPath,
  parentOf,
  parseOperationId,
  type Project,
  type ProjectId,
  type RestorePlan,
  type RewindNote,
  ROOT,
  sameEntry,
  SavestateError,
} from '../../model/index.js'
import { listIfExists, readIfThere, syncFolder, writeFileAtomically } from '../../system/index.js'
import type { RestoreSession } from './restore-session.js'

const VERSION = 3

export type JournalEntry = {
  readonly path: BytePath
  readonly from: Entry | null
  readonly to: Entry | null
}

export type Journal = {
  readonly version: typeof VERSION
  readonly operation: OperationId
  readonly kind: OperationKind
  readonly of: OperationId | null
  readonly project: ProjectId
  readonly projectPath: BytePath
  /** The inode of the folder it started in. Another folder at that path has nothing to finish. */
  readonly rootInode: string
  readonly safety: CheckpointId
  readonly goal: ObjectId
  readonly ownersThen?: readonly OwnedPath[] | undefined
  readonly reason: string
  readonly entries: readonly JournalEntry[]
  readonly session?: RestoreSession | undefined
  readonly rewind?: RewindNote | undefined
}

export function journalEntries(plan: RestorePlan): JournalEntry[] {
  return [
    ...plan.write.map(({ path, from, to }) => ({ path, from: from ?? null, to })),
    ...plan.remove.map(({ path, from }) => ({ path, from, to: null })),
  ]
}

/** A folder that is in the journal only to restore its mode: see snapshot/restore/closed-folders.ts. */
export function isOnlyOpened({ from, to }: JournalEntry): boolean {
  return from !== null && to !== null && sameEntry(from, to)
}

/** The paths that the operation changes. */
export function changedPaths(entries: readonly JournalEntry[]): BytePath[] {
  return entries.filter((entry) => !isOnlyOpened(entry)).map(({ path }) => path)
}

/**
 * The folders in which the operation, or its rollback, stages new files and moves old ones aside: the parent of each
 * path and, if the operation changes that folder too, the folders above it.
 */
export function stagingFolders(entries: readonly JournalEntry[]): BytePath[] {
  const changing = new Set(entries.map(({ path }) => path))
  const folders = new Set<BytePath>()
  for (const { path } of entries) {
    let folder = parentOf(path)
    folders.add(folder)
    while (folder !== ROOT && changing.has(folder)) {
      folder = parentOf(folder)
      folders.add(folder)
    }
  }
  return [...folders]
}

export const GONE = 'gone'

export function readRootInode({ path }: Project): string {
  return String(statSync(fsPath(path), { bigint: true, throwIfNoEntry: false })?.ino ?? GONE)
}

export class Journals {
  readonly #folder: string
  readonly #temporary: string

  constructor(home: string) {
    this.#folder = join(home, 'journal')
    this.#temporary = join(home, 'tmp')
  }

  /** The caller holds the project's lock and the objects lock: garbage collection removes leftovers of killed processes. */
  write(journal: Omit<Journal, 'version'>): void {
    for (const folder of [this.#folder, this.#temporary])
      mkdirSync(folder, { recursive: true, mode: 0o700 })
    const path = this.#pathOf(journal.project)
    const temporary = join(this.#temporary, `${journal.project}.journal`)
    const content = JSON.stringify({ version: VERSION, ...journal })
    writeFileAtomically({ path, temporary, content, durable: true })
  }

  read({ id }: Project): Journal | undefined {
    const path = this.#pathOf(id)
    const text = readIfThere(path)?.toString('utf8')
    if (text === undefined) return undefined
    const journal = parseJournal(text, path)
    if (journal.version === VERSION) return journal
    throw new SavestateError(
      'STORE_NEWER',
      'A newer version of Savestate was interrupted during a rewind',
      {
        hint: 'Update savestate and run the command again.',
      },
    )
  }

  remove(project: ProjectId): void {
    rmSync(this.#pathOf(project), { force: true })
    // Otherwise the journal could reappear after a power failure, and recovery would apply it again.
    syncFolder(this.#folder)
  }

  /** Projects with unfinished work. */
  pending(): string[] {
    return listIfExists(this.#folder)
      .filter((name) => name.endsWith('.json'))
      .map((name) => name.slice(0, -'.json'.length))
  }

  #pathOf(project: ProjectId): string {
    return join(this.#folder, `${project}.json`)
  }
}

function parseJournal(text: string, path: string): Journal {
  try {
    const journal = JSON.parse(text) as Journal
    if (journal.version !== VERSION) return journal
    // The journal names temporary files and paths to write, so it is validated (I4).
    parseOperationId(journal.operation)
    const isSafe = journal.entries.every(
      ({ path }) => typeof path === 'string' && staysBelowRoot(path),
    )
    if (isSafe) return journal
    throw new Error('a path leads outside the project')
  } catch (cause) {
    throw new SavestateError('STORE_DAMAGED', 'The journal of an interrupted rewind is damaged', {
      hint: `Move ${path} away. The newest checkpoint of kind "safety" has the files from before the rewind.`,
      cause,
    })
  }
}
