// Reads the files of another tool. Nothing here writes to them, and an item that cannot be read does not stop the rest.
import { createHash } from 'node:crypto'
import { lstatSync, readdirSync } from 'node:fs'
import * as z from 'zod/mini'
import {
  type BytePath,
  bytePath,
  describeInputError,
  fsPath,
  importFault,
  type ImportHistory,
  type ImportProblem,
  isStorableText,
  joinPath,
  parseExactJson,
  pathText,
  readRegularFile,
  SavestateError,
  type StateHistory,
} from '../internal.js'

/** Collects the histories that a reader found, and the problems it met. */
export class Found {
  readonly histories: ImportHistory[] = []
  readonly problems: ImportProblem[] = []

  addStates(history: Omit<StateHistory, 'type'>): void {
    this.histories.push({ type: 'states', ...history })
  }

  /** Records an error of the data as a problem of `source`, and throws any other. */
  async attempt(source: string, work: () => Promise<void> | void): Promise<void> {
    try {
      await work()
    } catch (error) {
      this.problems.push({ source, message: importFault(error) })
    }
  }
}

/** Sorted, so that every import works in the same order. */
export function namesIn(folder: BytePath): BytePath[] {
  return readdirSync(fsPath(folder), { encoding: 'latin1' })
    .sort()
    .map((name) => joinPath('' as BytePath, name))
}

/** Does not follow symlinks. */
export function isFolder(path: BytePath): boolean {
  return lstatSync(fsPath(path), { throwIfNoEntry: false })?.isDirectory() ?? false
}

export function exists(path: BytePath): boolean {
  return lstatSync(fsPath(path), { throwIfNoEntry: false }) !== undefined
}

export type TextFile = {
  readonly text: string
  readonly maxBytes: number
  /** Changes whenever the text does. */
  readonly hash: string
  readonly modifiedAtMs: number
}

/** Throws BAD_INPUT unless the path is a regular file of at most `maxBytes` with UTF-8 text. */
export function readText(path: BytePath, maxBytes: number): TextFile {
  const stats = lstatSync(fsPath(path))
  const bytes = stats.isFile() ? readRegularFile(path, maxBytes) : 'unfit'
  if (typeof bytes === 'string')
    throw unreadable(stats.size > maxBytes ? 'it is too large' : 'it is not a regular file')
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    const hash = createHash('sha256').update(text).digest('hex').slice(0, 32)
    return { text, maxBytes, hash, modifiedAtMs: Math.floor(stats.mtimeMs) }
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause
    throw unreadable('it is not UTF-8 text', cause)
  }
}

/** For `StateItem.readState`: reads the file again, and refuses it if it has changed. */
export function readLater(
  path: BytePath,
  { hash, maxBytes }: TextFile,
  parse: (text: string) => unknown,
): () => Promise<unknown> {
  return async () => {
    const again = readText(path, maxBytes)
    if (again.hash === hash) return parse(again.text)
    throw unreadable('it was changed while it was imported')
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

/** Throws BAD_INPUT with all faults unless the value fits the schema. */
export function parseItem<T>(schema: z.ZodMiniType<T>, value: unknown, what: string): T {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  throw unreadable(`it is not ${what}: ${parsed.error.issues.map(describeInputError).join('; ')}`)
}

/** The path as git takes it. Throws BAD_INPUT for a path that is not UTF-8. */
export function gitPath(path: BytePath): string {
  const text = Buffer.from(path, 'latin1').toString('utf8')
  if (bytePath(text) === path) return text
  throw unreadable(`git cannot be used with the path ${pathText(path)}, which is not UTF-8`)
}

/** A schema for text that the ledger can store. */
export const wholeText = () =>
  z.string().check(z.refine(isStorableText, 'must be valid Unicode without NUL'))

export function unreadable(message: string, cause?: unknown): SavestateError {
  return new SavestateError('BAD_INPUT', message, cause === undefined ? {} : { cause })
}
