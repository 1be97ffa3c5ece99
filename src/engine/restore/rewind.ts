// Restores a checkpoint, always as an addition to history (I7).
import * as z from 'zod/mini'
import type { Ledger } from '../../ledger/index.js'
import {
  type AgentConversation,
  type BytePath,
  type FilesCheckpoint,
  parsePathText,
  SavestateError,
} from '../../model/index.js'
import { findKnownProject } from '../operation/context.js'
import { refuseDamagedFiles } from '../verify/damage-marks.js'
import { describeTarget } from '../checkpoints/describe-target.js'
import { notRestoredSince } from './not-restored.js'
import { projectOperation } from '../operation/operation.js'
import { inExistingFolder } from './recreate-folder.js'
import { resolve, withFiles } from '../checkpoints/resolve-ref.js'
import { type RestoreRequest, type RestoreResult, restore } from './restore.js'
import { checkpointBefore, readLeftOut, resolveTarget, viewTarget } from './rewind-target.js'
import { retryUntilConfirmed } from '../operation/confirm-unlocked.js'

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
    const limits =
      paths === undefined || paths.length === 0 ? undefined : paths.map(parseProjectPath)
    const { id } = resolveTarget(context, project, to)
    if (project === undefined) throw new Error('A checkpoint was found without its project')
    return inExistingFolder({ context, project, dryRun, callbacks }, () =>
      retryUntilConfirmed(context, project, {
        purpose: 'rewind',
        callbacks,
        attempt: async (agreed) => {
          const named = resolve(context.ledger, project, id)
          const target = withFiles(before ? checkpointBefore(context.ledger, named) : named)
          refuseDamagedFiles(context.ledger, target, limits)
          return restore(context, project, {
            request: makeRewindRequest(context.ledger, target, {
              paths: limits,
              keepMine,
              dryRun,
              conversation,
            }),
            callbacks,
            agreed,
          })
        },
      }),
    )
  },
})

/** The request that a rewind of the project and a rewind of a session share. */
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
    },
    rewind: { target: target.id, ...(conversation === undefined ? {} : { conversation }) },
  }
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
