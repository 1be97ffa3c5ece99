// Bytes on disk, not bytes in files: what a person would get back.
import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { hasCode } from '../model/index.js'

export async function diskUsage(path: string): Promise<number> {
  try {
    const stats = await lstat(path)
    const own = stats.blocks * 512
    if (!stats.isDirectory()) return own
    const inside = await Promise.all(
      (await readdir(path)).map((name) => diskUsage(join(path, name))),
    )
    return inside.reduce((sum, size) => sum + size, own)
  } catch (error) {
    // Temporaries of another process come and go while we count.
    if (hasCode(error, 'ENOENT')) return 0
    throw error
  }
}
