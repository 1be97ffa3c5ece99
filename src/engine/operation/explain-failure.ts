// Adds details to an error that only the engine can find out: which disk is full, and whether git is too old.
import { statfsSync, statSync } from 'node:fs'
import {
  type BytePath,
  bytePath,
  explainSystemError,
  fsPath,
  isError,
  printablePath,
  SavestateError,
} from '../../model/index.js'
import { refuseOldGit } from '../../snapshot/index.js'

const MB = 1_000_000

type Location = { readonly home: string; readonly path?: BytePath | undefined }

export async function explainFailure(error: unknown, location: Location): Promise<unknown> {
  const explained = explainSystemError(error)
  if (!(explained instanceof SavestateError)) return explained
  if (explained.code === 'DISK_FULL') return addFreeSpace(explained, location)
  if (explained.code === 'GIT_FAILED') return (await findGitProblem(location)) ?? explained
  return explained
}

/** The error does not say which disk is full, so report the free space on both. */
function addFreeSpace(error: SavestateError, { home: text, path }: Location): SavestateError {
  const home = bytePath(text)
  const isOneDisk = path === undefined || isSameDisk(home, path)
  const texts = isOneDisk
    ? [describeFreeSpace('the disk', home)]
    : [
        describeFreeSpace('the disk of the store', home),
        describeFreeSpace('the disk of the project', path),
      ]
  const free = texts.filter((text) => text !== undefined).join(', ')
  const hint = [error.hint ?? [], free === '' ? [] : `Free now: ${free}.`].flat().join('\n')
  return new SavestateError(error.code, error.message, { hint, cause: error })
}

function describeFreeSpace(what: string, path: BytePath): string | undefined {
  const free = tryCall(() => statfsSync(fsPath(path)))
  return free === undefined
    ? undefined
    : `${Math.floor((free.bavail * free.bsize) / MB)} MB on ${what} (${printablePath(path)})`
}

function isSameDisk(one: BytePath, other: BytePath): boolean {
  const [a, b] = [one, other].map((path) => tryCall(() => statSync(fsPath(path)).dev))
  return a !== undefined && a === b
}

/** Opening an existing store does not check git's version, so an old git is noticed only when it fails. */
async function findGitProblem({ home }: Location): Promise<SavestateError | undefined> {
  try {
    await refuseOldGit(home)
    return undefined
  } catch (error) {
    return error instanceof SavestateError && error.code === 'GIT_MISSING' ? error : undefined
  }
}

/** Returns undefined on a system error: the error that is being explained matters more. */
function tryCall<Value>(call: () => Value): Value | undefined {
  try {
    return call()
  } catch (error) {
    if (isError(error) && 'code' in error) return undefined
    throw error
  }
}
