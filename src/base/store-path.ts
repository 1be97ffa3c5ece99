// The path of the store, by the one rule that the command line, the daemon and the SDK share.
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'

export type StorePath =
  | { readonly path: string }
  /** A relative path would name another store in every folder, some of them inside projects. */
  | { readonly fault: 'no-home-folder' | 'empty' | 'tilde' | 'relative' }

/** `$SAVESTATE_HOME`, else `~/.savestate`. */
export function resolveStorePath(): StorePath {
  const { SAVESTATE_HOME: given } = process.env
  const path = given ?? join(homedir(), '.savestate')
  if (isAbsolute(path)) return { path }
  if (given === undefined) return { fault: 'no-home-folder' }
  if (given === '') return { fault: 'empty' }
  return { fault: given.startsWith('~') ? 'tilde' : 'relative' }
}

/** Undefined if it cannot be used: opening the store reports why. */
export function storePath(): string | undefined {
  const found = resolveStorePath()
  return 'path' in found ? found.path : undefined
}
