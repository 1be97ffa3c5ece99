// Adds to an error what only the engine can find out: which disk is full, and that git is too old.
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

type Place = { readonly home: string; readonly path?: BytePath | undefined }

export async function explainFailure(error: unknown, place: Place): Promise<unknown> {
  const explained = explainSystemError(error)
  if (!(explained instanceof SavestateError)) return explained
  if (explained.code === 'DISK_FULL') return withFreeSpace(explained, place)
  if (explained.code === 'GIT_FAILED') return (await gitFault(place)) ?? explained
  return explained
}

/** The error says that a write failed, not where: the space left on both disks does. */
function withFreeSpace(error: SavestateError, { home: text, path }: Place): SavestateError {
  const home = bytePath(text)
  const isOneDisk = path === undefined || isSameDisk(home, path)
  const texts = isOneDisk
    ? [freeText('the disk', home)]
    : [freeText('the disk of the store', home), freeText('the disk of the project', path)]
  const free = texts.filter((text) => text !== undefined).join(', ')
  const hint = [error.hint ?? [], free === '' ? [] : `Free now: ${free}.`].flat().join('\n')
  return new SavestateError(error.code, error.message, { hint, cause: error })
}

function freeText(what: string, path: BytePath): string | undefined {
  const free = quietly(() => statfsSync(fsPath(path)))
  return free === undefined
    ? undefined
    : `${Math.floor((free.bavail * free.bsize) / MB)} MB on ${what} (${printablePath(path)})`
}

function isSameDisk(one: BytePath, other: BytePath): boolean {
  const [a, b] = [one, other].map((path) => quietly(() => statSync(fsPath(path)).dev))
  return a !== undefined && a === b
}

/** An existing store is used without a check of git's version, so an old git shows only when it fails. */
async function gitFault({ home }: Place): Promise<SavestateError | undefined> {
  try {
    await refuseOldGit(home)
    return undefined
  } catch (error) {
    return error instanceof SavestateError && error.code === 'GIT_MISSING' ? error : undefined
  }
}

/** Undefined where the system refuses: the error that is being explained matters more. */
function quietly<Value>(ask: () => Value): Value | undefined {
  try {
    return ask()
  } catch (error) {
    if (isError(error) && 'code' in error) return undefined
    throw error
  }
}
