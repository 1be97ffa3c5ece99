// The refs as the files have them: git refuses to list any if one file among them is malformed.
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { hasCode, type ObjectId } from '../../model/index.js'
import { listIfThere } from '../objects/loose.js'

export type Refs = {
  /** By name. */
  readonly commits: ReadonlyMap<string, ObjectId>
  /** Files that hold no refs in the form that git knows. */
  readonly malformed: readonly string[]
}

const FOLDER = 'refs/savestate'

export function readRefs(gitDir: string): Refs {
  const malformed: string[] = []
  const packed = packedRefs(join(gitDir, 'packed-refs'))
  if (packed === undefined) malformed.push(join(gitDir, 'packed-refs'))
  const commits = new Map(packed)
  for (const project of listIfThere(join(gitDir, FOLDER))) {
    const folder = join(gitDir, FOLDER, project)
    if (!statSync(folder).isDirectory()) {
      malformed.push(folder)
      continue
    }
    for (const checkpoint of readdirSync(folder)) {
      const path = join(folder, checkpoint)
      const commit = commitIn(readFileSync(path, 'latin1'))
      if (checkpoint.endsWith('.lock')) continue
      if (commit === undefined) malformed.push(path)
      else commits.set(`${FOLDER}/${project}/${checkpoint}`, commit)
    }
  }
  return { commits, malformed }
}

function packedRefs(path: string): Map<string, ObjectId> | undefined {
  let text: string
  try {
    text = readFileSync(path, 'latin1')
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return new Map()
    throw error
  }
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
