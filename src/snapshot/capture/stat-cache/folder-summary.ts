// What a snapshot says of a folder and all below it, kept with the folder until a scan goes into it again: a save
// of one changed file adds up the folders above that file, not the project.
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
  /** At most MAX_SKIPPED_PATHS, what a person may miss first. */
  readonly skipped: readonly Skipped[]
  readonly skippedCounts: SkipCounts
  /** Paths with another owner than their folder; see `ownersOf`. */
  readonly owned: readonly OwnedPath[]
  /** Modes and how many have each, by turns; without the folder's own. Undefined until somebody asks for it. */
  modes: readonly number[] | undefined
  /** The last capture that stored any of it; endless where that is not known. */
  readonly epoch: number
  /** Something in it can change though no name in it is touched, so that every scan must look. */
  readonly isLoud: boolean
}

// What a person may miss comes first: an ignored folder is no surprise, a file that was too large may be.
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

/** `packed`: where the nodes are that nobody has looked at. */
export function summaryOf(
  folder: FolderNode,
  path: BytePath,
  packed: PackedNodes | undefined,
): Summary {
  folder.summary ??= packedSummary(folder, packed) ?? addUp(folder, path, packed)
  return folder.summary
}

/** The first of them, by surprise; in the order given where equal. */
export function mostSurprising(skipped: Skipped[]): Skipped[] {
  skipped.sort((a, b) => BY_SURPRISE.indexOf(a.reason) - BY_SURPRISE.indexOf(b.reason))
  return skipped.slice(0, MAX_SKIPPED_PATHS)
}

/** The root has its summary. */
export function countModes(root: FolderNode, packed: PackedNodes | undefined, add: AddMode): void {
  add('folder', root.mode, 1)
  eachMode(modesIn(root, packed), add)
}

/** Tells of every file and folder whose mode is not the usual one, going only where there is such a one. */
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
  let isLoud = false
  const skipped: Skipped[] = []
  const skippedCounts: Partial<Record<SkipReason, number>> = {}
  const owned = ownedIn(folder, path)
  for (const node of folder.children) {
    if (node.kind === 'skipped') {
      const size = node.reason === 'too-large' ? node.size : null
      skipped.push({ path: joinPath(path, node.name), reason: node.reason, sizeBytes: size })
      skippedCounts[node.reason] = (skippedCounts[node.reason] ?? 0) + 1
      // What a repository tracks is told by files that are not the project's.
      if (MAY_END.includes(node.reason) || node.name === '.git') isLoud = true
      continue
    }
    epoch = Math.max(epoch, node.epoch)
    if (node.kind !== 'folder') {
      isLoud ||= node.isLinked
      files += 1
      bytes += node.size
      continue
    }
    const inner = summaryOf(node, joinPath(path, node.name), packed)
    files += inner.files
    bytes += inner.bytes
    epoch = Math.max(epoch, inner.epoch)
    isLoud ||= inner.isLoud
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
    isLoud,
  }
}

const NONE: readonly Skipped[] = []

/** Reasons that can end without a trace in the folder: another process lets go of a file. */
const MAY_END: readonly SkipReason[] = ['unreadable', 'unstable']

/** The summary of a folder that no scan has visited. Undefined if a path in it was left out or has another owner: such paths must be listed. */
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
    isLoud: true,
  }
}

/** Asked for when a mode has changed, or something with a mode has come or gone: seldom. */
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
