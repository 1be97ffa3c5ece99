// Writes a file that the user asked for. An existing file is never overwritten.
import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { hasCode } from '../../base/index.js'
import { SavestateError } from '../../index.js'
import { displayPath } from '../terminal/escape.js'
import type { Request } from './command.js'

/** Returns the absolute path. Throws BAD_INPUT if the file exists. */
export function writeNewFile(
  { folder }: Pick<Request, 'folder'>,
  { path, content }: { readonly path: string; readonly content: Uint8Array },
): string {
  const whole = resolve(folder, path)
  try {
    writeFileSync(whole, content, { flag: 'wx' })
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error
    throw new SavestateError('BAD_INPUT', `${displayPath(whole)} exists already`, {
      hint: 'Choose a name that does not exist, or remove the file first.',
    })
  }
  return whole
}
