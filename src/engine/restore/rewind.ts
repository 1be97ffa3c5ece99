// Restores a checkpoint, always as an addition to history (I7).
import { mkdirSync, rmdirSync } from 'node:fs'
import * as z from 'zod/mini'
import {
  type AgentConversation,
  type FilesCheckpoint,
  fsPath,
  hasCode,
  type ObjectId,
  printablePath,
  type Project,
  SavestateError,
} from '../../model/index.js'
import { describeTarget } from '../checkpoints/describe-target.js'
import { withFilesHere } from '../checkpoints/files-here.js'
import { resolve, withFiles } from '../checkpoints/resolve-ref.js'
import { keepMine } from '../merge/keep-mine.js'
import { hunksRequest } from '../merge/rewind-hunks.js'
import type { Callbacks } from '../operation/callbacks.js'
import { retryUntilConfirmed } from '../operation/confirm-unlocked.js'
import { findKnownProject, type StoreContext } from '../operation/context.js'
import { projectOperation } from '../operation/operation.js'
import { parseProjectPaths } from '../operation/project-path.js'
import { projectFolder } from '../projects/project-state.js'
import { refuseDamagedFiles } from '../verify/damage-marks.js'
import { notRestoredSince } from './not-restored.js'
import { outsideEffects } from '../outside/index.js'
import { type RestoreRequest, type RestoreResult, restore } from './restore.js'
import { GONE, readRootInode } from './restore-journal.js'
import { checkpointBefore, readLeftOut, resolveTarget, viewTarget } from './rewind-target.js'

export type RewindResult = RestoreResult

export const rewind = projectOperation({
  name: 'rewind',
  summary: 'Bring the folder back to a checkpoint',
  effect: 'changes-files',
  input: () =>
    z.strictObject({
      to: z.string(),
      /** Restore the folder from before the tool call that the checkpoint names. */
      before: z._default(z.boolean(), false),
      /** Files or folders, relative to the project. */
      paths: z.optional(z.array(z.string())),
      /** Keep the user's own changes since the checkpoint. */
      keepMine: z._default(z.boolean(), false),
      /** Takes back only these changes since the checkpoint. */
      hunks: z.optional(z.array(hunkChoice())),
      dryRun: z._default(z.boolean(), false),
      /** The conversation that the caller rewinds too; an undo reports it. */
      conversation: z.optional(z.strictObject({ agent: z.string(), session: z.string() })),
    }),
  async run(
    context,
    { to, before, paths, keepMine, hunks, dryRun, conversation },
    callbacks,
  ): Promise<RewindResult> {
    const project = findKnownProject(context)
    if (hunks !== undefined && (paths !== undefined || keepMine)) throw tooManyChoices()
    const limits = parseProjectPaths(paths)
    const { id, session } = await withFilesHere(context, resolveTarget(context, project, to))
    const previous =
      before && session !== null
        ? context.ledger.checkpoints.byStep(session.key, session.step - 1)
        : undefined
    if (previous !== undefined) await withFilesHere(context, previous)
    if (project === undefined) throw new Error('A checkpoint was found without its project')
    // A dry run creates no folder, and fails like every plan without one.
    let isUnused = !dryRun && createIfGone(context, project, callbacks)
    const attempt = async (agreed: string | undefined) => {
      const named = resolve(context.ledger, project, id)
      const target = withFiles(before ? checkpointBefore(context.ledger, named) : named)
      const given = { paths: limits, keepMine, dryRun, conversation }
      const request = makeRewindRequest(context, project, { target, callbacks, ...given })
      const chosen = hunks === undefined ? {} : hunksRequest(context, project, { target, hunks })
      return restore(context, project, { request: { ...request, ...chosen }, callbacks, agreed })
    }
    try {
      const how = { purpose: 'rewind', callbacks, attempt }
      const result = await retryUntilConfirmed(context, project, how)
      // A checkpoint of an empty folder leaves it empty.
      if (result.applied) isUnused = false
      return result
    } finally {
      if (isUnused) removeIfEmpty(project)
    }
  },
})

function hunkChoice() {
  const index = () => z.int().check(z.minimum(0))
  return z.strictObject({
    path: z.string(),
    mark: z.string(),
    context: z.optional(index()),
    hunks: z.union([
      z.literal('all'),
      z.array(z.union([index(), z.strictObject({ hunk: index(), lines: z.array(index()) })])),
    ]),
  })
}

function tooManyChoices(): SavestateError {
  return new SavestateError(
    'BAD_INPUT',
    'A rewind takes `hunks`, or `paths` and `keepMine`, not both',
  )
}

/** The request that a rewind of the project and a rewind of a session share. Throws CHECKPOINT_DAMAGED. */
export function makeRewindRequest(
  context: StoreContext,
  project: Project,
  {
    target,
    paths,
    keepMine: keepsMine,
    dryRun,
    callbacks,
    conversation,
  }: Pick<RestoreRequest, 'paths' | 'dryRun'> & {
    readonly target: FilesCheckpoint
    readonly callbacks: Callbacks
    readonly keepMine: boolean
    readonly conversation?: AgentConversation | undefined
  },
): RestoreRequest {
  const { ledger } = context
  const { tree } = target.snapshot
  const keep = (now: ObjectId) =>
    keepMine(context, project, { target: target.id, tree, paths, now, callbacks })
  refuseDamagedFiles(ledger, target, paths)
  return {
    kind: 'rewind',
    of: null,
    target: target.id,
    goal: tree,
    ...(keepsMine ? { makeGoal: keep } : {}),
    leftOut: readLeftOut(ledger, target.id),
    ownersThen: ledger.checkpoints.details(target.id)?.owners,
    paths,
    only: undefined,
    reason: `rewind to ${describeTarget(target)}`,
    keepMine: keepsMine,
    dryRun,
    subject: {
      to: viewTarget(ledger, target),
      notRestored: notRestoredSince(ledger, target, paths),
      outside: outsideEffects(ledger.checkpoints.outsideSince(target)),
    },
    rewind: { target: target.id, ...(conversation === undefined ? {} : { conversation }) },
  }
}

/**
 * If the folder of the project is gone, the rewind plans into an empty one. Returns whether it was created. Throws
 * PROJECT_MISSING if the folder may be on a disk that is not mounted.
 */
function createIfGone(context: StoreContext, project: Project, callbacks: Callbacks): boolean {
  if (readRootInode(project) !== GONE) return false
  refuseUnreachable(context, project)
  mkdirSync(fsPath(project.path))
  callbacks.onWarning?.(`${printablePath(project.path)} no longer existed; it was created again.`)
  return true
}

function refuseUnreachable({ ledger }: StoreContext, { id, path }: Project): void {
  const summary = ledger.projects().find(({ project }) => project.id === id)
  const unreachable = summary === undefined ? null : projectFolder(path, summary).unreachable
  if (unreachable === null) return
  throw new SavestateError(
    'PROJECT_MISSING',
    `There is no folder ${printablePath(path)}, and ${unreachable}`,
    { hint: 'If the folder was removed, create it with mkdir, then run the command again.' },
  )
}

function removeIfEmpty({ path }: Project): void {
  try {
    rmdirSync(fsPath(path))
  } catch (error) {
    if (!hasCode(error, 'ENOTEMPTY', 'EEXIST', 'ENOENT')) throw error
  }
}
