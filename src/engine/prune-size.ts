// Selects what a prune removes because the store is too large: the fewest checkpoints that help, from the largest project
// first. Files and states are charged to the project that they belong to, and to the session where there is none. A project
// that takes no more than its fair share gives nothing. If the store cannot be brought under its limit like that, nothing
// is selected.
import {
  type CheckpointId,
  chooseForSize,
  fairShare,
  type Giver,
  type Session,
  type SizeModel,
  type WeightedGraph,
} from '../model/index.js'
import { stateRoot } from '../ledger/index.js'
import type { StoreContext } from './context.js'
import type { Point, ProjectFacts } from './prune-facts.js'
import { type Candidate, type Hold, type SizeOwner, sizeOwners } from './size-owners.js'
import type { StoreSizes } from './store-sizes.js'

export type SizePlan = {
  /** Checkpoints that go, or lose their files. */
  readonly ids: ReadonlySet<CheckpointId>
  /** Checkpoints that lose only their files. */
  readonly heads: ReadonlySet<CheckpointId>
  readonly sessions: readonly Session[]
  readonly afterBytes: number
  /** The largest items that must stay; empty if the store fits. */
  readonly largest: readonly LargeProject[]
}

export type LargeProject = {
  /** `session ID` for a session without a project. */
  readonly path: string
  readonly bytes: number
  /** The part of it that is conversations and other states. */
  readonly stateBytes: number
}

type Request = {
  readonly facts: readonly ProjectFacts[]
  /** Checkpoints of sessions without a project. */
  readonly unattached: readonly Point[]
  /** Checkpoints that another rule removes. */
  readonly gone: ReadonlySet<CheckpointId>
  /** Sessions that stay by every other rule, and may be removed. */
  readonly removable: readonly Session[]
  readonly sizes: StoreSizes
  /** Everything except the objects of checkpoints. */
  readonly restBytes: number
  readonly capBytes: number
}

const MAX_LARGEST = 3

export async function planSize(context: StoreContext, request: Request): Promise<SizePlan> {
  const { capBytes } = request
  const owners = sizeOwners(context, request)
  const model = await StoreModel.read(context, owners, request)
  const sizes = owners.map((owner) => model.bytesOf(owner))
  const fairBytes = fairShare(sizes, capBytes - model.unownedBytes)
  const chosen = chooseForSize(owners, model, { capBytes, fairBytes })
  const afterBytes = model.total()
  if (chosen === undefined) return { ...NOTHING, afterBytes, largest: model.largest(owners) }
  const rowsOf = (type: Candidate['type']) =>
    new Set(chosen.flatMap((it) => (it.type === type ? it.rows : [])))
  const [rows, ofSessions, files] = [rowsOf('row'), rowsOf('session'), rowsOf('files')]
  return {
    ids: new Set([...rows, ...ofSessions, ...files]),
    heads: new Set([...files].filter((id) => !ofSessions.has(id))),
    sessions: chosen.flatMap((it) => it.session ?? []),
    afterBytes,
    largest: [],
  }
}

const NOTHING = {
  ids: new Set<CheckpointId>(),
  heads: new Set<CheckpointId>(),
  sessions: [],
}

type Graphs = Readonly<Record<Hold['graph'], WeightedGraph>>

class StoreModel implements SizeModel<Candidate> {
  readonly #graphs: Graphs
  readonly #baseBytes: number
  readonly #bytes: Map<Giver<Candidate>, number>
  /** How many removed candidates contain it: a session contains what its checkpoints do. */
  readonly #removed = new Map<Hold, number>()
  readonly #ownerOf = new Map<Candidate, Giver<Candidate>>()

  static async read(
    { ledger }: StoreContext,
    owners: readonly SizeOwner[],
    { facts, unattached, gone, sizes, restBytes }: Request,
  ): Promise<StoreModel> {
    const commits = owners.flatMap(({ holds }) =>
      holds.flatMap((it) => (it.graph === 'objects' ? it.root : [])),
    )
    const objects = await sizes.graph(commits)
    const states = ledger.pruning.stateGraph()
    const points = [...facts.flatMap((project) => project.points), ...unattached]
    const goneStates = points.flatMap(({ id, state }) =>
      state !== null && gone.has(id) ? stateRoot(state) : [],
    )
    const graphs = { objects, states }
    for (const { graph, root } of owners.flatMap(({ holds }) => holds)) graphs[graph].add(root)
    for (const root of goneStates) states.add(root)
    const baseBytes = restBytes - states.total
    for (const root of goneStates) states.remove(root)
    return new StoreModel(owners, graphs, baseBytes)
  }

  private constructor(owners: readonly SizeOwner[], graphs: Graphs, baseBytes: number) {
    this.#graphs = graphs
    this.#baseBytes = baseBytes
    this.#bytes = new Map(owners.map((owner) => [owner, this.#sizeOf(owner.holds).bytes]))
    for (const owner of owners)
      for (const candidate of owner.candidates) this.#ownerOf.set(candidate, owner)
  }

  /** Data of no project: caches, tables, states of graph threads. */
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
    this.#change(candidate, (hold) => {
      const before = this.#removed.get(hold) ?? 0
      this.#removed.set(hold, before + 1)
      if (before === 0) this.#graphs[hold.graph].remove(hold.root)
    })
  }

  restore(candidate: Candidate): void {
    this.#change(candidate, (hold) => {
      const before = this.#removed.get(hold) ?? 0
      this.#removed.set(hold, before - 1)
      if (before === 1) this.#graphs[hold.graph].add(hold.root)
    })
  }

  /** By what they would take without everything that they could give. */
  largest(owners: readonly SizeOwner[]): LargeProject[] {
    return owners
      .map(({ label, candidates, holds }) => {
        const free = new Set(candidates.flatMap((it) => it.holds))
        return { path: label, ...this.#sizeOf(holds.filter((hold) => !free.has(hold))) }
      })
      .sort((a, b) => b.bytes - a.bytes)
      .slice(0, MAX_LARGEST)
  }

  #sizeOf(holds: readonly Hold[]): { readonly bytes: number; readonly stateBytes: number } {
    const rootsIn = (graph: Hold['graph']) =>
      holds.flatMap((hold) => (hold.graph === graph ? hold.root : []))
    const stateBytes = this.#graphs.states.reachedFrom(rootsIn('states'))
    return { bytes: this.#graphs.objects.reachedFrom(rootsIn('objects')) + stateBytes, stateBytes }
  }

  #change(candidate: Candidate, work: (hold: Hold) => void): void {
    const owner = this.#ownerOf.get(candidate)
    if (owner === undefined) return
    const before = this.total()
    for (const hold of candidate.holds) work(hold)
    this.#bytes.set(owner, this.bytesOf(owner) + this.total() - before)
  }
}
