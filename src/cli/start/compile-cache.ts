// Keeps Node's compile cache in the store, so that later commands start faster (docs/decisions/0034).
import { lstatSync, type Stats } from 'node:fs'
import { dirname, join } from 'node:path'
import { storePath } from '../../base/index.js'

const OTHERS = 0o077

/** Does nothing on Node before 22.8, without a store, and where another user could have written the cache. */
export function useCompileCache(): void {
  const { enableCompileCache } = process.getBuiltinModule('node:module') as {
    readonly enableCompileCache?: (directory: string) => unknown
  }
  const home = enableCompileCache === undefined ? undefined : storePath()
  // An empty folder is not a store.
  if (home === undefined || !isPrivate(home) || stat(join(home, 'format')) === undefined) return
  const compiled = join(home, 'cache', 'compile')
  const isSafe = [dirname(compiled), compiled].every(
    (path) => stat(path) === undefined || isPrivate(path),
  )
  // Node creates the folders, with our umask.
  if (isSafe) enableCompileCache?.(compiled)
}

function isPrivate(path: string): boolean {
  const found = stat(path)
  if (found === undefined || !found.isDirectory()) return false
  return found.uid === process.geteuid?.() && (found.mode & OTHERS) === 0
}

function stat(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false })
}
