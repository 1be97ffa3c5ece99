// Where the store is, before anything of it is opened. As in the SDK, which a command that only forwards does not load.
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'

/** Undefined for a path that is refused when the store is opened: an empty or a relative one. */
export function homePath(): string | undefined {
  const given = process.env['SAVESTATE_HOME'] ?? join(homedir(), '.savestate')
  return isAbsolute(given) ? given : undefined
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
