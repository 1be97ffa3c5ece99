// Where the store is, before anything of it is opened. As in the SDK, which a command that only forwards does not load.
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'

/** Undefined where nobody can say: an empty SAVESTATE_HOME, or a relative one and no current folder. */
export function homePath(folder: string | undefined): string | undefined {
  const given = process.env['SAVESTATE_HOME'] ?? join(homedir(), '.savestate')
  if (isAbsolute(given)) return given
  return given === '' || folder === undefined ? undefined : join(folder, given)
}

/** Undefined if it is gone, or not text. */
export function currentFolder(): string | undefined {
  try {
    const folder = process.cwd()
    return folder.includes('\ufffd') ? undefined : folder
  } catch {
    // The command itself says what is wrong.
    return undefined
  }
}
