// What a scan is given and what it finds.
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
  /** Nothing is known of it but its name: who reads it looks at it too. */
  readonly isUnseen: boolean
  /** What it was when it was last read. */
  readonly before: Stored | undefined
  /** Decides whether a content that turns out to be a secret is captured. */
  readonly context: { readonly rules: Pick<Context['rules'], 'allowsSecret'> }
}

export type Memory = {
  readonly root: FolderNode
  readonly indexes: ReadonlyMap<BytePath, KnownIndex>
}

export type Scanned = {
  readonly root: FolderNode
  /** Those whose content must be read, or has been by now. */
  readonly pending: readonly ContentNode[]
  readonly repositories: ReadonlyMap<BytePath, Tracking>
  readonly rules: EffectiveRules
  /** What of them could not be read. */
  readonly unreadable: readonly BytePath[]
  /** A mode has changed, or something with a mode has come or gone. */
  readonly haveModesChanged: boolean
  /** Folders listed and contents to be read: what the memory did not know. */
  readonly newsCount: number
  /** Nodes with another stamp or mode than before. */
  readonly restamped: readonly Node[]
  /** Files found to have other names too. */
  readonly linked: readonly ContentNode[]
}

export type ScanOptions = {
  readonly memory: Memory | undefined
  /** Whether the object of a node is surely in the store. */
  readonly isStored: (node: ContentNode | FolderNode) => boolean
  readonly onFile: (count: number) => void
  /** Called as soon as a content is known to have to be read. */
  readonly onPending: (item: Pending) => void
  /** A new file is looked at before it is read, so that its links are known. */
  readonly looksFirst: boolean
  /** A folder is about to be looked into. True if it is watched only from now on. */
  readonly onFolder: (path: BytePath) => boolean
  /** Which nodes of a folder are surely unchanged. */
  readonly sameIn: (path: BytePath) => (node: Node) => boolean
  /** How many files are in a folder that surely is, with all below, as it was; undefined of any other. */
  readonly quietFiles: (folder: FolderNode, parent: BytePath) => number | undefined
}
