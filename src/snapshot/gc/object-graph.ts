// The objects reachable from commits, as a graph with sizes. It computes how much smaller the store is without some commits.
import { invariant, type ObjectId, WeightedGraph } from '../../model/index.js'
import { BlobReader } from '../git/blob-reader.js'
import { decodeTree } from '../objects/tree.js'
import { eachLine } from './mark.js'

const COMMIT_TREE = /^tree ([0-9a-f]{40})$/m

/** Initially no commit is live. Throws STORE_DAMAGED if one cannot be read completely. */
export async function readObjectGraph(
  gitDir: string,
  {
    commits,
    bytes,
  }: { readonly commits: readonly string[]; readonly bytes: ReadonlyMap<string, number> },
): Promise<WeightedGraph> {
  const graph = new WeightedGraph()
  const reader = new BlobReader(gitDir)
  try {
    const ids: ObjectId[] = []
    const args = ['rev-list', '--objects', '--no-object-names', '--filter=blob:none', '--stdin']
    // Without commits git would print its usage.
    if (commits.length > 0)
      await eachLine(gitDir, { args, input: commits }, (line) => ids.push(line as ObjectId))
    const roots = new Set<string>(commits)
    for (const id of ids) {
      const content = await reader.read(id)
      const children = roots.has(id) ? [treeOf(content)] : decodeTree(content).map((it) => it.id)
      graph.setChildren(id, children)
      for (const one of [id, ...children]) graph.setBytes(one, bytes.get(one) ?? 0)
    }
  } finally {
    reader.close()
  }
  return graph
}

function treeOf(commit: Buffer): ObjectId {
  const tree = COMMIT_TREE.exec(commit.toString('latin1'))?.[1]
  invariant(tree !== undefined, 'a commit names its tree')
  return tree as ObjectId
}
