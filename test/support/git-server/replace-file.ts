// Changes a repository as a teammate may who pushes without Savestate.
import { runGit } from '../scratch.js'

/** Replaces one file in the tree of a ref; null removes it. */
export function replaceFile(
  repository: string,
  ref: string,
  { path, content }: { readonly path: string; readonly content: string | null },
): void {
  const env = { GIT_INDEX_FILE: `${repository}/index` }
  const git = (args: readonly string[], input = '') => runGit(args, { cwd: repository, env, input })
  git(['read-tree', ref])
  if (content === null) git(['rm', '--cached', '--quiet', path])
  else {
    const blob = git(['hash-object', '-w', '--stdin'], content)
    git(['update-index', '--add', '--cacheinfo', `100644,${blob},${path}`])
  }
  git(['update-ref', ref, git(['commit-tree', '-m', 'x', git(['write-tree'])])])
}
