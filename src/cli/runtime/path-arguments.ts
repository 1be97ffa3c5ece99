// Paths as typed, relative to where the person is, become paths of the project. Everything here is one
// character per byte, so that any name can be given.
import { realpathSync } from 'node:fs'
import { posix } from 'node:path'
import { parsePathText, pathText, SavestateError } from '../../internal.js'
import type { Request } from './command.js'
import { pathForPeople, printable } from '../terminal/escape.js'
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
  place: { readonly root: string; readonly folder: string },
): string {
  const { root, folder } = place
  const bytes = bytesOfPath(argument)
  // As --path "$FILE" is where FILE is not set: not a way to say the current folder.
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
    `${printable(JSON.stringify(argument))} is not in the project ${pathForPeople(textOf(root))}`,
    { hint: 'Paths are relative to the current folder (DIR with `-C DIR`).' },
  )
}

/** A path anywhere, as the SDK takes it. */
export function givenPathText(argument: string): string {
  return textOf(bytesOfPath(argument))
}

/** What we print in quotes may be typed in quotes. */
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

/** The project's path is a real one; what was typed may go through a link above the project. */
function withRealParent(path: string): string {
  for (let parent = posix.dirname(path); ; parent = posix.dirname(parent)) {
    try {
      const real = realpathSync.native(Buffer.from(parent, 'latin1'), 'buffer').toString('latin1')
      return posix.join(real, path.slice(parent.length))
    } catch {
      // Deleted folders can be named too, so look further up. What cannot be looked at is not the project.
      if (parent === '/') return path
    }
  }
}

function textOf(bytes: string): string {
  const octal = (byte: string) => `\\${byte.charCodeAt(0).toString(8).padStart(3, '0')}`
  return pathText(parsePathText(`"${bytes.replace(/[^]/g, octal)}"`))
}
