// What an import reads from: histories of files and of states, found but not yet brought in. Nothing here writes to
// where it reads, and one thing that cannot be read does not stop the others.
import { lstatSync, readdirSync } from 'node:fs'
import {
  type BytePath,
  bytePath,
  fsPath,
  hasCode,
  type ImportProblem,
  type ImportSource,
  isError,
  joinPath,
  parseExactJson,
  pathText,
  SavestateError,
  type Status,
} from '../model/index.js'
import { readRegularFile, type SourceCommit } from '../snapshot/index.js'

export { isRecord } from '../base/index.js'

/** Commits of a folder's files; each becomes a checkpoint of the project. */
export type FilesSource = {
  readonly type: 'files'
  readonly kind: ImportSource['kind']
  readonly source: string
  /** The folder, which need not be there. */
  readonly path: BytePath
  /** The repository's folder of objects. */
  readonly objects: string
  /** Oldest first. */
  readonly commits: readonly (SourceCommit & { readonly origin: string })[]
}

/** States of an agent; each becomes a checkpoint of a session. */
export type SessionSource = {
  readonly type: 'session'
  readonly kind: ImportSource['kind']
  readonly source: string
  readonly id: string
  readonly agent: string | null
  /** How the origins begin of whatever was imported from here before, where the items of then may be gone. */
  readonly originPrefix: string | null
  /** Oldest first. */
  readonly items: readonly StateItem[]
}

export type StateItem = {
  readonly source: string
  /** The same whenever the same thing is imported. */
  readonly origin: string
  readonly createdAtMs: number
  readonly name: string | null
  readonly reason: string | null
  readonly status: Status
  readonly metadata: unknown
  readonly operationId: string | null
  /** Reads it again: all states of a history would not fit in memory. */
  readonly readState: () => Promise<unknown>
}

export type Source = FilesSource | SessionSource

/** Where an import tells of what it does. */
export type Report = {
  /** What goes wrong is put here. */
  readonly problems: ImportProblem[]
  /** One more is brought in, or cannot be. */
  readonly onDone: () => void
}

const REFUSALS: readonly string[] = ['BAD_INPUT', 'PROJECT_REFUSED', 'STATE_UNSTORABLE']
const SYSTEM_REFUSALS = ['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM', 'EIO', 'ELOOP', 'ENAMETOOLONG']

/** Collects what is found, and what cannot be read. */
export class Findings {
  readonly sources: Source[] = []
  readonly problems: ImportProblem[] = []

  report(source: string, message: string): void {
    this.problems.push({ source, message })
  }

  /** What is wrong with one thing is noted and passed on to the person; what is wrong with us is thrown. */
  async attempt(source: string, work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      this.report(source, faultIn(error))
    }
  }
}

/** What is wrong with the source; an error that is not about it is thrown again. */
export function faultIn(error: unknown): string {
  if (error instanceof SavestateError && REFUSALS.includes(error.code)) return error.message
  if (isError(error) && hasCode(error, ...SYSTEM_REFUSALS)) return error.message
  throw error
}

/** Sorted, so that an import does the same each time. */
export function namesIn(folder: BytePath): BytePath[] {
  return readdirSync(fsPath(folder), { encoding: 'latin1' })
    .sort()
    .map((name) => joinPath('' as BytePath, name))
}

export function isFolder(path: BytePath): boolean {
  return lstatSync(fsPath(path), { throwIfNoEntry: false })?.isDirectory() ?? false
}

export function isThere(path: BytePath): boolean {
  return lstatSync(fsPath(path), { throwIfNoEntry: false }) !== undefined
}

/** Throws BAD_INPUT for what is no ordinary file of that size, or no UTF-8. */
export function readText(
  path: BytePath,
  maxBytes: number,
): { readonly text: string; readonly modifiedAtMs: number } {
  const stats = lstatSync(fsPath(path))
  const bytes = stats.isFile() ? readRegularFile(path, maxBytes) : 'unfit'
  if (typeof bytes === 'string')
    throw unreadable(stats.size > maxBytes ? 'it is too large' : 'it is not a regular file')
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return { text, modifiedAtMs: Math.floor(stats.mtimeMs) }
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause
    throw unreadable('it is not UTF-8 text', cause)
  }
}

export function parseJson(text: string): unknown {
  try {
    return parseExactJson(text)
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause
    throw unreadable('it is not JSON', cause)
  }
}

/** As programs are given it. Throws BAD_INPUT for a path that has no text. */
export function exactText(path: BytePath): string {
  const text = Buffer.from(path, 'latin1').toString('utf8')
  if (bytePath(text) === path) return text
  throw unreadable(`git cannot be used with the path ${pathText(path)}, which is not UTF-8`)
}

export function unreadable(message: string, cause?: unknown): SavestateError {
  return new SavestateError('BAD_INPUT', message, cause === undefined ? {} : { cause })
}
