// Disk usage in allocated blocks, not file sizes: the space that removing the files would free.
import { lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { hasCode } from '../model/index.js'

const BLOCK_BYTES = 512
/** Yield to the event loop this often. Asynchronous stat calls for every file take five times as long. */
const TURN_MS = 8

export async function diskUsage(path: string): Promise<number> {
  let total = 0
  let until = performance.now() + TURN_MS
  const folders = [path]
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    total += blocksOf(folder)
    for (const entry of entriesOf(folder)) {
      const inside = join(folder, entry.name)
      if (entry.isDirectory()) folders.push(inside)
      else total += blocksOf(inside)
    }
    if (performance.now() < until) continue
    await nextTurn()
    until = performance.now() + TURN_MS
  }
  return total * BLOCK_BYTES
}

/** 0 for a missing path: other processes create and remove temporary files while we count. */
function blocksOf(path: string): number {
  return lstatSync(path, { throwIfNoEntry: false })?.blocks ?? 0
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return []
    throw error
  }
}
