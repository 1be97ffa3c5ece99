// Finds the mount point of a path, for messages about a full or read-only disk.
import { lstatSync } from 'node:fs'
import { dirname } from 'node:path'
import { hasCode } from '../model/index.js'

/** The topmost folder above `path` that is on the same device; `path` itself if it cannot be read. */
export function mountPointOf(path: string): string {
  const device = deviceOf(path)
  if (device === undefined) return path
  let top = path
  for (let above = dirname(top); above !== top; above = dirname(top)) {
    if (deviceOf(above) !== device) return top
    top = above
  }
  return top
}

function deviceOf(path: string): number | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.dev
  } catch (error) {
    if (hasCode(error, 'EACCES', 'ENOTDIR', 'ELOOP')) return undefined
    throw error
  }
}
