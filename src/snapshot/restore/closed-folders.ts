// Folders that the plan changes something in and that their owner may not write to. They are made writable during the work.
// Being in the plan, and so in the journal, they get their mode back even if the work is interrupted.
import { type BytePath, parentOf, type PlannedWrite, type RestorePlan } from '../../model/index.js'
import { type FolderNode, findNode } from '../capture/stat-cache/node.js'

const OWNER_MAY_CHANGE = 0o300

export function closedFolders({ write, remove }: RestorePlan, root: FolderNode): PlannedWrite[] {
  const planned = new Set<BytePath>([...write, ...remove].map(({ path }) => path))
  const closed = new Map<BytePath, PlannedWrite>()
  for (const path of planned) {
    const folder = parentOf(path)
    if (closed.has(folder) || planned.has(folder)) continue
    const node = folder === '' ? root : findNode(root, folder)
    if (node?.kind !== 'folder' || (node.mode & OWNER_MAY_CHANGE) === OWNER_MAY_CHANGE) continue
    const entry = { type: 'folder' as const, mode: node.mode }
    closed.set(folder, { path: folder, from: entry, to: entry })
  }
  return [...closed.values()]
}
