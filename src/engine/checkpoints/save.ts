// Saves the folder. Adds no checkpoint if nothing changed.
import * as z from 'zod/mini'
import { type FilesCheckpoint, type NamedBy, parseReason, USER_AUTHOR } from '../../model/index.js'
import { failpoint } from '../../system/index.js'
import { ensureProject, findKnownProject, type StoreContext } from '../operation/context.js'
import { checkName } from './pin-and-name.js'
import { attributeChanges } from '../authorship/note-authors.js'
import { captureForRecord, isSameAsCheckpoint } from './capture.js'
import { projectOperation } from '../operation/operation.js'
import { recordCheckpoint } from './record-checkpoint.js'
import { withRecoveredProject } from '../restore/recover.js'
import { type CheckpointView, viewCheckpoint } from './views.js'

export type SaveResult = CheckpointView & {
  /** False when nothing had changed: the result is the newest existing checkpoint. */
  readonly created: boolean
}

export const save = projectOperation({
  name: 'save',
  summary: 'Save the folder',
  effect: 'adds',
  input: () =>
    z.strictObject({
      reason: z.optional(z.string()),
      name: z.optional(z.string()),
      namedBy: z._default(z.enum(['user', 'agent']), 'user'),
      /** The author of all changes since the last capture. */
      author: z._default(z.string().check(z.minLength(1), z.maxLength(100)), USER_AUTHOR),
    }),
  async run(context, input, callbacks): Promise<SaveResult> {
    const { author, namedBy } = input
    const reason = input.reason === undefined ? null : parseReason(input.reason)
    // Check the name before the project gets its row, so that a wrong name leaves nothing behind.
    const known = findKnownProject(context)?.id
    const name =
      input.name === undefined ? null : checkName(context, known, { name: input.name, by: namedBy })
    const project = ensureProject(context)
    const work = async (): Promise<SaveResult> => {
      const newest = context.ledger.checkpoints.newestFiles(project.id)
      const captured = await captureForRecord(context, project, callbacks)
      failpoint('save:captured')
      const attribution = attributeChanges(context, project, { type: 'said', who: [author] })
      if (isSameAsCheckpoint(context, newest, captured)) {
        const named = nameUnchanged(context, newest, { name, namedBy })
        if (named !== undefined) {
          attribution.recordNoChange()
          context.ledger.projectRecords.touch(project.id, context.clock.nowMs())
          return { ...viewCheckpoint(named), created: false }
        }
      }
      const { authors } = attribution
      const previous = newest?.snapshot.tree
      const checkpoint = await recordCheckpoint(context, project, {
        captured,
        facts: { name, reason, kind: 'save', previous, authors },
        also(made) {
          attribution.made(made)
          if (name !== null && namedBy === 'agent') context.ledger.nameOwners.record(made, namedBy)
        },
      })
      return { ...viewCheckpoint(checkpoint), created: true }
    }
    return withRecoveredProject(context, project, { purpose: 'save', callbacks, work })
  },
})

/**
 * Gives the unchanged checkpoint the requested name. Returns undefined if it already has another name: then `save` makes
 * a second checkpoint of the same files, so that both names exist.
 */
function nameUnchanged(
  { ledger }: StoreContext,
  newest: FilesCheckpoint,
  { name, namedBy }: { readonly name: string | null; readonly namedBy: NamedBy },
): FilesCheckpoint | undefined {
  if (name === null) return newest
  if (newest.name !== null && newest.name !== name) return undefined
  ledger.transaction(() => {
    ledger.checkpoints.setName(newest.id, name)
    ledger.nameOwners.record(newest.id, namedBy)
  })
  return { ...newest, name }
}
