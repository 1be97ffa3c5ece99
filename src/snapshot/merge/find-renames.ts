// Renamed files between two trees, as git's rename detection pairs them.
import type { BytePath, ObjectId } from '../../model/index.js'
import { runGit } from '../git/git-program.js'

/** From each removed path to the added one that git pairs with it. Compares two `files` trees. */
export async function findRenames(
  gitDir: string,
  before: ObjectId,
  after: ObjectId,
): Promise<ReadonlyMap<BytePath, BytePath>> {
  const options = ['-r', '-z', '--raw', '--find-renames', '--diff-filter=R', '--no-ext-diff']
  const output = await runGit(gitDir, ['diff-tree', ...options, before, after])
  const renames = new Map<BytePath, BytePath>()
  // One field with the modes and ids, then the two paths.
  const fields = output.toString('latin1').split('\0')
  for (let at = 0; at + 2 < fields.length; at += 3)
    renames.set(fields[at + 1] as BytePath, fields[at + 2] as BytePath)
  return renames
}
