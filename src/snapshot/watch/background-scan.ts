// A periodic scan of the whole project for changes without an event: writes through a mapped page, another hard link or
// another mount. It runs in small steps between the calls of the thread, and touches its findings for the next save.
import { type BytePath, joinPath, ROOT } from '../../model/index.js'
import { type FolderNode, findNode, isTransient, type Node } from '../capture/stat-cache/node.js'
import { isSameStamp, lstat, stampText } from '../capture/stat-cache/stats.js'
import { dependsOnContent } from '../capture/scan/folder-visit.js'
import type { ProjectWatch } from './project-watch.js'

export const BACKGROUND_SCAN_MS = 2 * 60_000
const STEP_PATHS = 200
const MODE_BITS = 0o7777

type Entry = { readonly folder: BytePath; readonly node: Node }
type Change =
  | 'missed'
  /** Missed, unless there was an event for another hard link of the file. */
  | 'perhaps'
  /** A hard link was added or removed; only the folder of that link gets an event. */
  | 'relinked'
/** `before`: the outdated stamp. */
type Found = Entry & { readonly before: string; readonly change: Change }

/** Checks all nodes of the last save. Stops if `pause`, called after each step, resolves to false. */
export async function scanInBackground(
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
  // These changes happened before now, so after a drain their events, if any, have arrived.
  if (found.length > 0 && !((await watch.drain()) && (await pause()))) return
  const { isTouched } = watch.activity
  for (const { folder, node, before, change } of found) {
    if (watch.isTouched(folder, node.name)) continue
    // A save has updated the node since.
    if (findNode(root, joinPath(folder, node.name)) !== node || stampText(node) !== before) continue
    if (change === 'missed' || (change === 'perhaps' && !isTouched))
      watch.noteMissed(folder, node.name)
    else watch.touch(folder, node.name)
  }
  watch.noteScanned()
}

function changeOf(rootPath: BytePath, { folder, node }: Entry): Change | undefined {
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

function* nodesBelow(folder: FolderNode, path: BytePath): Generator<Entry> {
  for (const node of folder.children) {
    // Every save checks hard links and unreadable paths itself.
    if (node.kind === 'file' && node.isLinked) continue
    if (node.kind === 'skipped' && !(dependsOnContent(node) && isTransient(node.reason, node)))
      continue
    yield { folder: path, node }
    if (node.kind === 'folder') yield* nodesBelow(node, joinPath(path, node.name))
  }
}
