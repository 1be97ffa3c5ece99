// The input and the result of a scan.
import type { BytePath, EffectiveRules } from '../../../model/index.js'
import type { Stored } from '../hash/change-tally.js'
import type { ContentNode, FolderNode, Node } from '../stat-cache/node.js'
import type { Context } from './selection.js'
import type { KnownIndex, Tracking } from './tracking.js'

/** A file or link whose content must be read. */
export type Pending = {
  readonly node: ContentNode
  readonly folder: FolderNode
  readonly path: string
  /** Only its name is known: the reader must set the stamp and the mode. */
  readonly isUnseen: boolean
  /** Its content when it was last read. */
  readonly before: Stored | undefined
  /** Decides whether secret content is captured. */
  readonly context: { readonly rules: Pick<Context['rules'], 'allowsSecret'> }
}

export type Memory = {
  readonly root: FolderNode
  readonly indexes: ReadonlyMap<BytePath, KnownIndex>
}

export type Scanned = {
  readonly root: FolderNode
  /** Nodes whose content must be read; hash threads may have read some already. */
  readonly pending: readonly ContentNode[]
  readonly repositories: ReadonlyMap<BytePath, Tracking>
  readonly rules: EffectiveRules
  /** Repository files that could not be read. */
  readonly unreadable: readonly BytePath[]
  /** A mode changed, or a path with a mode was added or removed. */
  readonly haveModesChanged: boolean
  /** Folders listed plus contents to read: how much the stat cache on disk lacks. */
  readonly newsCount: number
  /** Nodes whose stamp or mode changed. */
  readonly restamped: readonly Node[]
  /** Files found to have more than one hard link. */
  readonly linked: readonly ContentNode[]
}

export type ScanOptions = {
  readonly memory: Memory | undefined
  /** Whether the object of a node is known to be in the store. */
  readonly isStored: (node: ContentNode | FolderNode) => boolean
  readonly onFile: (count: number) => void
  readonly onPending: (item: Pending) => void
  /** Stat a new file before it is read, so that its hard links are known. */
  readonly statsFirst: boolean
  /** Called before a folder is scanned. Returns true if the watch on it has just begun. */
  readonly onFolder: (path: BytePath) => boolean
  /** Returns a test for nodes of a folder that are known to be unchanged. */
  readonly unchangedIn: (path: BytePath) => (node: Node) => boolean
  /** The number of files in a folder whose whole tree is known to be unchanged; otherwise undefined. */
  readonly countCleanFiles: (folder: FolderNode, parent: BytePath) => number | undefined
}
