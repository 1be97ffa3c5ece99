// One file of a snapshot, by git: for what is asked seldom, and is small.
import type { ObjectId } from '../../model/index.js'
import { runGit } from './git-program.js'

/** What it holds under a name in its top folder; undefined if that is no file, or not in it. */
export async function fileInSnapshot(
  gitDir: string,
  { tree, name }: { readonly tree: ObjectId; readonly name: string },
): Promise<string | undefined> {
  const listed = await runGit(gitDir, ['ls-tree', tree, `files/${name}`])
  const id = /^100(?:644|755) blob ([0-9a-f]{40})\t/.exec(listed.toString('latin1'))?.[1]
  if (id === undefined) return undefined
  return (await runGit(gitDir, ['cat-file', 'blob', id])).toString('utf8')
}
