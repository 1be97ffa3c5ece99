// A look at everything now and then, for what no event tells of: writes through a mapped page, through another hard
// link, or through another mount. It goes in small steps between the calls of the thread, and what it finds is
// touched for the next save.
import { type BytePath, joinPath, ROOT } from '../../model/index.js'
import { type FolderNode, findNode, type Node } from '../capture/node.js'
import { isSameStamp, lstat } from '../capture/stats.js'
import type { ProjectWatch } from './project-watch.js'

export const BACKGROUND_LOOK_MS = 2 * 60_000
const STEP_PATHS = 200

type Found = { readonly folder: BytePath; readonly node: Node }

/** Goes through all nodes of a project that a save has left behind; a pause is allowed at each step. */
export async function lookInBackground(
  now: { readonly root: FolderNode; readonly rootPath: BytePath; readonly watch: ProjectWatch },
  pause: () => Promise<boolean>,
): Promise<void> {
  const found: Found[] = []
  let count = 0
  for (const each of nodesBelow(now.root, ROOT)) {
    if (isChanged(now.rootPath, each)) found.push(each)
    count += 1
    if (count % STEP_PATHS === 0 && !(await pause())) return
  }
  if (found.length > 0 && !(await now.watch.settle())) return
  for (const { folder, node } of found) {
    const path = joinPath(folder, node.name)
    // A save may have been here since, or an event be on record.
    if (now.watch.isTouched(folder, node.name) || findNode(now.root, path) !== node) continue
    if (isChanged(now.rootPath, { folder, node })) now.watch.noteMissed(folder, node.name)
  }
  now.watch.noteLooked()
}

function isChanged(rootPath: BytePath, { folder, node }: Found): boolean {
  const stats = lstat(`${rootPath}/${joinPath(folder, node.name)}`)
  return stats === undefined || stats === 'unreadable' || !isSameStamp(node, stats)
}

function* nodesBelow(folder: FolderNode, path: BytePath): Generator<Found> {
  for (const node of folder.children) {
    if (node.kind === 'skipped') continue
    yield { folder: path, node }
    if (node.kind === 'folder') yield* nodesBelow(node, joinPath(path, node.name))
  }
}
