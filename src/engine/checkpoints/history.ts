// Finds the checkpoints that changed a path: compares snapshots with the ones before them, newest first, until enough are found.
import * as z from 'zod/mini'
import {
  type BytePath,
  type FilesCheckpoint,
  isInside,
  parseCheckpointId,
  pathText,
  type ProjectId,
  SavestateError,
} from '../../model/index.js'
import { findKnownProject, type ProjectContext } from '../operation/context.js'
import { projectOperation } from '../operation/operation.js'
import { recoverIfNeeded } from '../restore/recover.js'
import { parseProjectPath } from '../operation/project-path.js'
import { type CheckpointView, viewCheckpoint } from './views.js'

export type HistoryEntry = CheckpointView & {
  /** The changed paths at or below the given ones, 20 at most. */
  readonly paths: readonly string[]
  /** The number of all changed paths at or below the given ones. */
  readonly pathCount: number
}

export type HistoryResult = {
  /** Newest first. */
  readonly checkpoints: readonly HistoryEntry[]
  /** False if the limit was reached before the oldest checkpoint. */
  readonly isComplete: boolean
}

const MAX_PATHS = 20
/** Large enough to keep git busy, small enough that a small limit stops early. */
const BATCH = 100

export const history = projectOperation({
  name: 'history',
  summary: 'Find the checkpoints that changed a path',
  effect: 'reads',
  input: () =>
    z.strictObject({
      /** Files or folders, relative to the project. */
      paths: z.array(z.string()).check(z.minLength(1)),
      limit: z.optional(z.int().check(z.positive())),
      /** A checkpoint of the project: only older ones are found. */
      before: z.optional(z.string()),
    }),
  async run(context, { paths, limit, before }, callbacks): Promise<HistoryResult> {
    const wanted = paths.map(parseProjectPath)
    await recoverIfNeeded(context, callbacks)
    const project = findKnownProject(context)
    if (project === undefined) return { checkpoints: [], isComplete: true }
    // A prune must not remove snapshots while they are compared.
    return context.objects.shared(async () => {
      const damaged = context.ledger.marks.damaged()
      const checkpoints: HistoryEntry[] = []
      let newest = newestBefore(context, project.id, before)
      while (newest !== undefined) {
        const pairs = readPairs(context, newest)
        for (const pair of await selectDiffering(context, pairs, { wanted, damaged })) {
          callbacks.signal?.throwIfAborted()
          const changed = await changedPaths(context, damaged, pair)
          const found = changed.filter((path) => wanted.some((folder) => isInside(path, folder)))
          if (found.length === 0) continue
          if (checkpoints.length === limit) return { checkpoints, isComplete: false }
          const shown = found.slice(0, MAX_PATHS).map((path) => pathText(path))
          checkpoints.push({
            ...viewCheckpoint(pair.after),
            paths: shown,
            pathCount: found.length,
          })
        }
        newest = pairs.at(-1)?.before
      }
      return { checkpoints, isComplete: true }
    })
  },
})

/** The newest checkpoint with files, or the newest one that is older than `before`. */
function newestBefore(
  { ledger }: ProjectContext,
  project: ProjectId,
  before: string | undefined,
): FilesCheckpoint | undefined {
  if (before === undefined) return ledger.checkpoints.newestFiles(project)
  const known = ledger.checkpoints.get(parseCheckpointId(before))
  if (known === undefined || known.project !== project)
    throw new SavestateError('CHECKPOINT_UNKNOWN', `The project has no checkpoint ${before}`, {
      hint: '`savestate list` shows the checkpoints.',
    })
  return ledger.checkpoints.filesBefore(known)
}

type Pair = { readonly after: FilesCheckpoint; readonly before: FilesCheckpoint | undefined }
type Damaged = ReadonlyMap<string, unknown>

/** A snapshot and the older ones, each with the one before it, newest first. */
function readPairs({ ledger }: ProjectContext, newest: FilesCheckpoint): readonly Pair[] {
  const pairs: Pair[] = []
  let after: FilesCheckpoint | undefined = newest
  while (after !== undefined && pairs.length < BATCH) {
    const before = ledger.checkpoints.filesBefore(after)
    pairs.push({ after, before })
    after = before
  }
  return pairs
}

/**
 * The pairs that may differ at the wanted paths. Most do not, because the trees on the way to the path are equal: that
 * check takes a tenth of the time of a comparison.
 */
async function selectDiffering(
  { snapshots }: ProjectContext,
  pairs: readonly Pair[],
  { wanted, damaged }: { readonly wanted: readonly BytePath[]; readonly damaged: Damaged },
): Promise<readonly Pair[]> {
  const whole = pairs
    .flatMap(({ after, before }) => [after, before ?? []].flat())
    .filter(({ id }) => !damaged.has(id))
  const trees = [...new Set(whole.map(({ snapshot }) => snapshot.tree))]
  const fingerprints = await snapshots.fingerprints({ snapshots: trees, paths: wanted })
  const fingerprintOf = new Map(trees.map((tree, index) => [tree, fingerprints[index]]))
  return pairs.filter(
    ({ after, before }) =>
      before === undefined ||
      fingerprintOf.get(before.snapshot.tree) !== fingerprintOf.get(after.snapshot.tree),
  )
}

/** Empty if one of them is damaged, because a damaged snapshot cannot be compared. */
async function changedPaths(
  { snapshots }: ProjectContext,
  damaged: Damaged,
  { after, before }: Pair,
): Promise<readonly BytePath[]> {
  if (damaged.has(after.id) || (before !== undefined && damaged.has(before.id))) return []
  const tree = after.snapshot.tree
  const changes = await snapshots.compare(before?.snapshot.tree, tree, { countLines: false })
  return changes.map(({ path }) => path)
}
