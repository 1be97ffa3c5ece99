// Folders of the store, made when they are first needed.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { hasCode } from '../model/index.js'

/**
 * Makes a folder below a home that is there, and throws ENOENT where it is not: a store that somebody has removed
 * must not begin anew with what a process still had to write, for nobody could open that.
 */
export function makeFolderIn(home: string, ...names: readonly string[]): void {
  let path = home
  for (const name of names) {
    path = join(path, name)
    try {
      mkdirSync(path, { mode: 0o700 })
    } catch (error) {
      if (!hasCode(error, 'EEXIST')) throw error
    }
  }
}
