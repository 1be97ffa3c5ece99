// The journal of an unfinished rewind: written before the first change to a file, removed after the row is added. A process
// that finds a journal without a live owner finishes the work or rolls it back (I6).
import { mkdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import {
  type BytePath,
  type CheckpointId,
  type Entry,
  type FilesCheckpoint,
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
import type { Callbacks } from '../operation/callbacks.js'
import type { RestoreSession } from './restore-session.js'

const VERSION = 3

export type JournalEntry = {
  readonly path: BytePath
  readonly from: Entry | null
  readonly to: Entry | null
}

export type Journal = {
  readonly operation: OperationId
  readonly kind: OperationKind
  readonly of: OperationId | null
  readonly project: ProjectId
  /** The inode of the folder it started in. Another folder at that path has nothing to finish. */
  readonly rootInode: string
  readonly safety: CheckpointId
  readonly goal: ObjectId
  /** Undefined if the checkpoint does not record owners. */
  readonly ownersThen?: readonly OwnedPath[] | undefined
  readonly reason: string
  readonly entries: readonly JournalEntry[]
  /** The session whose checkpoint the result becomes. */
  readonly session?: RestoreSession | undefined
  /** Stored with the safety checkpoint and the result; undefined for an undo or redo. */
  readonly rewind?: RewindNote | undefined
}

/** A rewind, undo or redo whose journal is written. Recovery continues with the same data. */
export type StartedRestore = {
  readonly journal: Journal
  readonly safety: FilesCheckpoint
  readonly callbacks: Callbacks
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

/** The caller holds the project's lock and the objects lock: garbage collection removes leftovers of killed processes. */
export function writeJournal(home: string, journal: Journal): void {
  const temporaries = join(home, 'tmp')
  for (const folder of [folderIn(home), temporaries])
    mkdirSync(folder, { recursive: true, mode: 0o700 })
  const path = journalPath(home, journal.project)
  const temporary = join(temporaries, `${journal.project}.journal`)
  const content = JSON.stringify({ version: VERSION, ...journal })
  writeFileAtomically({ path, temporary, content, durable: true })
}

/** Undefined if the project has no unfinished work. Throws STORE_NEWER or STORE_DAMAGED. */
export function readJournal(home: string, project: ProjectId): Journal | undefined {
  const path = journalPath(home, project)
  const text = readIfThere(path)?.toString('utf8')
  return text === undefined ? undefined : parseJournal(text, path)
}

export function removeJournal(home: string, project: ProjectId): void {
  rmSync(journalPath(home, project), { force: true })
  // Otherwise the journal could reappear after a power failure, and recovery would apply it again.
  syncFolder(folderIn(home))
}

/** The ids of projects with unfinished work. */
export function pendingJournals(home: string): string[] {
  return listIfExists(folderIn(home))
    .filter((name) => name.endsWith('.json'))
    .map((name) => name.slice(0, -'.json'.length))
}

/** The trees that unfinished work still needs. A collection keeps them: no checkpoint has the goal of a merge. */
export function pendingGoals(home: string): ObjectId[] {
  return pendingJournals(home).flatMap((project) => {
    try {
      return readJournal(home, project as ProjectId)?.goal ?? []
    } catch (error) {
      // The work of a damaged journal cannot be finished.
      if (error instanceof SavestateError) return []
      throw error
    }
  })
}

function folderIn(home: string): string {
  return join(home, 'journal')
}

function journalPath(home: string, project: ProjectId): string {
  return join(folderIn(home), `${project}.json`)
}

function parseJournal(text: string, path: string): Journal {
  try {
    const { version, ...journal } = JSON.parse(text) as Journal & { readonly version: unknown }
    if (version !== VERSION) throw newerJournalError()
    // The journal names temporary files and paths to write, so it is validated (I4).
    parseOperationId(journal.operation)
    const isSafe = journal.entries.every(
      ({ path }) => typeof path === 'string' && staysBelowRoot(path),
    )
    if (isSafe) return journal
    throw new Error('a path leads outside the project')
  } catch (cause) {
    if (cause instanceof SavestateError && cause.code === 'STORE_NEWER') throw cause
    throw new SavestateError('STORE_DAMAGED', 'The journal of an interrupted rewind is damaged', {
      hint: `Move ${path} away. The newest checkpoint of kind "safety" has the files from before the rewind.`,
      cause,
    })
  }
}

function newerJournalError(): SavestateError {
  return new SavestateError(
    'STORE_NEWER',
    'A newer version of Savestate was interrupted during a rewind',
    { hint: 'Update savestate and run the command again.' },
  )
}
