// Compares two snapshots: git compares contents, this file compares permission bits.
import {
  type BytePath,
  type ChangeCounts,
  type Entry,
  type ObjectId,
  ROOT,
} from '../../model/index.js'
import type { BlobReader } from '../git/blob-reader.js'
import { runGit } from '../git/git-program.js'
import { findEntry } from '../git/snapshot-files.js'
import {
  type PathChange,
  type Side,
  type TreeChange,
  type TreeDiff,
  TYPE_OF,
} from '../git/tree-diff.js'
import { decodeModes, isSameUsual, modeOf, type ModeTable, unusualPaths } from '../objects/modes.js'
import { EMPTY_TREE } from '../objects/object-id.js'
import { hostileSnapshot, refuseHostileTree } from '../objects/safe-path.js'
import { decodeTree, type TreeEntry } from '../objects/tree.js'

export type Change = PathChange<Entry>

type Parts = { readonly files: ObjectId; readonly modes: ObjectId }

export class SnapshotComparer {
  readonly #gitDir: string
  readonly #blobs: BlobReader

  constructor(gitDir: string, blobs: BlobReader) {
    this.#gitDir = gitDir
    this.#blobs = blobs
  }

  async parts(snapshot: ObjectId): Promise<Parts> {
    const entries = await this.#entries(snapshot)
    const idOf = (name: string) => entries.find((entry) => entry.name === name)?.id
    const [files, modes] = [idOf('files'), idOf('modes')]
    if (files === undefined || modes === undefined)
      throw hostileSnapshot('lacks its files or its modes')
    return { files, modes }
  }

  /** Whether the snapshot has an entry at this path. */
  async has(snapshot: ObjectId, path: BytePath): Promise<boolean> {
    const { files } = await this.parts(snapshot)
    return (await findEntry(files, path, this.#entries)) !== undefined
  }

  /** One path in two snapshots, even if it does not differ; undefined if neither has it. Does not count lines. */
  async changeAt(
    before: ObjectId | undefined,
    after: ObjectId,
    path: BytePath,
  ): Promise<Change | undefined> {
    const one = before === undefined ? undefined : await this.parts(before)
    const other = await this.parts(after)
    const sides = {
      before: one && (await this.#side(one.files, path)),
      after: await this.#side(other.files, path),
    }
    if (sides.before === undefined && sides.after === undefined) return undefined
    const modesAfter = await this.#modes(other.modes)
    const modesBefore = one === undefined ? modesAfter : await this.#modes(one.modes)
    const row = { path, ...sides, insertions: undefined, deletions: undefined }
    return toChange(row, modesBefore, modesAfter)
  }

  async #side(files: ObjectId, path: BytePath): Promise<Side | undefined> {
    const entry = await findEntry(files, path, this.#entries)
    if (entry === undefined) return undefined
    // A tree object has no zero in front of the mode of a folder.
    const type = TYPE_OF[entry.mode.padStart(6, '0')]
    if (type === undefined) throw hostileSnapshot(`has an entry of mode ${entry.mode}`)
    return { type, id: entry.id }
  }

  /**
   * A text per snapshot. Equal texts mean that nothing at or below these paths differs. Different texts need not mean a
   * difference: permissions may differ elsewhere. Reads each folder on the way once.
   */
  async fingerprints(
    snapshots: readonly ObjectId[],
    paths: readonly BytePath[],
  ): Promise<readonly string[]> {
    const trees = new Map<ObjectId, Promise<readonly TreeEntry[]>>()
    const entriesOf = (id: ObjectId) => {
      const entries = trees.get(id) ?? this.#entries(id)
      trees.set(id, entries)
      return entries
    }
    return Promise.all(
      snapshots.map(async (snapshot) => {
        const { files, modes } = await this.parts(snapshot)
        const entries = await Promise.all(paths.map((path) => findEntry(files, path, entriesOf)))
        return [modes, ...entries.map((entry) => (entry ? `${entry.mode} ${entry.id}` : ''))].join()
      }),
    )
  }

  readonly #entries = async (tree: ObjectId): Promise<readonly TreeEntry[]> =>
    decodeTree(await this.#blobs.read(tree))

  /** Every path that differs, including folders, sorted. Without `before`, compares with an empty snapshot. */
  async compare(before: ObjectId | undefined, after: ObjectId, diff: TreeDiff): Promise<Change[]> {
    if (before === after) return []
    const one =
      before === undefined ? { files: EMPTY_TREE, modes: undefined } : await this.parts(before)
    const other = await this.parts(after)
    const modesAfter = await this.#modes(other.modes)
    const modesBefore = one.modes === undefined ? modesAfter : await this.#modes(one.modes)
    const rows = await diff.compare(one.files, other.files)
    const changes = joinTypeChanges(rows).map((row) => toChange(row, modesBefore, modesAfter))
    const areRecorded = !modesBefore.isAssumed && !modesAfter.isAssumed
    if (one.modes !== undefined && one.modes !== other.modes && areRecorded) {
      const changed = new Set(rows.map(({ path }) => path))
      changes.push(...(await this.#modeChanges(other.files, { modesBefore, modesAfter, changed })))
    }
    return changes.filter(isReal).sort((a, b) => (a.path < b.path ? -1 : 1))
  }

  /**
   * Counts the differences, for every save. If no mode changed, which is usual, one request to git is enough: it compares the
   * trees of the snapshots themselves.
   */
  async count(
    before: ObjectId | undefined,
    after: ObjectId,
    diff: TreeDiff,
  ): Promise<ChangeCounts> {
    if (before === undefined) return totalsOf(await this.compare(undefined, after, diff))
    const rows = await diff.compare(before, after)
    if (rows.some(({ path }) => path === 'modes'))
      return totalsOf(await this.compare(before, after, diff))
    return totalsOf(joinTypeChanges(rows))
  }

  async #modes(id: ObjectId): Promise<ModeTable> {
    return decodeModes(await this.#blobs.read(id))
  }

  /** Paths with the same content and a different mode. */
  async #modeChanges(
    files: ObjectId,
    known: { modesBefore: ModeTable; modesAfter: ModeTable; changed: ReadonlySet<BytePath> },
  ): Promise<Change[]> {
    const { modesBefore, modesAfter, changed } = known
    const present = await this.#list(files)
    const candidates = isSameUsual(modesBefore, modesAfter)
      ? [...unusualPaths(modesBefore), ...unusualPaths(modesAfter)]
      : present.keys()
    const changes: Change[] = []
    for (const path of new Set(candidates)) {
      const side = present.get(path)
      if (side === undefined || side.type === 'link' || changed.has(path)) continue
      changes.push({
        path,
        before: entryOf(side, path, modesBefore),
        after: entryOf(side, path, modesAfter),
        insertions: 0,
        deletions: 0,
      })
    }
    return changes
  }

  /** Everything in a tree, including the tree itself as ''. */
  async #list(files: ObjectId): Promise<Map<BytePath, Side>> {
    const output = await runGit(this.#gitDir, ['ls-tree', '-r', '-t', '-z', '--full-tree', files])
    const present = new Map<BytePath, Side>([[ROOT, { type: 'folder', id: files }]])
    for (const line of output.toString('latin1').split('\0')) {
      const match = /^(\d{6}) \w+ (\w{40})\t([^]*)$/.exec(line)
      if (match === null) continue
      const [, mode = '', id = '', path = ''] = match
      const type = TYPE_OF[mode]
      if (type === undefined) throw hostileSnapshot(`has an entry of mode ${mode}`)
      present.set(path as BytePath, { type, id: id as ObjectId })
    }
    refuseHostileTree([...present].map(([path, { type }]) => ({ path, type })))
    return present
  }
}

/** Git reports a file that became a folder as two changes of one path. */
function joinTypeChanges(rows: readonly TreeChange[]): TreeChange[] {
  const byPath = new Map<BytePath, TreeChange>()
  for (const row of rows) {
    const other = byPath.get(row.path)
    byPath.set(row.path, {
      path: row.path,
      before: row.before ?? other?.before,
      after: row.after ?? other?.after,
      insertions: row.insertions ?? other?.insertions,
      deletions: row.deletions ?? other?.deletions,
    })
  }
  return [...byPath.values()]
}

function toChange(row: TreeChange, modesBefore: ModeTable, modesAfter: ModeTable): Change {
  const { path } = row
  const isSameClass = row.before?.type === row.after?.type
  // A mode that was not recorded is assumed to equal that of the other side, so it is never a difference.
  const [before, after] = [
    isSameClass && modesBefore.isAssumed ? modesAfter : modesBefore,
    isSameClass && modesAfter.isAssumed ? modesBefore : modesAfter,
  ]
  return {
    ...row,
    before: row.before && entryOf(row.before, path, before),
    after: row.after && entryOf(row.after, path, after),
  }
}

function entryOf(side: Side, path: BytePath, modes: ModeTable): Entry {
  if (side.type === 'link') return { type: 'link', blob: side.id }
  const mode = modeOf(modes, path, side.type)
  return side.type === 'folder' ? { type: 'folder', mode } : { type: 'file', blob: side.id, mode }
}

/** A folder whose contents changed is itself unchanged, unless its mode differs. */
function isReal({ before, after }: Change): boolean {
  if (before?.type === 'folder' && after?.type === 'folder') return before.mode !== after.mode
  if (before?.type === 'file' && after?.type === 'file')
    return before.blob !== after.blob || before.mode !== after.mode
  return true
}

type Counted = PathChange<{ readonly type: string }>

/** Only files count, not folders. */
export function totalsOf(changes: readonly Counted[]): ChangeCounts {
  const isFolder = (entry: Counted['before']) => entry === undefined || entry.type === 'folder'
  const files = changes.filter(({ before, after }) => !isFolder(before) || !isFolder(after))
  return {
    files: files.length,
    insertions: files.reduce((sum, { insertions }) => sum + (insertions ?? 0), 0),
    deletions: files.reduce((sum, { deletions }) => sum + (deletions ?? 0), 0),
  }
}
