// Three-way merge of snapshots, by path: the changes that turn `ours` into the result. See docs/internals/history.md.
import {
  type BytePath,
  BOTH_CHANGED,
  type ConflictChoice,
  type Entry,
  type EntryMerge,
  isInside,
  IS_BINARY,
  type Left,
  mergeEntries,
  type ObjectId,
  parentOf,
  ROOT,
  type ThreeEntries,
} from '../../model/index.js'
import type { Change } from '../compare/compare.js'
import type { UncapturedThen } from '../restore/rules-of-target.js'
import type { MergedContents, Version } from './merge-contents.js'

export type MergeTools = {
  /** Every path that differs between two snapshots. */
  readonly compare: (before: ObjectId, after: ObjectId) => Promise<readonly Change[]>
  readonly findRenames: (
    before: ObjectId,
    after: ObjectId,
  ) => Promise<ReadonlyMap<BytePath, BytePath>>
  readonly mergeBlobs: (blobs: Readonly<Record<Version, ObjectId>>) => Promise<MergedContents>
  readonly storeBlob: (content: Buffer) => ObjectId
  /** Why a path that `theirs` lacks must stay: see `uncapturedThen`. */
  readonly uncapturedThen: () => Promise<UncapturedThen>
}

export type Merge = {
  /** How the result differs from `ours`. */
  readonly changes: ReadonlyMap<BytePath, Entry | undefined>
  /** Not merged, and nothing has decided between the versions. */
  readonly conflict: readonly Left[]
  /** The same, where the choice is to keep `ours`. */
  readonly kept: readonly Left[]
  /** Not removed: `theirs` may have had it uncaptured. */
  readonly uncaptured: readonly Left[]
  /** Have conflict markers now. */
  readonly marked: readonly BytePath[]
}

type Entries = ReadonlyMap<BytePath, Entry | undefined>

/** A path that cannot be merged, and the changes that each choice would make. `ours` makes none. */
type Conflict = {
  readonly path: BytePath
  readonly reason: string
  readonly theirs?: Entries
  readonly markers?: Entries
}

const IN_THE_WAY = 'another file is in the way since'
const HOLDS_LATER = 'contains something that was added since'

export async function mergeSnapshots(
  versions: Readonly<Record<Version, ObjectId>>,
  choice: ConflictChoice,
  tools: MergeTools,
): Promise<Merge> {
  const merge = new SnapshotMerge(
    {
      step: await tools.compare(versions.base, versions.theirs),
      later: await tools.compare(versions.base, versions.ours),
    },
    tools,
  )
  await merge.pairRenames(versions)
  await merge.mergePaths()
  merge.decide(choice)
  await merge.keepUncaptured()
  return merge.result(choice)
}

class SnapshotMerge {
  readonly #tools: MergeTools
  /** From the base to theirs. */
  readonly #step: ReadonlyMap<BytePath, Change>
  /** From the base to ours. */
  readonly #later: ReadonlyMap<BytePath, Change>
  readonly #changes = new Map<BytePath, Entry | undefined>()
  readonly #conflicts: Conflict[] = []
  readonly #uncaptured: Left[] = []
  readonly #marked: BytePath[] = []
  /** Paths that belong to a renamed file. */
  readonly #paired = new Set<BytePath>()

  constructor(
    { step, later }: Readonly<Record<'step' | 'later', readonly Change[]>>,
    tools: MergeTools,
  ) {
    this.#tools = tools
    this.#step = new Map(step.map((change) => [change.path, change]))
    this.#later = new Map(later.map((change) => [change.path, change]))
  }

  /** Merges files that one side has renamed and the other one has changed. */
  async pairRenames({ base, ours, theirs }: Readonly<Record<Version, ObjectId>>): Promise<void> {
    const isPair = (a: Entry | undefined, b: Entry | undefined) =>
      a?.type === 'file' && b === undefined
    const all = [...this.#step.values()].map((change) => ({ ...change, ...this.#versions(change) }))
    const ofStep = all.filter((it) => isPair(it.ours, it.theirs) && this.#later.has(it.path))
    const ofLater = all.filter((it) => isPair(it.theirs, it.ours))
    const before = ofStep.length === 0 ? undefined : await this.#tools.findRenames(base, theirs)
    for (const { path, ...entries } of ofStep) {
      const to = before?.get(path)
      const old = to === undefined ? undefined : this.#step.get(to)
      if (to === undefined || old === undefined || this.#oursAt(to) !== undefined) continue
      const place = (entry: Entry) => new Map([[path, undefined], [to, entry] as const])
      await this.#mergePair({ ...entries, theirs: old.after }, { path, place })
      this.#paired.add(path).add(to)
    }
    const since = ofLater.length === 0 ? undefined : await this.#tools.findRenames(base, ours)
    for (const { path, ...entries } of ofLater) {
      const to = since?.get(path)
      if (to === undefined || this.#step.has(to)) continue
      const place = (entry: Entry) => new Map([[to, entry]])
      await this.#mergePair({ ...entries, ours: this.#oursAt(to) }, { path: to, place })
      this.#paired.add(path)
    }
  }

  async #mergePair(
    entries: ThreeEntries,
    pair: { readonly path: BytePath; readonly place: (entry: Entry) => Entries },
  ): Promise<void> {
    const { path, place } = pair
    const merged = await this.#mergeOne(entries)
    if ('entry' in merged) {
      if (merged.entry !== undefined) this.#apply(place(merged.entry))
      return
    }
    const { reason, marked } = merged
    const theirs = entries.theirs && { theirs: place(entries.theirs) }
    const markers = marked && { markers: place(marked) }
    this.#conflicts.push({ path, reason, ...theirs, ...markers })
  }

  async mergePaths(): Promise<void> {
    for (const change of this.#step.values()) {
      const { path } = change
      if (this.#paired.has(path)) continue
      const entries = this.#versions(change)
      const merged = await this.#mergeOne(entries)
      if ('entry' in merged) {
        if (merged.entry !== entries.ours) this.#changes.set(path, merged.entry)
        continue
      }
      const { reason, marked } = merged
      const markers = marked && { markers: new Map([[path, marked]]) }
      this.#conflicts.push({ path, reason, theirs: new Map([[path, entries.theirs]]), ...markers })
    }
  }

  async #mergeOne(
    entries: ThreeEntries,
  ): Promise<
    | { readonly entry: Entry | undefined }
    | { readonly reason: string; readonly marked?: Entry | undefined }
  > {
    const merge: EntryMerge = mergeEntries(entries)
    if (merge.type === 'entry') return { entry: merge.entry }
    if (merge.type === 'conflict') return { reason: merge.reason }
    const merged = await this.#tools.mergeBlobs(merge.blobs)
    if (merged.type === 'binary') return { reason: IS_BINARY }
    const blob = this.#tools.storeBlob(merged.content)
    const entry: Entry = { type: 'file', blob, mode: merge.mode }
    return merged.type === 'merged' ? { entry } : { reason: BOTH_CHANGED, marked: entry }
  }

  /** Carries out the choice where there is one for a conflict, then drops every change that cannot be made as things are. */
  decide(choice: ConflictChoice): void {
    for (const conflict of this.#conflicts.splice(0)) {
      const decided = choice === 'theirs' || choice === 'markers' ? conflict[choice] : undefined
      if (decided === undefined) this.#conflicts.push(conflict)
      else this.#apply(decided)
      if (choice === 'markers' && decided !== undefined)
        this.#marked.push(...[...decided].flatMap(([path, entry]) => (entry ? [path] : [])))
    }
    // A change that is dropped may be what another one needs.
    for (;;) {
      const blocked = [...this.#changes].flatMap(([path, entry]) => {
        const reason = this.#whyBlocked(path, entry)
        return reason === undefined ? [] : [{ path, reason }]
      })
      if (blocked.length === 0) return
      for (const { path } of blocked) this.#changes.delete(path)
      this.#conflicts.push(...blocked)
    }
  }

  #whyBlocked(path: BytePath, entry: Entry | undefined): string | undefined {
    if (entry === undefined || path === ROOT) return undefined
    for (let folder = parentOf(path); folder !== ROOT; folder = parentOf(folder)) {
      const above = this.#resultAt(folder)
      if (above !== undefined && above.type !== 'folder') return IN_THE_WAY
    }
    if (entry.type === 'folder' || this.#oursAt(path)?.type !== 'folder') return undefined
    const inside = [...this.#later.keys(), ...this.#changes.keys()].some(
      (other) => other !== path && isInside(other, path) && this.#resultAt(other) !== undefined,
    )
    return inside ? HOLDS_LATER : undefined
  }

  /** A path that was excluded from `theirs` may have existed then (I5). */
  async keepUncaptured(): Promise<void> {
    const removed = [...this.#changes].filter(([, entry]) => entry === undefined)
    if (removed.length === 0) return
    const reasonFor = await this.#tools.uncapturedThen()
    for (const [path] of removed) {
      const reason = reasonFor(path, this.#oursAt(path)?.type === 'folder')
      if (reason === undefined) continue
      this.#changes.delete(path)
      this.#uncaptured.push({ path, reason })
    }
  }

  result(choice: ConflictChoice): Merge {
    const left = this.#conflicts.map(({ path, reason }) => ({ path, reason }))
    const [conflict, kept] = choice === 'ours' ? [[], left] : [left, []]
    const [uncaptured, marked] = [this.#uncaptured, this.#marked]
    return { changes: this.#changes, conflict, kept, uncaptured, marked }
  }

  #apply(changes: Entries): void {
    for (const [path, entry] of changes) this.#changes.set(path, entry)
  }

  #versions({ path, before, after }: Change): ThreeEntries {
    return { base: before, ours: this.#oursAt(path), theirs: after }
  }

  /** Only for paths that differ between two of the versions. */
  #oursAt(path: BytePath): Entry | undefined {
    const later = this.#later.get(path)
    return later === undefined ? this.#step.get(path)?.before : later.after
  }

  #resultAt(path: BytePath): Entry | undefined {
    return this.#changes.has(path) ? this.#changes.get(path) : this.#oursAt(path)
  }
}
