// The objects that checkpoints refer to. If git cannot traverse a ref completely, this throws rather than guess.
import { invariant, type ObjectId, WeightedGraph } from '../../model/index.js'
import { BlobReader } from '../git/blob-reader.js'
import { eachLine } from '../git/git-program.js'
import { decodeTree } from '../objects/tree.js'

const REV_LIST = ['rev-list', '--objects', '--stdin']
const COMMIT_TREE = /^tree ([0-9a-f]{40})$/m

/** Every object that is reachable from these commits, including the commits. */
export async function reachableFrom(
  gitDir: string,
  commits: Iterable<string>,
): Promise<Set<string>> {
  return new Set(await listReachable(gitDir, commits, ['--no-object-names']))
}

/** The same as lines, by default with a path after each object, which helps git find similar objects. */
export async function listReachable(
  gitDir: string,
  commits: Iterable<string>,
  options: readonly string[] = [],
): Promise<string[]> {
  const lines: string[] = []
  const input = [...commits]
  // Without input git would print its usage.
  if (input.length > 0)
    await eachLine(gitDir, { args: [...REV_LIST, ...options], input }, (line) => lines.push(line))
  return lines
}

/**
 * The objects reachable from commits, as a graph with sizes. It computes how much smaller the store is without some commits.
 * Initially no commit is live. Throws STORE_DAMAGED if one cannot be read completely.
 */
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
    const roots = new Set(commits)
    const options = ['--no-object-names', '--filter=blob:none']
    for (const id of await listReachable(gitDir, commits, options)) {
      const content = await reader.read(id as ObjectId)
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
