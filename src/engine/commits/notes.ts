// Finds the user's commits that contain recorded steps. A step is in a commit if the commit has, for every tracked path that the step
// changed, the content of that step or of a later one before the commit, and the commit itself changed one of these paths.
import * as z from 'zod/mini'
import type { BytePath, FilesCheckpoint, ObjectId } from '../../model/index.js'
import { bundleNotes, type Change, type UserCommit, UserHistory } from '../../snapshot/index.js'
import type { Callbacks } from '../operation/callbacks.js'
import { findKnownProject, type ProjectContext } from '../operation/context.js'
import { projectOperation } from '../operation/operation.js'
import { recoverIfNeeded } from '../restore/recover.js'
import { readDamage } from '../verify/damage-marks.js'
import type { StepGroup } from './group-steps.js'
import { noteText } from './message.js'
import { resolveRange } from './range.js'

export type NoteView = {
  /** A commit in the history of the user's HEAD. */
  readonly commit: string
  /** Oldest first. */
  readonly checkpoints: readonly string[]
  readonly text: string
}

export type NotesResult = {
  /** Oldest commit first. */
  readonly notes: readonly NoteView[]
  /** A bundle of `refs/notes/savestate` with these notes, for `git fetch`; empty without notes. */
  readonly content: Uint8Array
}

export const notes = projectOperation({
  name: 'notes',
  summary: 'Find the commits that contain recorded steps',
  effect: 'reads',
  input: () => z.strictObject({ range: z.nullable(z.string()) }),
  async run(context, { range }, callbacks): Promise<NotesResult> {
    await recoverIfNeeded(context, callbacks)
    const project = findKnownProject(context)
    // A prune must not remove objects while they are compared.
    return context.objects.shared(async () => {
      const { steps } = resolveRange(context, project, range ?? '..')
      const [first] = steps
      if (project === undefined || first === undefined) return NONE
      const gitDir = context.snapshots.gitDir
      const since = { folder: context.path, sinceMs: first.createdAtMs }
      const history = await UserHistory.open({ gitDir, ...since })
      if (history === undefined) return NONE
      try {
        const found = await findNotes(context, { history, steps, callbacks })
        const views = found.map(({ commit, steps: contained }) => ({
          commit: commit.id,
          checkpoints: contained.map(({ id }) => id),
          text: noteText(contained),
        }))
        const atMs = found.at(-1)?.commit.committedMs ?? 0
        if (views.length === 0) return NONE
        return { notes: views, content: await bundleNotes(gitDir, views, atMs) }
      } finally {
        history.close()
      }
    })
  },
})

const NONE: NotesResult = { notes: [], content: new Uint8Array() }

type Work = {
  readonly history: UserHistory
  /** Oldest first. */
  readonly steps: readonly FilesCheckpoint[]
  readonly callbacks: Callbacks
}
type Found = { readonly commit: UserCommit; readonly steps: StepGroup }

async function findNotes(context: ProjectContext, work: Work): Promise<readonly Found[]> {
  const { history, steps, callbacks } = work
  const found: Found[] = []
  for (const commit of [...history.commits].reverse()) {
    callbacks.signal?.throwIfAborted()
    const parent = history.commits.find(({ id }) => id === commit.parent)
    // A rebased commit keeps the time at which it was written first.
    const sinceMs = Math.min(parent?.authoredMs ?? 0, parent?.committedMs ?? 0)
    // Git's times have no milliseconds.
    const between = steps.filter(
      ({ createdAtMs }) => createdAtMs >= sinceMs && createdAtMs < commit.committedMs + 1000,
    )
    const [first, ...others] = await stepsIn(context, { commit, history, steps: between })
    if (first !== undefined) found.push({ commit, steps: [first, ...others] })
  }
  return found
}

async function stepsIn(
  context: ProjectContext,
  { commit, history, steps }: Omit<Work, 'callbacks'> & { readonly commit: UserCommit },
): Promise<readonly FilesCheckpoint[]> {
  if (steps.length === 0) return []
  const committed = await history.filesOf(commit.id)
  /** The contents of the folder at the time of the step. */
  const saved = new Map<BytePath, ObjectId | undefined>()
  const pending = new Map<FilesCheckpoint, readonly BytePath[]>()
  const contained = new Set<FilesCheckpoint>()
  const isEqual = async (path: BytePath): Promise<boolean> => {
    const [here, there] = [saved.get(path), committed.get(history.pathOf(path))]
    return here === undefined || there === undefined ? here === there : history.isSame(here, there)
  }
  for (const step of steps) {
    const changes = await changesOf(context, step)
    for (const { path, after } of changes)
      saved.set(path, after === undefined || after.type === 'folder' ? undefined : after.blob)
    const paths = changes.map(({ path }) => path)
    const isChanged = (path: BytePath) => commit.changes.has(history.pathOf(path))
    // A path that the commit neither has nor removed is one that git does not track.
    const tracked = paths.filter((path) => isChanged(path) || committed.has(history.pathOf(path)))
    if (tracked.some(isChanged)) pending.set(step, tracked)
    const touched = new Set(paths)
    for (const [waiting, waitingPaths] of pending) {
      if (!waitingPaths.some((path) => touched.has(path))) continue
      const equal = await Promise.all(waitingPaths.map(isEqual))
      if (!equal.every(Boolean)) continue
      pending.delete(waiting)
      contained.add(waiting)
    }
  }
  return steps.filter((step) => contained.has(step))
}

/** The files whose content the step changed. */
async function changesOf(
  { ledger, snapshots }: ProjectContext,
  step: FilesCheckpoint,
): Promise<readonly Change[]> {
  const before = ledger.checkpoints.filesBefore(step)
  // The first checkpoint is the folder as it was found, and no step.
  if (before === undefined || readDamage(ledger, before.id) !== undefined) return []
  const request = { countLines: false }
  const all = await snapshots.compare(before.snapshot.tree, step.snapshot.tree, request)
  return all.filter(({ before: old, after }) => {
    const isFolder = (after ?? old)?.type === 'folder'
    const [one, other] = [old, after].map((entry) =>
      entry === undefined || entry.type === 'folder' ? undefined : entry.blob,
    )
    return !(isFolder && old?.type === after?.type) && one !== other
  })
}
