// Builds the two maps that a restore plan is made from: the current entries, including everything uncaptured that could be in the
// way, and the entries of the checkpoint. Equal paths are in neither. The capture has read every path of the checkpoint
// (snapshot/capture/scan/named-paths.ts), so only entries that cannot be captured at all are in the way.
import { lstatSync } from 'node:fs'
import {
  type BytePath,
  type Entry,
  fsPath,
  hasCode,
  joinPath,
  parentOf,
  type PlannedWrite,
  type RestorePlan,
  ROOT,
  type SkipReason,
  type Uncaptured,
} from '../../model/index.js'
import { childOf, type FolderNode, findNode, type Node } from '../capture/stat-cache/node.js'
import { absolute, type CaptureTarget } from '../capture/capture-target.js'
import { isUnreadable } from '../capture/stat-cache/stats.js'
import type { Change } from '../compare/compare.js'

export type RestoreMaps = {
  readonly now: Map<BytePath, Entry | Uncaptured>
  readonly target: Map<BytePath, Entry>
}

export function restoreMaps(
  changes: readonly Change[],
  project: CaptureTarget,
  root: FolderNode,
): RestoreMaps {
  const now = new Map<BytePath, Entry | Uncaptured>()
  const target = new Map<BytePath, Entry>()
  for (const { path, before, after } of changes) {
    if (before !== undefined) now.set(path, before)
    if (after !== undefined) target.set(path, after)
  }
  for (const { path, before, after } of changes) {
    if (before?.type === 'folder' && after?.type !== 'folder') addSkippedInside(path)
    if (before === undefined && after !== undefined) addObstacle(path)
  }
  return { now, target }

  /** A folder to be removed may contain uncaptured entries. */
  function addSkippedInside(path: BytePath): void {
    const folder = findNode(root, path)
    if (folder?.kind !== 'folder') return
    for (const child of folder.children) {
      if (child.kind !== 'skipped') continue
      const { reason, isFolder } = child
      now.set(joinPath(path, child.name), { type: 'uncaptured', reason, isFolder })
    }
  }

  /** Something uncaptured may be at a path of the checkpoint. */
  function addObstacle(path: BytePath): void {
    const reason = uncapturedAbove(root, path)
    if (reason === undefined) return
    // Nothing below an uncaptured folder was scanned, so stat each level now.
    for (let level = path; level !== ROOT && !now.has(level); level = parentOf(level)) {
      const type = typeAt(project, level)
      if (type === undefined) continue
      if (findNode(root, level)?.kind === 'folder') return
      now.set(level, { type: 'uncaptured', reason, isFolder: type === 'folder' })
    }
  }
}

/** Why the nearest known node at or above a path was skipped; undefined if it was not. */
function uncapturedAbove(root: FolderNode, path: BytePath): SkipReason | undefined {
  let node: Node | undefined = root
  for (const name of path.split('/')) {
    if (node.kind !== 'folder') break
    const inner: Node | undefined = childOf(node, name)
    if (inner === undefined) return undefined
    node = inner
  }
  return node.kind === 'skipped' ? node.reason : undefined
}

function typeAt(project: CaptureTarget, path: BytePath): 'folder' | 'other' | undefined {
  try {
    return lstatSync(fsPath(absolute(project, path))).isDirectory() ? 'folder' : 'other'
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return undefined
    // The path may exist behind a folder that we may not enter.
    if (isUnreadable(error)) return 'other'
    throw error
  }
}

const OWNER_MAY_CHANGE = 0o300

/**
 * Folders that the plan changes something in and that their owner may not write to. They are made writable during the work. Being
 * in the plan, and so in the journal, they get their mode back even if the work is interrupted.
 */
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
