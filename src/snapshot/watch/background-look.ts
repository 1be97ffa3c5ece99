// A look at everything now and then, for what no event tells of: writes through a mapped page, through another hard
// link, or through another mount. It goes in small steps between the calls of the thread, and what it finds is
// touched for the next save.
import { type BytePath, joinPath, ROOT } from '../../model/index.js'
import { type FolderNode, findNode, isPassing, type Node } from '../capture/stat-cache/node.js'
import { isSameStamp, lstat, stampText } from '../capture/stat-cache/stats.js'
import { liesInFile } from '../capture/scan/folder-visit.js'
import type { ProjectWatch } from './project-watch.js'

export const BACKGROUND_LOOK_MS = 2 * 60_000
const STEP_PATHS = 200
const MODE_BITS = 0o7777

type Place = { readonly folder: BytePath; readonly node: Node }
type Change =
  | 'missed'
  /** Missed, unless an event told of another name that it has. */
  | 'perhaps'
  /** Another name came or went, of which only that name's folder is told. */
  | 'relinked'
/** `before`: the stamp that was no longer true. */
type Found = Place & { readonly before: string; readonly change: Change }

/** Goes through all nodes of a project that a save has left behind; a pause is allowed at each step. */
export async function lookInBackground(
  now: { readonly root: FolderNode; readonly rootPath: BytePath; readonly watch: ProjectWatch },
  pause: () => Promise<boolean>,
): Promise<void> {
  const { root, rootPath, watch } = now
  const found: Found[] = []
  let count = 0
  for (const each of nodesBelow(root, ROOT)) {
    const change = changeOf(rootPath, each)
    if (change !== undefined) found.push({ ...each, before: stampText(each.node), change })
    count += 1
    if (count % STEP_PATHS === 0 && !(await pause())) return
  }
  // What was seen happened before this, so its event, if there is one, has come after it.
  if (found.length > 0 && !((await watch.settle()) && (await pause()))) return
  const { isTouched } = watch.activity
  for (const { folder, node, before, change } of found) {
    if (watch.isTouched(folder, node.name)) continue
    // A save has been here since.
    if (findNode(root, joinPath(folder, node.name)) !== node || stampText(node) !== before) continue
    if (change === 'missed' || (change === 'perhaps' && !isTouched))
      watch.noteMissed(folder, node.name)
    else watch.touch(folder, node.name)
  }
  watch.noteLooked()
}

function changeOf(rootPath: BytePath, { folder, node }: Place): Change | undefined {
  const stats = lstat(`${rootPath}/${joinPath(folder, node.name)}`)
  if (stats === undefined || stats === 'unreadable') return 'missed'
  if (isSameStamp(node, stats)) return undefined
  const isSameMode =
    node.kind === 'link' ||
    node.kind === 'skipped' ||
    node.mode === (Number(stats.mode) & MODE_BITS)
  const { size, mtimeNs, ino } = node
  const isAsBefore =
    isSameMode && isSameStamp({ size, mtimeNs, ino, ctimeNs: stats.ctimeNs }, stats)
  if (isAsBefore) return 'relinked'
  return stats.isFile() && stats.nlink > 1n ? 'perhaps' : 'missed'
}

function* nodesBelow(folder: FolderNode, path: BytePath): Generator<Place> {
  for (const node of folder.children) {
    // Files with several names are looked at by every save, and so is what could not be read.
    if (node.kind === 'file' && node.isLinked) continue
    if (node.kind === 'skipped' && !(liesInFile(node) && isPassing(node.reason, node))) continue
    yield { folder: path, node }
    if (node.kind === 'folder') yield* nodesBelow(node, joinPath(path, node.name))
  }
}
