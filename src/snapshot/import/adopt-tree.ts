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
  sortEntries,
  type TreeEntry,
} from '../objects/tree.js'
import type { SourceObjects } from './source-objects.js'
import { MAX_PATH_BYTES, readSourceTree, badSource, type SourceEntry } from './source-tree.js'

/** The totals of a folder, or of one entry of it. Paths are relative to the folder. */
type Sum = {
  fileCount: number
  sizeBytes: number
  longestPath: number
  skippedCounts: Partial<Record<SkipReason, number>>
  /** At most MAX_SKIPPED_PATHS. */
  skipped: Skipped[]
}
type Adopted = Readonly<Sum> & { readonly id: ObjectId }

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
    const project = { root: ROOT, home: ROOT, limits, ignoreCase: false }
    this.#rules = Rules.above(project, rulesAround(project, undefined))
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
    const sum = emptySum()
    const entries: TreeEntry[] = []
    const add = (part: Partial<Sum>) => addTo(sum, part, this.#limits.maxFiles)
    const skip = (name: BytePath, why: Pick<Skipped, 'reason' | 'sizeBytes'>) =>
      add({ skippedCounts: { [why.reason]: 1 }, skipped: [{ path: name, ...why }] })
    for (const entry of readSourceTree(bytes)) {
      const { name, mode } = entry
      const inner = joinPath(path, name)
      if (mode === null) skip(name, { reason: 'vcs', sizeBytes: null })
      else if (isTemporaryName(name)) skip(name, { reason: 'temporary', sizeBytes: null })
      else if (mode === GIT_MODE.folder) {
        const folder = await this.#visit(entry.id, inner, work)
        entries.push({ mode, name, id: folder.id })
        const skipped = folder.skipped.map((each) => ({ ...each, path: joinPath(name, each.path) }))
        add({ ...folder, longestPath: name.length + 1 + folder.longestPath, skipped })
      } else {
        const size = await work.blob(entry, inner)
        if (typeof size === 'number') {
          entries.push({ mode, name, id: entry.id })
          add({ fileCount: 1, sizeBytes: size, longestPath: name.length })
        } else skip(name, size)
      }
    }
    const adopted = { ...sum, id: work.tree(sortEntries(entries)) }
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

function emptySum(): Sum {
  return { fileCount: 0, sizeBytes: 0, longestPath: 0, skippedCounts: {}, skipped: [] }
}

function addTo(sum: Sum, part: Partial<Sum>, maxFiles: number): void {
  const { fileCount, sizeBytes, longestPath, skippedCounts, skipped } = { ...emptySum(), ...part }
  sum.fileCount += fileCount
  sum.sizeBytes += sizeBytes
  sum.longestPath = Math.max(sum.longestPath, longestPath)
  for (const [reason, count] of Object.entries(skippedCounts) as [SkipReason, number][])
    sum.skippedCounts[reason] = (sum.skippedCounts[reason] ?? 0) + count
  sum.skipped.push(...skipped.slice(0, MAX_SKIPPED_PATHS - sum.skipped.length))
  if (sum.fileCount > maxFiles)
    throw badSource(`it has more than the ${maxFiles} files that a project may have`)
  if (sum.longestPath > MAX_PATH_BYTES)
    throw badSource('it has a path that no file system can store')
}
