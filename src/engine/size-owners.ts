// Charges the size of the store to its owners (projects, and sessions without a project) and lists what each could give up.
import {
  type CheckpointId,
  pathText,
  type Giver,
  type Session,
  type SessionKey,
} from '../model/index.js'
import { stateRoot } from '../ledger/index.js'
import type { StoreContext } from './context.js'
import type { Point, ProjectFacts } from './prune-facts.js'

/** A snapshot or a state that a checkpoint holds. */
export type Hold = { readonly graph: 'objects' | 'states'; readonly root: string }

/** One step of a removal: a checkpoint, the files of one, or a session with all its checkpoints. */
export type Candidate = {
  readonly type: 'row' | 'files' | 'session'
  readonly rows: readonly CheckpointId[]
  readonly holds: readonly Hold[]
  readonly session?: Session
}

type Input = {
  readonly facts: readonly ProjectFacts[]
  readonly unattached: readonly Point[]
  readonly gone: ReadonlySet<CheckpointId>
  readonly removable: readonly Session[]
}

export function sizeOwners(
  { ledger }: StoreContext,
  { facts, unattached, gone, removable }: Input,
): SizeOwner[] {
  const finished = removable.filter(({ status }) => status.state !== 'in_progress')
  const stays = (points: readonly Point[]) => points.filter(({ id }) => !gone.has(id))
  const ofProjects = facts.map(
    ({ summary, points, fault }) =>
      new SizeOwner(pathText(summary.project.path), stays(points), {
        // Nothing goes from a project whose settings cannot be read.
        finished: fault === null ? finished : [],
        isOpen: fault === null,
      }),
  )
  const bySession = new Map<SessionKey, Point[]>()
  for (const point of stays(unattached)) {
    if (point.session === null) continue
    bySession.set(point.session.key, [...(bySession.get(point.session.key) ?? []), point])
  }
  const ofSessions = [...bySession].map(([key, points]) => {
    const label = `session ${ledger.sessions.byKey(key)?.id ?? key}`
    return new SizeOwner(label, points, { finished, isOpen: true })
  })
  return [...ofProjects, ...ofSessions]
}

type Row = { readonly point: Point; readonly files: Hold | null; readonly state: Hold | null }

export class SizeOwner implements Giver<Candidate> {
  readonly label: string
  readonly holds: readonly Hold[]
  /** In the order of removal. */
  readonly candidates: readonly Candidate[]

  /** Points newest first. */
  constructor(
    label: string,
    points: readonly Point[],
    { finished, isOpen }: { readonly finished: readonly Session[]; readonly isOpen: boolean },
  ) {
    this.label = label
    const rows = points.map((point): Row => {
      const { commit, state } = point
      return {
        point,
        files: commit === null ? null : { graph: 'objects', root: commit },
        state: state === null ? null : { graph: 'states', root: stateRoot(state) },
      }
    })
    this.holds = rows.flatMap(holdsOf)
    this.candidates = isOpen ? candidatesIn(rows, finished) : []
  }
}

function candidatesIn(rows: readonly Row[], finished: readonly Session[]): Candidate[] {
  // The newest stays: a save that finds nothing new relies on it.
  const newest = rows.find(({ files }) => files !== null)
  const free = new Set(
    rows.filter(
      ({ point: { guard, isHead, session }, ...row }) =>
        guard === null &&
        row.files !== newest?.files &&
        !(isHead && session?.status === 'in_progress'),
    ),
  )
  const oldestFirst = rows.filter((row) => free.has(row)).toReversed()
  const single = oldestFirst.flatMap((row): (Candidate & { readonly rank: number })[] => {
    const { point, files } = row
    const ids = [point.id]
    if (!point.isHead)
      return [{ type: 'row', rows: ids, holds: holdsOf(row), rank: isAutomatic(point) ? 0 : 1 }]
    return files === null ? [] : [{ type: 'files', rows: ids, holds: [files], rank: 2 }]
  })
  const whole = finished
    .toSorted((a, b) => a.updatedAtMs - b.updatedAtMs)
    .flatMap((session): Candidate[] => {
      const own = rows.filter(({ point }) => point.session?.key === session.key)
      if (own.length === 0 || own.some((row) => row.files !== null && !free.has(row))) return []
      const ids = own.map(({ point }) => point.id)
      return [{ type: 'session', rows: ids, holds: own.flatMap(holdsOf), session }]
    })
  return [...single.sort((a, b) => a.rank - b.rank), ...whole]
}

function holdsOf({ files, state }: Row): Hold[] {
  return [files, state].filter((hold) => hold !== null)
}

/** Neither a prompt, nor a save with a reason, nor what an undo needs. */
function isAutomatic({ group, isPrompt, isSpecial }: Point): boolean {
  return group !== null && !isPrompt && !isSpecial
}
