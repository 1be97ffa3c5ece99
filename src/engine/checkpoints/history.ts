// Finds the checkpoints that changed a path: compares each snapshot with the one before it, newest first, until enough
// are found. Most pairs are skipped because the trees on the way to the path are equal, which takes a tenth of the time
// of a comparison.
import * as z from 'zod/mini'
import {
  type BytePath,
  type FilesCheckpoint,
  isInside,
  pathText,
  type Project,
} from '../../model/index.js'
import type { Callbacks } from '../operation/callbacks.js'
import { findKnownProject, type ProjectContext } from '../operation/context.js'
import { projectOperation } from '../operation/operation.js'
import { recoverIfNeeded } from '../restore/recover.js'
import { parseProjectPath } from '../restore/rewind.js'
import { type CheckpointView, viewCheckpoint } from './views.js'

export type HistoryEntry = CheckpointView & {
  /** The changed paths at or below the given ones, 20 at most. */
  readonly paths: readonly string[]
}

export type HistoryResult = {
  /** Newest first. */
  readonly checkpoints: readonly HistoryEntry[]
  /** False if the limit was reached before the oldest checkpoint. */
  readonly isComplete: boolean
}

const MAX_PATHS = 20

export const history = projectOperation({
  name: 'history',
  summary: 'Find the checkpoints that changed a path',
  effect: 'reads',
  input: () =>
    z.strictObject({
      /** Files or folders, relative to the project. */
      paths: z.array(z.string()).check(z.minLength(1)),
      limit: z.optional(z.int().check(z.positive())),
    }),
  async run(context, { paths, limit }, callbacks): Promise<HistoryResult> {
    const wanted = paths.map(parseProjectPath)
    await recoverIfNeeded(context, callbacks)
    const project = findKnownProject(context)
    if (project === undefined) return { checkpoints: [], isComplete: true }
    // A prune must not remove snapshots while they are compared.
    return context.objects.shared(() => findChanges(context, project, { wanted, limit, callbacks }))
  },
})

async function findChanges(
  context: ProjectContext,
  project: Project,
  {
    wanted,
    limit,
    callbacks,
  }: {
    readonly wanted: readonly BytePath[]
    readonly limit: number | undefined
    readonly callbacks: Callbacks
  },
): Promise<HistoryResult> {
  const damaged = context.ledger.marks.damaged()
  const checkpoints: HistoryEntry[] = []
  let newest = context.ledger.checkpoints.newestFiles(project.id)
  while (newest !== undefined) {
    const batch = readBatch(context, newest)
    const pairs = await findDifferingPairs(context, { batch, wanted, damaged })
    for (const { after, before } of pairs) {
      callbacks.signal?.throwIfAborted()
      const found = await findChangedPaths(context, { before, after, wanted })
      if (found.length === 0) continue
      if (checkpoints.length === limit) return { checkpoints, isComplete: false }
      const paths = found.slice(0, MAX_PATHS).map((path) => pathText(path))
      checkpoints.push({ ...viewCheckpoint(after), paths })
    }
    newest = batch.next
  }
  return { checkpoints, isComplete: true }
}

/** Large enough to keep git busy, small enough that a small limit stops early. */
const BATCH = 100

type Batch = {
  /** Newest first. */
  readonly rows: readonly FilesCheckpoint[]
  /** The snapshot before the oldest of them; undefined if there is none. */
  readonly next: FilesCheckpoint | undefined
}

function readBatch({ ledger }: ProjectContext, newest: FilesCheckpoint): Batch {
  const rows: FilesCheckpoint[] = []
  let next: FilesCheckpoint | undefined = newest
  while (next !== undefined && rows.length < BATCH) {
    rows.push(next)
    next = ledger.checkpoints.filesBefore(next)
  }
  return { rows, next }
}

type Pair = { readonly after: FilesCheckpoint; readonly before: FilesCheckpoint | undefined }

/** Returns the neighbors that may differ at the wanted paths. A damaged snapshot cannot be compared. */
async function findDifferingPairs(
  { snapshots }: ProjectContext,
  {
    batch,
    wanted,
    damaged,
  }: {
    readonly batch: Batch
    readonly wanted: readonly BytePath[]
    readonly damaged: ReadonlyMap<string, unknown>
  },
): Promise<readonly Pair[]> {
  const { rows, next } = batch
  const whole = [...rows, ...(next === undefined ? [] : [next])].filter(
    ({ id }) => !damaged.has(id),
  )
  const trees = [...new Set(whole.map(({ snapshot }) => snapshot.tree))]
  const fingerprints = await snapshots.fingerprints({ snapshots: trees, paths: wanted })
  const fingerprintOf = new Map(trees.map((tree, index) => [tree, fingerprints[index]]))
  return rows.flatMap((after, index): Pair[] => {
    const before = rows[index + 1] ?? next
    if (damaged.has(after.id) || (before !== undefined && damaged.has(before.id))) return []
    const isSame =
      before !== undefined &&
      fingerprintOf.get(before.snapshot.tree) === fingerprintOf.get(after.snapshot.tree)
    return isSame ? [] : [{ after, before }]
  })
}

async function findChangedPaths(
  { snapshots }: ProjectContext,
  { before, after, wanted }: Pair & { readonly wanted: readonly BytePath[] },
): Promise<readonly BytePath[]> {
  const changes = await snapshots.compare(before?.snapshot.tree, after.snapshot.tree, {
    countLines: false,
  })
  return changes
    .map(({ path }) => path)
    .filter((path) => wanted.some((folder) => isInside(path, folder)))
}
