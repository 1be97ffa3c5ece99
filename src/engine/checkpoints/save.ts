// Saves the folder. Adds no checkpoint if nothing changed.
import * as z from 'zod/mini'
import {
  type FilesCheckpoint,
  type NamedBy,
  parseReason,
  USER_AUTHOR,
  type Project,
} from '../../model/index.js'
import { failpoint } from '../../system/index.js'
import { captureForRecord } from './capture.js'
import { ensureProject, findKnownProject, type StoreContext } from '../operation/context.js'
import { checkName } from './checkpoint-name.js'
import type { Callbacks } from '../operation/callbacks.js'
import { attributeChanges } from '../authorship/note-authors.js'
import { isSameAsCheckpoint } from './is-unchanged.js'
import { projectOperation } from '../operation/operation.js'
import { recordCheckpoint } from './record-checkpoint.js'
import { withRecoveredProject } from '../restore/recover.js'
import { type CheckpointView, viewCheckpoint } from './views.js'

export type SaveResult = CheckpointView & {
  /** False when nothing had changed: the result is the newest existing checkpoint. */
  readonly created: boolean
}

type SaveRequest = {
  readonly reason: string | null
  readonly name: string | null
  readonly namedBy: NamedBy
  readonly author: string
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
    const reason = input.reason === undefined ? null : parseReason(input.reason)
    const { author, namedBy } = input
    // Check the name before the project gets its row, so that a wrong name leaves nothing behind.
    const known = findKnownProject(context)?.id
    const name =
      input.name === undefined ? null : checkName(context, known, { name: input.name, by: namedBy })
    const project = ensureProject(context)
    return withRecoveredProject(context, project, {
      purpose: 'save',
      callbacks,
      work: () =>
        captureAndSave(context, project, { request: { reason, name, namedBy, author }, callbacks }),
    })
  },
})

/** The caller holds the project's lock. */
async function captureAndSave(
  context: StoreContext,
  project: Project,
  { request, callbacks }: { readonly request: SaveRequest; readonly callbacks: Callbacks },
): Promise<SaveResult> {
  const newest = context.ledger.checkpoints.newestFiles(project.id)
  const captured = await captureForRecord(context, project, callbacks)
  failpoint('save:captured')
  const { author, namedBy, ...facts } = request
  const attribution = attributeChanges(context, project, { type: 'said', who: [author] })
  if (isSameAsCheckpoint(context, newest, captured)) {
    const named = nameUnchanged(context, newest, request)
    if (named !== undefined) {
      attribution.recordNoChange()
      context.ledger.projectRecords.touch(project.id, context.clock.nowMs())
      return { ...viewCheckpoint(named), created: false }
    }
  }
  const checkpoint = await recordCheckpoint(context, project, {
    captured,
    facts: {
      ...facts,
      kind: 'save',
      previous: newest?.snapshot.tree,
      authors: attribution.authors,
    },
    also(made) {
      attribution.made(made)
      if (facts.name !== null && namedBy === 'agent')
        context.ledger.nameOwners.record(made, namedBy)
    },
  })
  return { ...viewCheckpoint(checkpoint), created: true }
}

/**
 * Gives the unchanged checkpoint the requested name. Returns undefined if it already has another name: then `save` makes
 * a second checkpoint of the same files, so that both names exist.
 */
function nameUnchanged(
  { ledger }: StoreContext,
  newest: FilesCheckpoint,
  { name, namedBy }: Pick<SaveRequest, 'name' | 'namedBy'>,
): FilesCheckpoint | undefined {
  if (name === null) return newest
  if (newest.name !== null && newest.name !== name) return undefined
  ledger.transaction(() => {
    ledger.checkpoints.setName(newest.id, name)
    ledger.nameOwners.record(newest.id, namedBy)
  })
  return { ...newest, name }
}
