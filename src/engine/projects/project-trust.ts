// The project files that the user trusts, in the store's trusted.json: project, file name and hash of the content. A
// change of one byte ends the trust. Without trust a project's file can only make Savestate keep more.
import { hash } from 'node:crypto'
import { join } from 'node:path'
import { type BytePath, pathText, SavestateError } from '../../model/index.js'
import { readIfThere, writeFileAtomically } from '../../system/index.js'
import { withConfigLock } from '../store/config-lock.js'

export const PROJECT_FILE = '.savestate.json'
export const IGNORE_FILE = '.savestateignore'

/** A file with the content that the user has seen. */
export type SeenFile = { readonly file: string; readonly sha256: string }

type Trusted = Record<string, Record<string, string>>

export function hashOf(text: string): string {
  return hash('sha256', text, 'hex')
}

export function isTrusted(home: string, path: BytePath, { file, sha256 }: SeenFile): boolean {
  return readTrusted(home)[pathText(path)]?.[file] === sha256
}

/** Trusts these contents, not the present ones: an agent may have changed the files since the user saw them. */
export async function trustFiles(
  home: string,
  path: BytePath,
  files: readonly SeenFile[],
): Promise<void> {
  await withConfigLock(home, () => {
    const all = readTrusted(home)
    const own = Object.fromEntries(files.map(({ file, sha256 }) => [file, sha256]))
    const next: Trusted = { ...all, [pathText(path)]: { ...all[pathText(path)], ...own } }
    const content = `${JSON.stringify(next, undefined, 2)}\n`
    writeFileAtomically({ path: trustPath(home), content, durable: true, mode: 0o600 })
  })
}

function trustPath(home: string): string {
  return join(home, 'trusted.json')
}

function readTrusted(home: string): Trusted {
  const text = readIfThere(trustPath(home))?.toString('utf8')
  if (text === undefined) return {}
  try {
    return JSON.parse(text) as Trusted
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause
    throw new SavestateError('CONFIG_INVALID', `${trustPath(home)} is not JSON`, {
      hint: 'Remove it, then confirm the files of your projects again: savestate config trust',
      cause,
    })
  }
}
