// Reads refs directly from their files: git refuses to list any ref if one file is malformed.
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { readIfExists } from '../../base/index.js'
import { type ObjectId } from '../../model/index.js'
import { listIfExists } from '../../system/index.js'

export type Refs = {
  readonly commits: ReadonlyMap<string, ObjectId>
  /** Files that are not in git's format. */
  readonly malformed: readonly string[]
}

const FOLDER = 'refs/savestate'

/** Reads loose refs first: a concurrent prune may pack one, and then the second read finds it. */
export function readRefs(gitDir: string): Refs {
  const { commits: loose, malformed } = readLooseRefs(gitDir)
  const packed = readPackedRefs(gitDir)
  if (packed === undefined) malformed.push(join(gitDir, 'packed-refs'))
  return { commits: new Map([...(packed ?? []), ...loose]), malformed }
}

export function readLooseRefs(gitDir: string): {
  commits: Map<string, ObjectId>
  malformed: string[]
} {
  const commits = new Map<string, ObjectId>()
  const malformed: string[] = []
  for (const project of listIfExists(join(gitDir, FOLDER))) {
    const folder = join(gitDir, FOLDER, project)
    if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === false) {
      malformed.push(folder)
      continue
    }
    for (const checkpoint of listIfExists(folder)) {
      if (checkpoint.endsWith('.lock')) continue
      const path = join(folder, checkpoint)
      const text = readIfExists(path)?.toString('latin1')
      if (text === undefined) continue
      const commit = commitIn(text)
      if (commit === undefined) malformed.push(path)
      else commits.set(`${FOLDER}/${project}/${checkpoint}`, commit)
    }
  }
  return { commits, malformed }
}

/** Undefined if the file is not in git's format. */
export function readPackedRefs(gitDir: string): Map<string, ObjectId> | undefined {
  const text = readIfExists(join(gitDir, 'packed-refs'))?.toString('latin1') ?? ''
  const refs = new Map<string, ObjectId>()
  if (text !== '' && !text.endsWith('\n')) return undefined
  for (const line of text.split('\n').slice(0, -1)) {
    if (line.startsWith('#') || line.startsWith('^')) continue
    const match = /^([0-9a-f]{40}) (refs\/[!-~]+)$/.exec(line)
    if (match === null) return undefined
    refs.set(match[2] ?? '', match[1] as ObjectId)
  }
  return refs
}

function commitIn(text: string): ObjectId | undefined {
  return /^[0-9a-f]{40}\n?$/.test(text) ? (text.trim() as ObjectId) : undefined
}
