// Restores a checkpoint, always as an addition to history (I7).
import { mkdirSync, rmdirSync } from 'node:fs'
import * as z from 'zod/mini'
import type { Ledger } from '../../ledger/index.js'
import {
  type AgentConversation,
  type BytePath,
  type FilesCheckpoint,
  fsPath,
  hasCode,
  parsePathText,
  printablePath,
  type Project,
  SavestateError,
} from '../../model/index.js'
import { describeTarget } from '../checkpoints/describe-target.js'
import { withFilesHere } from '../checkpoints/files-here.js'
import { resolve, withFiles } from '../checkpoints/resolve-ref.js'
import type { Callbacks } from '../operation/callbacks.js'
import { retryUntilConfirmed } from '../operation/confirm-unlocked.js'
import { findKnownProject, type StoreContext } from '../operation/context.js'
import { projectOperation } from '../operation/operation.js'
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
      dryRun: z._default(z.boolean(), false),
      /** The conversation that the caller rewinds too; an undo reports it. */
      conversation: z.optional(z.strictObject({ agent: z.string(), session: z.string() })),
    }),
  async run(
    context,
    { to, before, paths, keepMine, dryRun, conversation },
    callbacks,
  ): Promise<RewindResult> {
    const project = findKnownProject(context)
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
      const request = makeRewindRequest(context.ledger, target, given)
      return restore(context, project, { request, callbacks, agreed })
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

/** The request that a rewind of the project and a rewind of a session share. Throws CHECKPOINT_DAMAGED. */
export function makeRewindRequest(
  ledger: Ledger,
  target: FilesCheckpoint,
  {
    paths,
    keepMine,
    dryRun,
    conversation,
  }: Pick<RestoreRequest, 'paths' | 'dryRun'> & {
    readonly keepMine: boolean
    readonly conversation?: AgentConversation | undefined
  },
): RestoreRequest {
  refuseDamagedFiles(ledger, target, paths)
  return {
    kind: 'rewind',
    of: null,
    target: target.id,
    goal: target.snapshot.tree,
    leftOut: readLeftOut(ledger, target.id),
    ownersThen: ledger.checkpoints.details(target.id)?.owners,
    paths,
    only: undefined,
    reason: `rewind to ${describeTarget(target)}`,
    keepMine,
    dryRun,
    subject: {
      to: viewTarget(ledger, target),
      notRestored: notRestoredSince(ledger, target, paths),
      outside: outsideEffects(ledger.checkpoints.outsideSince(target)),
    },
    rewind: { target: target.id, ...(conversation === undefined ? {} : { conversation }) },
  }
}

/** Undefined means everything. */
export function parseProjectPaths(
  texts: readonly string[] | undefined,
): readonly BytePath[] | undefined {
  return texts === undefined || texts.length === 0 ? undefined : texts.map(parseProjectPath)
}

/** A path inside the project, as text (see pathText). Nothing may point outside (I4). */
export function parseProjectPath(text: string): BytePath {
  let path: BytePath
  try {
    path = parsePathText(text)
  } catch (cause) {
    throw new SavestateError(
      'BAD_INPUT',
      `${JSON.stringify(text)} is not a well-formed quoted path`,
      { cause },
    )
  }
  // An unset shell variable must not mean the whole project.
  if (path === '') {
    throw new SavestateError('BAD_INPUT', 'A path cannot be empty', {
      hint: 'Use "." for the whole project.',
    })
  }
  const names = path.split('/').filter((name) => name !== '' && name !== '.')
  if (path.startsWith('/') || names.includes('..') || path.includes('\0')) {
    throw new SavestateError('BAD_INPUT', `${JSON.stringify(text)} is not in the project`, {
      hint: 'Give the path relative to the project folder.',
    })
  }
  return names.join('/') as BytePath
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
