// Imports a folder from another repository into the store, as one of our snapshots. We check and write every object ourselves;
// nothing is copied unchecked.
import {
  type BytePath,
  DOUBTFUL_NAME,
  joinPath,
  type Limits,
  MAX_SKIPPED_PATHS,
  type ObjectId,
  ROOT,
  type SkipCounts,
  type Skipped,
  type SkipReason,
  type Snapshot,
} from '../../model/index.js'
import { Rules, rulesAround } from '../capture/scan/rules.js'
import { secretIn } from '../capture/scan/secret-content.js'
import { isTemporaryName } from '../capture/capture-target.js'
import { ASSUMED_MODES, encodeModes } from '../objects/modes.js'
import { ObjectSink, type ObjectStore } from '../objects/object-store.js'
import {
  encodeSnapshotTree,
  encodeTree,
  GIT_MODE,
  type TreeEntry,
  treeOrder,
} from '../objects/tree.js'
import type { SourceObjects } from './source-objects.js'
import { MAX_PATH_BYTES, readSourceTree, badSource, type SourceEntry } from './source-tree.js'

/** The result for a folder. Paths are relative to it. */
type Adopted = {
  readonly id: ObjectId
  readonly fileCount: number
  readonly sizeBytes: number
  readonly longestPath: number
  readonly skippedCounts: SkipCounts
  /** At most MAX_SKIPPED_PATHS. */
  readonly skipped: readonly Skipped[]
}

type Work = {
  /** Returns its size, or why it is skipped. */
  readonly blob: (
    entry: SourceEntry,
    path: BytePath,
  ) => Promise<number | Pick<Skipped, 'reason' | 'sizeBytes'>>
  readonly tree: (entries: readonly TreeEntry[]) => ObjectId
  /** Histories repeat themselves, and a hostile tree may contain one folder a billion times. */
  readonly known: Map<string, Adopted>
  readonly keyOf: (id: ObjectId, path: BytePath) => string
}

const MAX_TREE_BYTES = 64 << 20
const SECRET = { reason: 'secret', sizeBytes: null } as const

export class TreeAdopter {
  readonly #source: SourceObjects
  readonly #limits: Limits
  readonly #rules: Rules
  readonly #checked = new Map<string, Adopted>()
  #adopted = new Map<string, Adopted>()
  #blobSizes = new Map<ObjectId, number>()

  constructor(source: SourceObjects, limits: Limits) {
    this.#source = source
    this.#limits = limits
    // Ignore files of the project are not applied: the folder may be gone.
    const site = { root: ROOT, home: ROOT, limits, ignoreCase: false }
    this.#rules = Rules.above(site, rulesAround(site, undefined))
  }

  /** Throws BAD_INPUT if the folder cannot be imported, judging by its trees alone. */
  async check(tree: ObjectId): Promise<void> {
    await this.#visit(tree, ROOT, {
      blob: async () => 0,
      tree: () => tree,
      known: this.#checked,
      keyOf: (id) => id,
    })
  }

  /** Afterwards all its objects are in the store. Throws BAD_INPUT for objects that are missing, damaged or unsafe. */
  async store(
    tree: ObjectId,
    { store, ...options }: { store: ObjectStore; temporary: string; durable: boolean },
  ): Promise<Snapshot> {
    const sink = new ObjectSink(store, options)
    try {
      const snapshot = await this.#adopt(tree, sink)
      await sink.finish()
      return snapshot
    } catch (error) {
      sink.abandon()
      // The objects of the sink are not in the store.
      this.#adopted = new Map()
      this.#blobSizes = new Map()
      throw error
    }
  }

  async #adopt(source: ObjectId, sink: ObjectSink): Promise<Snapshot> {
    const root = await this.#visit(source, ROOT, {
      blob: (entry, path) => this.#adoptBlob(entry, path, sink),
      tree: (entries) => sink.add('tree', encodeTree(entries)),
      known: this.#adopted,
      // Whether a file is a secret may depend on its folders.
      keyOf: (id, path) => `${id} ${path}`,
    })
    const modes = sink.add('blob', encodeModes(ASSUMED_MODES))
    const { fileCount, sizeBytes, skippedCounts, skipped: skippedPaths } = root
    const tree = sink.add('tree', encodeSnapshotTree(root.id, modes))
    return { tree, fileCount, sizeBytes, skippedCounts, skippedPaths, repositories: [] }
  }

  async #visit(id: ObjectId, path: BytePath, work: Work): Promise<Adopted> {
    const key = work.keyOf(id, path)
    const known = work.known.get(key)
    if (known !== undefined) return known
    if (path.length > MAX_PATH_BYTES) throw badSource('it has a path that no file system can store')
    const bytes = await this.#source.read('tree', { id, maxBytes: MAX_TREE_BYTES })
    if (typeof bytes === 'number') throw badSource(`the tree ${id} is too large`)
    const sum = new FolderSum(this.#limits.maxFiles)
    for (const entry of readSourceTree(bytes)) {
      const { name, mode } = entry
      if (mode === null) sum.skip({ path: name, reason: 'vcs', sizeBytes: null })
      else if (isTemporaryName(name)) sum.skip({ path: name, reason: 'temporary', sizeBytes: null })
      else if (mode === GIT_MODE.folder)
        sum.addFolder(name, await this.#visit(entry.id, joinPath(path, name), work))
      else {
        const size = await work.blob(entry, joinPath(path, name))
        if (typeof size === 'number') sum.addFile({ mode, name, id: entry.id }, size)
        else sum.skip({ path: name, ...size })
      }
    }
    const adopted = sum.finish(work.tree)
    work.known.set(key, adopted)
    return adopted
  }

  async #adoptBlob(
    { id, mode, name }: SourceEntry,
    path: BytePath,
    sink: ObjectSink,
  ): ReturnType<Work['blob']> {
    const isLink = mode === GIT_MODE.link
    const mayBeSecret = !isLink && !this.#rules.allowsSecret(path)
    if (mayBeSecret && this.#rules.namesSecret(path)) return SECRET
    const known = isLink || DOUBTFUL_NAME.test(name) ? undefined : this.#blobSizes.get(id)
    if (known !== undefined) return known
    const maxBytes = isLink ? MAX_PATH_BYTES : this.#limits.maxFileBytes
    const content = await this.#source.read('blob', { id, maxBytes })
    if (isLink && (typeof content === 'number' || content.length === 0 || content.includes(0)))
      throw badSource(`the link ${JSON.stringify(name)} has no valid target`)
    if (typeof content === 'number') return { reason: 'too-large', sizeBytes: content }
    if (mayBeSecret && secretIn(path, content) !== undefined) return SECRET
    sink.add('blob', content)
    this.#blobSizes.set(id, content.length)
    return content.length
  }
}

class FolderSum {
  readonly #maxFiles: number
  readonly #entries: TreeEntry[] = []
  readonly #counts: Partial<Record<SkipReason, number>> = {}
  #skipped: Skipped[] = []
  #fileCount = 0
  #sizeBytes = 0
  #longestPath = 0

  constructor(maxFiles: number) {
    this.#maxFiles = maxFiles
  }

  addFile(entry: TreeEntry, sizeBytes: number): void {
    this.#entries.push(entry)
    this.#grow({ fileCount: 1, sizeBytes, longestPath: entry.name.length })
  }

  addFolder(name: BytePath, folder: Adopted): void {
    this.#entries.push({ mode: GIT_MODE.folder, name, id: folder.id })
    this.#grow({ ...folder, longestPath: name.length + 1 + folder.longestPath })
    for (const [reason, count] of Object.entries(folder.skippedCounts))
      this.#count(reason as SkipReason, count)
    const below = folder.skipped.map((each) => ({ ...each, path: joinPath(name, each.path) }))
    this.#skipped = [...this.#skipped, ...below].slice(0, MAX_SKIPPED_PATHS)
  }

  skip(skipped: Skipped): void {
    this.#count(skipped.reason, 1)
    if (this.#skipped.length < MAX_SKIPPED_PATHS) this.#skipped.push(skipped)
  }

  finish(write: Work['tree']): Adopted {
    const order = ({ name, mode }: TreeEntry) => treeOrder(name, mode === GIT_MODE.folder)
    this.#entries.sort((a, b) => (order(a) < order(b) ? -1 : 1))
    return {
      id: write(this.#entries),
      fileCount: this.#fileCount,
      sizeBytes: this.#sizeBytes,
      longestPath: this.#longestPath,
      skippedCounts: this.#counts,
      skipped: this.#skipped,
    }
  }

  #grow(by: Pick<Adopted, 'fileCount' | 'sizeBytes' | 'longestPath'>): void {
    this.#fileCount += by.fileCount
    this.#sizeBytes += by.sizeBytes
    this.#longestPath = Math.max(this.#longestPath, by.longestPath)
    if (this.#fileCount > this.#maxFiles)
      throw badSource(`it has more than the ${this.#maxFiles} files that a project may have`)
    if (this.#longestPath > MAX_PATH_BYTES)
      throw badSource('it has a path that no file system can store')
  }

  #count(reason: SkipReason, by: number): void {
    this.#counts[reason] = (this.#counts[reason] ?? 0) + by
  }
}
