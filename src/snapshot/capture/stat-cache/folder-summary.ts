// The totals of a folder and everything below it, cached in the folder until a scan enters it again: saving one changed
// file recomputes only the folders above that file.
import {
  type BytePath,
  joinPath,
  MAX_SKIPPED_PATHS,
  type OwnedPath,
  type SkipCounts,
  type Skipped,
  type SkipReason,
} from '../../../model/index.js'
import { MODE_CLASSES, type ModeClass, modeClassOf, type Usual } from '../../objects/modes.js'
import type { FolderNode, Node } from './node.js'
import { firstOwned, ownedIn } from '../scan/owners.js'
import type { PackedNodes } from './packed-nodes.js'

export type Summary = {
  readonly files: number
  readonly bytes: number
  /** At most MAX_SKIPPED_PATHS, the most surprising first. */
  readonly skipped: readonly Skipped[]
  readonly skippedCounts: SkipCounts
  /** Paths whose owner differs from their folder's; see `ownersOf`. */
  readonly owned: readonly OwnedPath[]
  /** Alternating modes and counts, without the folder's own mode. Computed on demand. */
  modes: readonly number[] | undefined
  /** The last capture that stored any of it; Infinity if unknown. */
  readonly epoch: number
  /** Something in it can change without an event, so every scan must visit it. */
  readonly needsRescan: boolean
}

// An ignored folder surprises no user; a file that was too large may.
const BY_SURPRISE: readonly SkipReason[] = [
  'unreadable',
  'unstable',
  'too-large',
  'secret',
  'reserved',
  'special',
  'temporary',
  'store',
  'ignored',
  'vcs',
]
const MODE_VALUES = 0o10000

/** `packed`: nodes that no scan has visited. */
export function summaryOf(
  folder: FolderNode,
  path: BytePath,
  packed: PackedNodes | undefined,
): Summary {
  folder.summary ??= packedSummary(folder, packed) ?? addUp(folder, path, packed)
  return folder.summary
}

/** The most surprising paths first; the sort is stable. */
export function mostSurprising(skipped: Skipped[]): Skipped[] {
  skipped.sort((a, b) => BY_SURPRISE.indexOf(a.reason) - BY_SURPRISE.indexOf(b.reason))
  return skipped.slice(0, MAX_SKIPPED_PATHS)
}

/** Call `summaryOf` for the root first. */
export function countModes(root: FolderNode, packed: PackedNodes | undefined, add: AddMode): void {
  add('folder', root.mode, 1)
  eachMode(modesIn(root, packed), add)
}

/** Reports every file and folder with an unusual mode; enters only folders that contain one. */
export function findUnusual(
  folder: FolderNode,
  path: BytePath,
  { usual, found }: { readonly usual: Usual; readonly found: FoundMode },
): void {
  for (const node of folder.children) {
    if (node.kind === 'skipped' || node.kind === 'link') continue
    const modeClass = modeClassOf(node.kind, node.mode)
    if (node.mode !== usual[modeClass]) found(modeClass, node.mode, joinPath(path, node.name))
    if (node.kind === 'folder' && hasUnusual(node, usual))
      findUnusual(node, joinPath(path, node.name), { usual, found })
  }
}

type AddMode = (modeClass: ModeClass, mode: number, count: number) => void
type FoundMode = (modeClass: ModeClass, mode: number, path: BytePath) => void

function hasUnusual({ summary }: FolderNode, usual: Usual): boolean {
  if (summary?.modes === undefined) return true
  let isThere = false
  eachMode(summary.modes, (modeClass, mode) => {
    if (mode !== usual[modeClass]) isThere = true
  })
  return isThere
}

function eachMode(modes: readonly number[], add: AddMode): void {
  for (let i = 0; i < modes.length; i += 2) {
    const key = modes[i] ?? 0
    const modeClass = MODE_CLASSES[Math.floor(key / MODE_VALUES)]
    if (modeClass !== undefined) add(modeClass, key % MODE_VALUES, modes[i + 1] ?? 0)
  }
}

function addUp(folder: FolderNode, path: BytePath, packed: PackedNodes | undefined): Summary {
  let files = 0
  let bytes = 0
  let epoch = folder.epoch
  let needsRescan = false
  const skipped: Skipped[] = []
  const skippedCounts: Partial<Record<SkipReason, number>> = {}
  const owned = ownedIn(folder, path)
  for (const node of folder.children) {
    if (node.kind === 'skipped') {
      const size = node.reason === 'too-large' ? node.size : null
      skipped.push({ path: joinPath(path, node.name), reason: node.reason, sizeBytes: size })
      skippedCounts[node.reason] = (skippedCounts[node.reason] ?? 0) + 1
      // The index that tracks files of the project is not part of the project.
      if (MAY_END.includes(node.reason) || node.name === '.git') needsRescan = true
      continue
    }
    epoch = Math.max(epoch, node.epoch)
    if (node.kind !== 'folder') {
      needsRescan ||= node.isLinked
      files += 1
      bytes += node.size
      continue
    }
    const inner = summaryOf(node, joinPath(path, node.name), packed)
    files += inner.files
    bytes += inner.bytes
    epoch = Math.max(epoch, inner.epoch)
    needsRescan ||= inner.needsRescan
    if (inner.owned.length > 0) owned.push(...inner.owned)
    if (inner.skipped.length === 0) continue
    skipped.push(...inner.skipped)
    for (const reason of BY_SURPRISE) {
      const count = inner.skippedCounts[reason]
      if (count !== undefined) skippedCounts[reason] = (skippedCounts[reason] ?? 0) + count
    }
  }
  const first = skipped.length === 0 ? NONE : mostSurprising(skipped)
  return {
    files,
    bytes,
    skipped: first,
    skippedCounts,
    owned: firstOwned(owned),
    modes: undefined,
    epoch,
    needsRescan,
  }
}

const NONE: readonly Skipped[] = []

/** Reasons that can end without a change of the folder: another process releases a file. */
const MAY_END: readonly SkipReason[] = ['unreadable', 'unstable']

/** The summary of a packed folder. Undefined if it contains a skipped path or a different owner: those must be listed. */
function packedSummary(folder: FolderNode, packed: PackedNodes | undefined): Summary | undefined {
  if (!folder.isPacked || packed === undefined) return undefined
  const { files, bytes, skipped, owned } = packed.tally(folder)
  if (skipped > 0 || owned > 0) return undefined
  return {
    files,
    bytes,
    skipped: NONE,
    skippedCounts: {},
    owned: [],
    modes: undefined,
    epoch: Number.POSITIVE_INFINITY,
    needsRescan: true,
  }
}

/** Needed only if a mode changed, or a path with a mode was added or removed. */
function modesIn(folder: FolderNode, packed: PackedNodes | undefined): readonly number[] {
  const { summary } = folder
  if (summary?.modes !== undefined) return summary.modes
  const modes: number[] = []
  if (folder.isPacked && packed !== undefined) {
    packed.eachMode(folder, (kind, mode) => addMode(modes, modeKey(kind, mode), 1))
  } else {
    for (const node of folder.children) {
      if (node.kind === 'skipped' || node.kind === 'link') continue
      addMode(modes, modeKey(node.kind, node.mode), 1)
      if (node.kind !== 'folder') continue
      const inner = modesIn(node, packed)
      for (let i = 0; i < inner.length; i += 2) addMode(modes, inner[i] ?? 0, inner[i + 1] ?? 0)
    }
  }
  if (summary !== undefined) summary.modes = modes
  return modes
}

function modeKey(kind: Exclude<Node['kind'], 'skipped' | 'link'>, mode: number): number {
  return MODE_CLASSES.indexOf(modeClassOf(kind, mode)) * MODE_VALUES + mode
}

function addMode(modes: number[], key: number, count: number): void {
  for (let i = 0; i < modes.length; i += 2) {
    if (modes[i] !== key) continue
    modes[i + 1] = (modes[i + 1] ?? 0) + count
    return
  }
  modes.push(key, count)
}
