// Records who changed files: the authors of each checkpoint, and the tool calls that are running in each project.
import { tryParseJson } from '../../base/index.js'
import {
  type Authors,
  type CheckpointId,
  joinAuthors,
  type ObjectId,
  parseCheckpointId,
  parseObjectId,
  type ProjectId,
  resolveAuthors,
  type Task,
} from '../../model/index.js'
import type { Database } from '../../system/index.js'
import { LedgerTable } from '../ledger-table.js'

/** A snapshot of a project, and who changed files since the one before. */
export type FilesStep = {
  readonly id: CheckpointId
  readonly tree: ObjectId
  readonly authors: Authors
}

export class Authorship extends LedgerTable {
  /** The running tool calls that agents have reported for a project. */
  tasks(project: ProjectId): readonly Task[] {
    const row = this.database.get('SELECT tasks FROM projects WHERE id = ?', project)
    const tasks = typeof row?.['tasks'] === 'string' ? tryParseJson(row['tasks']) : undefined
    return Array.isArray(tasks) ? (tasks as Task[]) : []
  }

  setTasks(project: ProjectId, tasks: readonly Task[]): void {
    const stored = tasks.length === 0 ? null : JSON.stringify(tasks)
    this.database.run('UPDATE projects SET tasks = ? WHERE id = ?', stored, project)
  }

  /** These checkpoints were saved while a call ran, and the end of that call is known now. */
  settle(ids: readonly string[]): void {
    for (const id of ids) {
      const row = this.database.get('SELECT authors FROM checkpoints WHERE id = ?', id)
      if (row !== undefined)
        setAuthors(this.database, id, resolveAuthors(parseAuthors(row['authors'])))
    }
  }

  /** The snapshots of a project from this checkpoint on, or all of them, oldest first. */
  stepsFrom(project: ProjectId, from?: CheckpointId): FilesStep[] {
    return this.database
      .all(
        `SELECT id, tree, authors FROM checkpoints WHERE project = ?1 AND tree IS NOT NULL
         AND (?2 IS NULL OR seq >= (SELECT seq FROM checkpoints WHERE id = ?2)) ORDER BY seq`,
        project,
        from ?? null,
      )
      .map((row) => ({
        id: parseCheckpointId(String(row['id'])),
        tree: parseObjectId(String(row['tree'])),
        authors: parseAuthors(row['authors']),
      }))
  }
}

export function authorsColumn(authors: Authors): string | null {
  return authors === null ? null : JSON.stringify(authors)
}

/** Null, for unknown, if the column is not valid. */
export function parseAuthors(stored: unknown): Authors {
  if (typeof stored !== 'string') return null
  const names = tryParseJson(stored)
  return Array.isArray(names) && names.every((name) => typeof name === 'string') ? names : null
}

/**
 * Inside the transaction that removes these checkpoints or their files, before it does. Their changes become part of the difference
 * that the next checkpoint shows, so that one gets their authors too.
 */
export function mergeAuthorsIntoNext(database: Database, ids: readonly CheckpointId[]): void {
  const rows = database.all(
    `SELECT project, seq FROM checkpoints
     WHERE tree IS NOT NULL AND id IN (SELECT value FROM json_each(?)) ORDER BY seq`,
    JSON.stringify(ids),
  )
  for (const row of rows) {
    const [project, seq] = [String(row['project']), Number(row['seq'])]
    // Read it again: the previous iteration may have added authors to it.
    const own = database.get('SELECT authors FROM checkpoints WHERE seq = ?', seq)
    const next = database.get(
      `SELECT id, authors FROM checkpoints WHERE project = ? AND tree IS NOT NULL AND seq > ?
       ORDER BY seq LIMIT 1`,
      project,
      seq,
    )
    if (next === undefined) continue
    const authors = joinAuthors(parseAuthors(own?.['authors']), parseAuthors(next['authors']))
    setAuthors(database, String(next['id']), authors)
  }
}

function setAuthors(database: Database, id: string, authors: Authors): void {
  database.run('UPDATE checkpoints SET authors = ? WHERE id = ?', authorsColumn(authors), id)
}
