import type { ObjectId } from '../../model/index.js'
import { tryGit } from './git-program.js'

/** Number and size of the files in a snapshot, as far as its objects exist. */
export async function measureSnapshot(
  gitDir: string,
  snapshot: ObjectId,
): Promise<{ readonly fileCount: number; readonly sizeBytes: number }> {
  const args = ['ls-tree', '-r', '-l', '-z', '--full-tree', `${snapshot}:files`]
  const { output } = await tryGit(gitDir, args)
  const sizes = output.toString('latin1').split('\0').slice(0, -1)
  const sizeOf = (line: string) => Number(/^\S+ \S+ \S+ +(\d+)\t/.exec(line)?.[1] ?? 0)
  return {
    fileCount: sizes.length,
    sizeBytes: sizes.reduce((sum, line) => sum + sizeOf(line), 0),
  }
}
