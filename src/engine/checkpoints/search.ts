// Finds checkpoints: by words in their names, reasons, prompts and changed paths (`search`), and by the paths that they
// changed (`history`). The texts of all checkpoints are searched. For paths both compare snapshots with the ones before them,
// newest first, until enough are found.
import * as z from 'zod/mini'
import {
  type BytePath,
  type Checkpoint,
  type FilesCheckpoint,
  hasFiles,
  isInside,
  parseCheckpointId,
  pathText,
  type ProjectId,
  SavestateError,
} from '../../model/index.js'
import { findKnownProject, type ProjectContext } from '../operation/context.js'
import { projectOperation } from '../operation/operation.js'
import { recoverIfNeeded } from '../restore/recover.js'
import { parseProjectPath } from '../restore/rewind.js'
import { type CheckpointView, viewCheckpoint } from './views.js'

export type SearchMatch = CheckpointView & {
  /** The user's prompt, if it is known. */
  readonly prompt: string | null
  /** The changed paths that contain one of the words; empty if all words were found in the texts. */
  readonly paths: readonly string[]
}

export type SearchResult = {
  /** Newest first. */
  readonly matches: readonly SearchMatch[]
  /** How many checkpoints were searched, from the newest on. The search in older ones covers their texts, not their paths. */
  readonly searched: number
  /** False: there may be more that match, older ones by their changed paths. */
  readonly isComplete: boolean
}

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

/** Comparing a snapshot with the one before takes milliseconds; reading the texts of all checkpoints takes as long as one. */
const DEFAULT_COMPARED = 1000
const MAX_PATHS = 20

export const search = projectOperation({
  name: 'search',
  summary: 'Find checkpoints by words',
  effect: 'reads',
  input: () =>
    z.strictObject({
      words: z.string().check(z.trim(), z.minLength(1), z.maxLength(1000)),
      limit: z._default(z.int().check(z.positive()), 20),
      /** How many snapshots are compared with the ones before them, to find changed paths. Equal ones cost nothing. */
      maxCompared: z._default(z.int().check(z.nonnegative()), DEFAULT_COMPARED),
    }),
  async run(context, { words, limit, maxCompared }, callbacks): Promise<SearchResult> {
    await recoverIfNeeded(context, callbacks)
    const project = findKnownProject(context)
    if (project === undefined) return { matches: [], searched: 0, isComplete: true }
    const wanted = [...new Set(words.toLowerCase().split(/\s+/))]
    // A prune must not remove objects while they are compared.
    return context.objects.shared(async () => {
      const { ledger } = context
      const texts = ledger.checkpoints.texts(project.id)
      const damaged = ledger.marks.damaged()
      const matches: SearchMatch[] = []
      let searched = 0
      let compared = 0
      // Undefined until the comparisons are used up.
      let searchedPaths: number | undefined
      for (const { id, name, reason, prompt } of texts) {
        callbacks.signal?.throwIfAborted()
        if (matches.length === limit) break
        searched += 1
        const lowered = [name, reason, prompt].map(lower)
        const missing = wanted.filter((word) => !lowered.some((text) => text.includes(word)))
        if (missing.length > 0 && searchedPaths !== undefined) continue
        const checkpoint = ledger.checkpoints.get(id)
        // Another process may have removed it meanwhile.
        if (checkpoint === undefined) continue
        const pair = missing.length === 0 ? undefined : differingPair(context, checkpoint)
        if (pair !== undefined && compared === maxCompared) {
          searchedPaths = searched - 1
          continue
        }
        if (pair !== undefined) compared += 1
        const changed = pair === undefined ? [] : await changedPaths(context, damaged, pair)
        const paths = changed
          .map((path) => pathText(path))
          .filter((path) => wanted.some((word) => lower(path).includes(word)))
        if (!missing.every((word) => paths.some((path) => lower(path).includes(word)))) continue
        matches.push({
          ...viewCheckpoint(checkpoint),
          ...(damaged.has(id) ? { damaged: true } : {}),
          prompt,
          paths: paths.slice(0, MAX_PATHS),
        })
      }
      const isComplete = searched === texts.length && searchedPaths === undefined
      return { matches, searched: searchedPaths ?? searched, isComplete }
    })
  },
})

function lower(text: string | null): string {
  return text?.toLowerCase() ?? ''
}

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

/** Undefined if the checkpoint changed no file. */
function differingPair({ ledger }: ProjectContext, after: Checkpoint): Pair | undefined {
  if (!hasFiles(after)) return undefined
  const before = ledger.checkpoints.filesBefore(after)
  return before?.snapshot.tree === after.snapshot.tree ? undefined : { after, before }
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
