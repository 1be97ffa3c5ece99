// The file of a project's search index, its lock, and its removal.
import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { hasCode, parseProjectId, type ProjectId } from '../../model/index.js'
import { isCorrupt, isStatementFault, listIfExists, takeLock } from '../../system/index.js'
import { lockPath } from '../operation/context.js'

const SUFFIX = '.search'
const FILE = /^([bcdfghjklmnpqrstvwxz]{18})\.search$/
/** Writers release it after each batch. */
export const LOCK_WAIT_MS = 60_000

/** Removes the indexes of all projects. */
export async function removeIndexes(home: string): Promise<void> {
  for (const id of indexedProjects(home)) await removeIndex(home, id)
}

export function indexedProjects(home: string): readonly ProjectId[] {
  return listIfExists(join(home, 'cache')).flatMap((name) => {
    const id = FILE.exec(name)?.[1]
    return id === undefined ? [] : [parseProjectId(id)]
  })
}

/** Under the lock that every writer of the index holds. */
export async function removeIndex(home: string, project: ProjectId): Promise<void> {
  const lock = await takeLock(indexLockPath(home, project), {
    waitMs: LOCK_WAIT_MS,
    purpose: 'remove the search index',
  })
  try {
    const path = indexPath(home, project)
    // First the journal, so that a new file never finds an old one.
    for (const file of [`${path}-journal`, path]) rmSync(file, { recursive: true, force: true })
  } finally {
    lock?.release()
  }
}

export function ensureCacheFolder(home: string): void {
  const path = join(home, 'cache')
  if (existsSync(path)) return
  try {
    // Not recursive: if another process removed the home, this must not create half a store.
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error
  }
}

export function indexPath(home: string, project: ProjectId): string {
  return join(home, 'cache', `${project}${SUFFIX}`)
}

export function indexLockPath(home: string, project: ProjectId): string {
  return lockPath(home, `${project}${SUFFIX}`)
}

/** The ledger's own damage is reported as STORE_DAMAGED too, so the message must name the index. */
export function isIndexDamage(error: unknown, path: string): boolean {
  if (isCorrupt(error) || isStatementFault(error) || error instanceof SyntaxError) return true
  return hasCode(error, 'STORE_DAMAGED') && error instanceof Error && error.message.includes(path)
}
