// Selects what a prune removes because the store is too large: the fewest checkpoints that help, from the largest
// project first. If everything removable would not bring the store under its limit, it selects nothing.
import {
  type CheckpointId,
  chooseForSize,
  type Giver,
  type ObjectId,
  pathText,
  type Session,
  type SizeModel,
} from '../model/index.js'
import type { ObjectWeights } from '../snapshot/index.js'
import type { StoreContext } from './context.js'
import type { Point, ProjectFacts } from './prune-facts.js'
import { enoughSessions, sessionsForSize } from './prune-sessions.js'
import type { StoreSizes } from './store-sizes.js'

export type SizePlan = {
  readonly ids: ReadonlySet<CheckpointId>
  /** Checkpoints that lose only their files. */
  readonly heads: ReadonlySet<CheckpointId>
  readonly sessions: readonly Session[]
  readonly afterBytes: number
  /** The largest items that must stay; empty if the store fits. */
  readonly largest: readonly LargeProject[]
}

export type LargeProject = { readonly path: string; readonly bytes: number }

type Request = {
  readonly facts: readonly ProjectFacts[]
  /** Checkpoints that another rule removes. */
  readonly gone: ReadonlySet<CheckpointId>
  /** Sessions that stay by every other rule, and may be removed. */
  readonly removable: readonly Session[]
  readonly sizes: StoreSizes
  /** Everything but the objects of checkpoints. */
  readonly baseBytes: number
  readonly capBytes: number
}

const MAX_LARGEST = 3

export async function planSize(context: StoreContext, request: Request): Promise<SizePlan> {
  const { facts, gone, capBytes, removable } = request
  const projects = facts.map((project) => new ProjectCandidates(project, gone))
  const model = new StoreModel(
    await request.sizes.weights(projects.flatMap(({ commits }) => commits)),
    projects,
    request.baseBytes,
  )
  const givers = projects.filter(({ isOpen }) => isOpen)
  const all = new Set(givers.flatMap(({ candidates }) => candidates))
  const mayGo = (without: ReadonlySet<CheckpointId>) => {
    const needed = new Set(projects.flatMap((project) => project.sessionsWithFiles(without)))
    return sessionsForSize(removable, needed)
  }
  const bytesOf = (sessions: readonly Session[]) =>
    context.ledger.pruning.stateBytes(sessions.map(({ key }) => key))
  // Files alone; else with the states of finished sessions; else with those that the files let go.
  for (const sessions of [[], mayGo(new Set()), mayGo(all)]) {
    const chosen = chooseForSize(givers, capBytes + bytesOf(sessions), model)
    if (chosen === undefined) continue
    const ids = new Set(chosen)
    const left = mayGo(ids).filter(({ key }) => sessions.some((session) => session.key === key))
    const enough = enoughSessions(context, left, model.total() - capBytes)
    const afterBytes = model.total() - enough.bytes
    if (afterBytes > capBytes) {
      for (const id of chosen) model.restore(id)
      continue
    }
    const heads = new Set(projects.flatMap((project) => project.headsIn(ids)))
    return { ids, heads, sessions: enough.sessions, afterBytes, largest: [] }
  }
  const afterBytes = model.total()
  return { ids: new Set(), heads: new Set(), sessions: [], afterBytes, largest: model.largest(all) }
}

/** The checkpoints that a project could give up, in order. */
class ProjectCandidates implements Giver {
  readonly candidates: readonly CheckpointId[]
  readonly path: string
  /** Its settings could be read, so something of it may go. */
  readonly isOpen: boolean
  readonly #points: readonly (Point & { readonly commit: ObjectId })[]

  constructor({ points, summary, fault }: ProjectFacts, gone: ReadonlySet<CheckpointId>) {
    this.path = pathText(summary.project.path)
    this.isOpen = fault === null
    this.#points = points.filter(
      (point): point is Point & { readonly commit: ObjectId } =>
        point.commit !== null && !gone.has(point.id),
    )
    // The newest stays: a save that finds nothing new relies on it.
    const free = this.#points.slice(1).filter(({ guard }) => guard === null)
    const oldestFirst = free.reverse()
    const rankOf = (point: Point) => (point.isHead ? 2 : isAutomatic(point) ? 0 : 1)
    this.candidates = oldestFirst
      .filter(({ isHead, session }) => !isHead || session?.status !== 'in_progress')
      .sort((a, b) => rankOf(a) - rankOf(b))
      .map(({ id }) => id)
  }

  get commits(): readonly ObjectId[] {
    return this.#points.map(({ commit }) => commit)
  }

  get commitsById(): ReadonlyMap<CheckpointId, ObjectId> {
    return new Map(this.#points.map(({ id, commit }) => [id, commit]))
  }

  commitsWithout(gone: ReadonlySet<CheckpointId>): readonly ObjectId[] {
    return this.#points.filter(({ id }) => !gone.has(id)).map(({ commit }) => commit)
  }

  headsIn(ids: ReadonlySet<CheckpointId>): readonly CheckpointId[] {
    return this.#points.filter(({ id, isHead }) => isHead && ids.has(id)).map(({ id }) => id)
  }

  sessionsWithFiles(gone: ReadonlySet<CheckpointId>): readonly number[] {
    return this.#points.flatMap(({ id, session }) => (gone.has(id) ? [] : (session?.key ?? [])))
  }
}

/** Neither a prompt, nor a save with a reason, nor what an undo needs. */
function isAutomatic({ group, isPrompt, isSpecial }: Point): boolean {
  return group !== null && !isPrompt && !isSpecial
}

class StoreModel implements SizeModel {
  readonly #weights: ObjectWeights
  readonly #projects: readonly ProjectCandidates[]
  readonly #baseBytes: number
  readonly #bytes: Map<Giver, number>
  readonly #owners = new Map<CheckpointId, { giver: Giver; commit: ObjectId }>()

  constructor(weights: ObjectWeights, projects: readonly ProjectCandidates[], baseBytes: number) {
    this.#weights = weights
    this.#projects = projects
    this.#baseBytes = baseBytes
    this.#bytes = new Map(projects.map((it) => [it, weights.reachedFrom(it.commits)]))
    for (const giver of projects)
      for (const [id, commit] of giver.commitsById) this.#owners.set(id, { giver, commit })
  }

  total(): number {
    return this.#baseBytes + this.#weights.total
  }

  bytesOf(giver: Giver): number {
    return this.#bytes.get(giver) ?? 0
  }

  remove(id: CheckpointId): void {
    this.#change(id, (commit) => this.#weights.remove(commit))
  }

  restore(id: CheckpointId): void {
    this.#change(id, (commit) => this.#weights.add(commit))
  }

  largest(gone: ReadonlySet<CheckpointId>): LargeProject[] {
    return this.#projects
      .map((project) => ({
        path: project.path,
        bytes: this.#weights.reachedFrom(project.commitsWithout(gone)),
      }))
      .sort((a, b) => b.bytes - a.bytes)
      .slice(0, MAX_LARGEST)
  }

  #change(id: CheckpointId, work: (commit: ObjectId) => void): void {
    const owner = this.#owners.get(id)
    if (owner === undefined) return
    const before = this.#weights.total
    work(owner.commit)
    const change = this.#weights.total - before
    this.#bytes.set(owner.giver, this.bytesOf(owner.giver) + change)
  }
}
