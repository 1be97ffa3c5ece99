// Converts paths as typed, relative to the current folder, to paths of the project. Strings here have one character per
// byte, so that any name works.
import { realpathSync } from 'node:fs'
import { posix } from 'node:path'
import { parsePathText, pathText, SavestateError } from '../../internal.js'
import type { Request } from './command.js'
import { displayPath, printable } from '../terminal/escape.js'
import { bytesOfArgument } from '../args/argv-bytes.js'

/** Throws BAD_INPUT for a path that is not in the project (I4). */
export async function projectPaths(request: Request, given: readonly string[]): Promise<string[]> {
  if (given.length === 0) return []
  const root = parsePathText((await request.project()).path)
  const folder =
    request.folder === '.' ? realpathSync.native('.', 'buffer').toString('latin1') : root
  return given.map((text) => projectPath(text, { root, folder }))
}

export function projectPath(
  argument: string,
  { root, folder }: { readonly root: string; readonly folder: string },
): string {
  const bytes = bytesOfPath(argument)
  // --path "$FILE" with an unset FILE must not mean the current folder.
  if (bytes === '') {
    throw new SavestateError('BAD_INPUT', 'A path cannot be empty', {
      hint: 'Use . for the current folder.',
    })
  }
  const whole = posix.resolve(folder, bytes)
  const path = below(whole, root) ?? below(withRealParent(whole), root)
  if (path !== undefined) return path === '' ? '.' : textOf(path)
  throw new SavestateError(
    'BAD_INPUT',
    `${printable(JSON.stringify(argument))} is not in the project ${displayPath(textOf(root))}`,
    { hint: 'Paths are relative to the current folder (DIR with `-C DIR`).' },
  )
}

/** A path anywhere, in the form of the SDK. */
export function givenPathText(argument: string): string {
  return textOf(bytesOfPath(argument))
}

/** Accepts the quoted form in which Savestate prints paths. */
function bytesOfPath(argument: string): string {
  const bytes = bytesOfArgument(argument)
  if (!argument.startsWith('"')) return bytes
  try {
    return parsePathText(argument)
  } catch (error) {
    if (error instanceof TypeError) return bytes
    throw error
  }
}

function below(path: string, root: string): string | undefined {
  if (path === root) return ''
  return path.startsWith(`${root}/`) ? path.slice(root.length + 1) : undefined
}

/** The path of the project has no symbolic links; the typed path may go through one above the project. */
function withRealParent(path: string): string {
  for (let parent = posix.dirname(path); ; parent = posix.dirname(parent)) {
    try {
      const real = realpathSync.native(Buffer.from(parent, 'latin1'), 'buffer').toString('latin1')
      return posix.join(real, path.slice(parent.length))
    } catch {
      // The path may name a deleted folder, so try its parents. An inaccessible one is outside the project.
      if (parent === '/') return path
    }
  }
}

function textOf(bytes: string): string {
  const octal = (byte: string) => `\\${byte.charCodeAt(0).toString(8).padStart(3, '0')}`
  return pathText(parsePathText(`"${bytes.replace(/[^]/g, octal)}"`))
}
