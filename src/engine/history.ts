// Which checkpoints changed a path: each snapshot is compared with the one before it, newest first, until enough are
// found. A comparison reads only the folders that differ.
import * as z from 'zod/mini'
import {
  type BytePath,
  type FilesCheckpoint,
  isInside,
  pathText,
  type Project,
} from '../model/index.js'
import { knownProject, type ProjectContext } from './context.js'
import { projectOperation } from './operation.js'
import { recoverIfNeeded } from './recover.js'
import { parseProjectPath } from './rewind.js'
import { type CheckpointView, viewCheckpoint } from './view.js'

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
  async run(context, { paths, limit }, hooks): Promise<HistoryResult> {
    const wanted = paths.map(parseProjectPath)
    await recoverIfNeeded(context, hooks)
    const project = knownProject(context)
    if (project === undefined) return { checkpoints: [], isComplete: true }
    // A prune must not remove snapshots while they are compared.
    return context.objects.shared(() => historyOf(context, project, { wanted, limit }))
  },
})

async function historyOf(
  context: ProjectContext,
  project: Project,
  { wanted, limit }: { readonly wanted: readonly BytePath[]; readonly limit: number | undefined },
): Promise<HistoryResult> {
  const { ledger } = context
  const damaged = ledger.marks.damaged()
  const checkpoints: HistoryEntry[] = []
  let after = ledger.checkpoints.newestFiles(project.id)
  while (after !== undefined) {
    if (checkpoints.length === limit) return { checkpoints, isComplete: false }
    const before = ledger.checkpoints.filesBefore(after)
    // A damaged snapshot cannot be compared.
    const isComparable = !damaged.has(after.id) && (before === undefined || !damaged.has(before.id))
    const found = isComparable ? await changedPaths(context, { before, after, wanted }) : []
    if (found.length > 0)
      checkpoints.push({
        ...viewCheckpoint(after),
        paths: found.slice(0, MAX_PATHS).map((path) => pathText(path)),
      })
    after = before
  }
  return { checkpoints, isComplete: true }
}

async function changedPaths(
  { snapshots }: ProjectContext,
  {
    before,
    after,
    wanted,
  }: {
    readonly before: FilesCheckpoint | undefined
    readonly after: FilesCheckpoint
    readonly wanted: readonly BytePath[]
  },
): Promise<readonly BytePath[]> {
  const changes = await snapshots.compare(before?.snapshot.tree, after.snapshot.tree, {
    countLines: false,
  })
  return changes
    .map(({ path }) => path)
    .filter((path) => wanted.some((folder) => isInside(path, folder)))
}
