// Selects what a prune removes because the store is too large: as few checkpoints as possible, from the largest owner first.
// The owner of files and states is their project, or their session if it has no project. An owner below its fair share loses
// nothing. If that cannot bring the store under its limit, nothing is selected.
import {
  type CheckpointId,
  chooseForSize,
  fairShare,
  type Giver,
  pathText,
  type Session,
  type SessionKey,
  type SizeModel,
  type WeightedGraph,
} from '../../model/index.js'
import { stateGraphId } from '../../ledger/index.js'
import type { StoreContext } from '../operation/context.js'
import type { Point, PruneProject } from './prune-candidates.js'
import type { LargeProject, StoreSizes } from '../store/sizes.js'

export type SizePlan = {
  /** Checkpoints to remove, or to remove the files of. */
  readonly ids: ReadonlySet<CheckpointId>
  /** Checkpoints that lose only their files. */
  readonly heads: ReadonlySet<CheckpointId>
  readonly sessions: readonly Session[]
  readonly afterBytes: number
  /** The largest items that must stay; empty if the store fits. */
  readonly largest: readonly LargeProject[]
}

export const NOTHING_FOR_SIZE: Omit<SizePlan, 'afterBytes'> = {
  ids: new Set(),
  heads: new Set(),
  sessions: [],
  largest: [],
}

type Request = {
  readonly projects: readonly PruneProject[]
  /** Checkpoints of sessions without a project. */
  readonly unattached: readonly Point[]
  /** Checkpoints that another rule removes. */
  readonly gone: ReadonlySet<CheckpointId>
  /** Sessions that no other rule removes or protects. */
  readonly removable: readonly Session[]
  readonly sizes: StoreSizes
  /** Everything except the objects of checkpoints. */
  readonly restBytes: number
  readonly capBytes: number
}

export async function planSize(context: StoreContext, request: Request): Promise<SizePlan> {
  const { capBytes } = request
  const owners = ownersOf(context, request)
  const model = await StoreModel.read(context, owners, request)
  const sizes = owners.map((owner) => model.bytesOf(owner))
  const fairBytes = fairShare(sizes, capBytes - model.unownedBytes)
  const chosen = chooseForSize(owners, model, { capBytes, fairBytes })
  const afterBytes = model.total()
  if (chosen === undefined)
    return { ...NOTHING_FOR_SIZE, afterBytes, largest: model.largest(owners) }
  const idsIn = (parts: readonly Candidate[]) => parts.flatMap((it) => it.rows.map(({ id }) => id))
  const ofSessions = new Set(idsIn(chosen.filter(({ session }) => session !== undefined)))
  const files = idsIn(chosen.filter(({ keepsState }) => keepsState))
  return {
    ids: new Set(idsIn(chosen)),
    heads: new Set(files.filter((id) => !ofSessions.has(id))),
    sessions: chosen.flatMap((it) => it.session ?? []),
    afterBytes,
    largest: [],
  }
}

/** A snapshot or a state that keeps objects alive. */
type Root = { readonly graph: 'objects' | 'states'; readonly id: string }
type Row = Point & { readonly files: Root | null; readonly content: Root | null }

/** One step of a removal: a checkpoint, only its files, or a session with all its checkpoints. */
type Candidate = {
  readonly rows: readonly Row[]
  readonly roots: readonly Root[]
  readonly keepsState: boolean
  readonly session?: Session
}

type Owner = Giver<Candidate> & { readonly label: string; readonly roots: readonly Root[] }

function ownersOf(
  { ledger }: StoreContext,
  { projects, unattached, gone, removable }: Request,
): Owner[] {
  const finished = removable
    .filter(({ status }) => status.state !== 'in_progress')
    .toSorted((a, b) => a.updatedAtMs - b.updatedAtMs)
  const ownerOf = (label: string, points: readonly Point[], isOpen = true): Owner => {
    const rows = points.filter(({ id }) => !gone.has(id)).map(rowOf)
    // Nothing is removed from a project whose settings cannot be read.
    const candidates = isOpen ? candidatesIn(rows, finished) : []
    return { label, roots: rows.flatMap(rootsOf), candidates }
  }
  const bySession = new Map<SessionKey, Point[]>()
  for (const point of unattached) {
    if (point.session === null || gone.has(point.id)) continue
    const known = bySession.get(point.session.key)
    if (known === undefined) bySession.set(point.session.key, [point])
    else known.push(point)
  }
  return [
    ...projects.map(({ summary, points, fault }) =>
      ownerOf(pathText(summary.project.path), points, fault === null),
    ),
    ...[...bySession].map(([key, points]) =>
      ownerOf(`session ${ledger.sessions.byKey(key)?.id ?? key}`, points),
    ),
  ]
}

function rowOf(point: Point): Row {
  const { commit, state } = point
  return {
    ...point,
    files: commit === null ? null : { graph: 'objects', id: commit },
    content: state === null ? null : { graph: 'states', id: stateGraphId(state) },
  }
}

function rootsOf({ files, content }: Row): Root[] {
  return [files, content].filter((root) => root !== null)
}

/** Takes rows newest first; returns candidates in the order of removal. */
function candidatesIn(rows: readonly Row[], finished: readonly Session[]): Candidate[] {
  // A save that finds nothing new relies on the newest checkpoint.
  const newest = rows.find(({ files }) => files !== null)
  const isFree = ({ guard, isHead, session, files }: Row) =>
    guard === null && files !== newest?.files && !(isHead && session?.status === 'in_progress')
  const free = rows.filter(isFree).toReversed()
  const single = (row: Row): Candidate => ({ rows: [row], roots: rootsOf(row), keepsState: false })
  const others = free.filter(({ isHead }) => !isHead)
  const filesOfHeads = free.flatMap((row): Candidate[] =>
    row.isHead && row.files !== null ? [{ rows: [row], roots: [row.files], keepsState: true }] : [],
  )
  const whole = finished.flatMap((session): Candidate[] => {
    const own = rows.filter((row) => row.session?.key === session.key)
    if (own.length === 0 || own.some((row) => row.files !== null && !isFree(row))) return []
    return [{ rows: own, roots: own.flatMap(rootsOf), keepsState: false, session }]
  })
  return [
    ...others.filter(isAutomatic).map(single),
    ...others.filter((row) => !isAutomatic(row)).map(single),
    ...filesOfHeads,
    ...whole,
  ]
}

/** Not a prompt, not a save with a reason, and not needed by an undo. */
function isAutomatic({ group, isPrompt, isSpecial }: Point): boolean {
  return group !== null && !isPrompt && !isSpecial
}

type Graphs = Readonly<Record<Root['graph'], WeightedGraph>>

const MAX_LARGEST = 3

class StoreModel implements SizeModel<Candidate> {
  readonly #graphs: Graphs
  readonly #baseBytes: number
  readonly #bytes: Map<Giver<Candidate>, number>
  /** How many removed candidates contain a root: a session contains the roots of its checkpoints. */
  readonly #removed = new Map<Root, number>()
  readonly #ownerOf = new Map<Candidate, Owner>()

  static async read(
    { ledger }: StoreContext,
    owners: readonly Owner[],
    { projects, unattached, gone, sizes, restBytes }: Request,
  ): Promise<StoreModel> {
    const roots = owners.flatMap((owner) => owner.roots)
    const commits = roots.flatMap((it) => (it.graph === 'objects' ? it.id : []))
    const graphs = { objects: await sizes.graph(commits), states: ledger.pruning.stateGraph() }
    const goneStates = [...projects.flatMap((project) => project.points), ...unattached].flatMap(
      ({ id, state }) => (state !== null && gone.has(id) ? stateGraphId(state) : []),
    )
    for (const { graph, id } of roots) graphs[graph].add(id)
    for (const root of goneStates) graphs.states.add(root)
    const baseBytes = restBytes - graphs.states.total
    for (const root of goneStates) graphs.states.remove(root)
    return new StoreModel(owners, graphs, baseBytes)
  }

  private constructor(owners: readonly Owner[], graphs: Graphs, baseBytes: number) {
    this.#graphs = graphs
    this.#baseBytes = baseBytes
    this.#bytes = new Map(owners.map((owner) => [owner, this.#sizeOf(owner.roots).bytes]))
    for (const owner of owners)
      for (const candidate of owner.candidates) this.#ownerOf.set(candidate, owner)
  }

  /** Data of no owner: caches, tables, states of graph threads. */
  get unownedBytes(): number {
    const owned = [...this.#bytes.values()].reduce((sum, bytes) => sum + bytes, 0)
    return Math.max(0, this.total() - owned)
  }

  total(): number {
    const { objects, states } = this.#graphs
    return this.#baseBytes + objects.total + states.total
  }

  bytesOf(giver: Giver<Candidate>): number {
    return this.#bytes.get(giver) ?? 0
  }

  remove(candidate: Candidate): void {
    this.#change(candidate, 1)
  }

  restore(candidate: Candidate): void {
    this.#change(candidate, -1)
  }

  /** Sorted by size after removing all candidates. */
  largest(owners: readonly Owner[]): LargeProject[] {
    return owners
      .map(({ label, candidates, roots }) => {
        const free = new Set(candidates.flatMap((it) => it.roots))
        return { path: label, ...this.#sizeOf(roots.filter((root) => !free.has(root))) }
      })
      .sort((a, b) => b.bytes - a.bytes)
      .slice(0, MAX_LARGEST)
  }

  #sizeOf(roots: readonly Root[]): { readonly bytes: number; readonly stateBytes: number } {
    const bytesIn = (graph: Root['graph']) =>
      this.#graphs[graph].reachedFrom(
        roots.flatMap((root) => (root.graph === graph ? root.id : [])),
      )
    const stateBytes = bytesIn('states')
    return { bytes: bytesIn('objects') + stateBytes, stateBytes }
  }

  #change(candidate: Candidate, by: 1 | -1): void {
    const owner = this.#ownerOf.get(candidate)
    if (owner === undefined) return
    const before = this.total()
    for (const root of candidate.roots) {
      const count = (this.#removed.get(root) ?? 0) + by
      this.#removed.set(root, count)
      const graph = this.#graphs[root.graph]
      if (by === 1 && count === 1) graph.remove(root.id)
      if (by === -1 && count === 0) graph.add(root.id)
    }
    this.#bytes.set(owner, this.bytesOf(owner) + this.total() - before)
  }
}
