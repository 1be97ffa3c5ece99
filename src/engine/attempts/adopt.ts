// Brings the files of a fork back into the project that it was forked from: one rewind, which `undo` takes back.
import * as z from 'zod/mini'
import {
  pathText,
  type Project,
  SavestateError,
  type Session,
  USER_AUTHOR,
} from '../../model/index.js'
import { save } from '../checkpoints/save.js'
import { viewCheckpoint } from '../checkpoints/views.js'
import { retryUntilConfirmed } from '../operation/confirm-unlocked.js'
import { findKnownProject, type ProjectContext } from '../operation/context.js'
import { projectOperation } from '../operation/operation.js'
import { isExistingFolder } from '../projects/locate-project.js'
import { type RestoreResult, restore } from '../restore/restore.js'
import { makeRewindRequest } from '../restore/rewind.js'
import { findAttempt } from './find-attempt.js'

export type AdoptResult = RestoreResult & {
  /** The session of the fork. */
  readonly fork: string
}

export const adopt = projectOperation({
  name: 'adopt',
  summary: 'Bring the files of a fork back into this project',
  effect: 'changes-files',
  input: () => z.strictObject({ fork: z.string(), dryRun: z._default(z.boolean(), false) }),
  async run(context, input, callbacks): Promise<AdoptResult> {
    const { project, session, own } = await findFork(context, input.fork)
    // Its newest work may not be saved yet.
    if (isExistingFolder(pathText(own.path)))
      await save.run(
        { ...context, path: own.path },
        { ...SAVE, reason: `adopt ${session.id}` },
        callbacks,
      )
    const fork = session.id
    const result = await retryUntilConfirmed(context, project, {
      purpose: 'adopt',
      callbacks,
      attempt: async (agreed) => {
        const { newest } = await findAttempt(context, fork)
        const given = { paths: undefined, keepMine: false, dryRun: input.dryRun, callbacks }
        const request = {
          ...makeRewindRequest(context, project, { target: newest, ...given }),
          reason: `adopt ${fork}`,
          // The numbers and the uncaptured changes of the fork are not those of this project.
          subject: { to: { ...viewCheckpoint(newest), number: null } },
        }
        return restore(context, project, { request, callbacks, agreed })
      },
    })
    return { ...result, fork }
  },
})

const SAVE = { namedBy: 'user', author: USER_AUTHOR } as const

/** Only a fork of this project, with a folder of its own: other files would overwrite the project. */
async function findFork(
  context: ProjectContext,
  given: string,
): Promise<{ readonly project: Project; readonly session: Session; readonly own: Project }> {
  const project = findKnownProject(context)
  const { session, own } = await findAttempt(context, given)
  const from = session?.forkedFrom ?? null
  const origin = from === null ? undefined : context.ledger.checkpoints.get(from)
  // A prune may have removed the checkpoint that it was forked from.
  const isForeign = origin !== undefined && origin.project !== project?.id
  if (session !== undefined && own !== undefined && project !== undefined)
    if (from !== null && !isForeign) return { project, session, own }
  throw new SavestateError(
    'BAD_INPUT',
    `${JSON.stringify(given)} is not a fork of this project with a folder of its own`,
    {
      hint: '`savestate sessions` lists the sessions. `savestate rewind <ref>` goes back to a checkpoint.',
    },
  )
}
