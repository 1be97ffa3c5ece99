// The files of a separate home.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { type Scratch } from '../../cli/program.js'

export const userFile = (s: Scratch, path: string) => join(s.folder, 'user', path)
export const read = (path: string) => readFileSync(path, 'utf8')

export function put(path: string, content: string, mode = 0o600): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, content, { mode })
}

/** All files and folders of a home, except the store. */
export function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .sort()
}
