// Saves the folder. Nothing changed, nothing added.
import * as z from 'zod/mini'
import {
  type FilesCheckpoint,
  type NamedBy,
  parseReason,
  PERSON,
  type Project,
} from '../../model/index.js'
import { failpoint } from '../../system/index.js'
import { captureForRecord } from './capture.js'
import { ensureProject, knownProject, type StoreContext } from '../operation/context.js'
import { checkName } from './checkpoint-name.js'
import type { Hooks } from '../operation/callbacks.js'
import { lookAt } from '../authorship/note-authors.js'
import { hasNothingNew } from './is-unchanged.js'
import { projectOperation } from '../operation/operation.js'
import { recordCheckpoint } from './record-checkpoint.js'
import { withRecoveredProject } from '../restore/recover.js'
import { type CheckpointView, viewCheckpoint } from './views.js'

export type SaveResult = CheckpointView & {
  /** False when nothing had changed: the checkpoint is the newest that was there. */
  readonly created: boolean
}

type SaveFacts = {
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
      /** Who has changed the folder since it was last looked at. */
      author: z._default(z.string().check(z.minLength(1), z.maxLength(100)), PERSON),
    }),
  async run(context, input, hooks): Promise<SaveResult> {
    const reason = input.reason === undefined ? null : parseReason(input.reason)
    const { author, namedBy } = input
    // Before the project is recorded: a wrong name leaves nothing behind.
    const known = knownProject(context)?.id
    const name =
      input.name === undefined ? null : checkName(context, known, { name: input.name, by: namedBy })
    const project = ensureProject(context)
    return withRecoveredProject(context, project, {
      purpose: 'save',
      hooks,
      work: () => saveHere(context, project, { facts: { reason, name, namedBy, author }, hooks }),
    })
  },
})

async function saveHere(
  context: StoreContext,
  project: Project,
  { facts, hooks }: { readonly facts: SaveFacts; readonly hooks: Hooks },
): Promise<SaveResult> {
  const capturing = captureForRecord(context, project, hooks)
  // Under the lock nobody else adds one.
  const newest = await meanwhile(capturing, () =>
    context.ledger.checkpoints.newestFiles(project.id),
  )
  const captured = await capturing
  failpoint('save:captured')
  const { author, namedBy, ...said } = facts
  const look = lookAt(context, project, { type: 'said', who: [author] })
  if (hasNothingNew(context, newest, captured)) {
    const named = nameUnchanged(context, newest, facts)
    if (named !== undefined) {
      look.foundNothing()
      context.ledger.projectRecords.touch(project.id, context.clock.nowMs())
      return { ...viewCheckpoint(named), created: false }
    }
  }
  const checkpoint = await recordCheckpoint(context, project, {
    captured,
    facts: { ...said, kind: 'save', previous: newest?.snapshot.tree, authors: look.authors },
    also(made) {
      look.made(made)
      if (said.name !== null && namedBy === 'agent') context.ledger.nameOwners.record(made, namedBy)
    },
  })
  return { ...viewCheckpoint(checkpoint), created: true }
}

/** What can be asked while a capture is under way. If that fails, the capture comes to its end first: it needs the lock. */
async function meanwhile<T>(capturing: Promise<unknown>, ask: () => T): Promise<T> {
  try {
    return ask()
  } catch (error) {
    await capturing.catch(() => undefined)
    throw error
  }
}

/**
 * The unchanged checkpoint under the wished name. Undefined if it has another name already: then both names
 * must be, so a second checkpoint of the same files is made.
 */
function nameUnchanged(
  { ledger }: StoreContext,
  newest: FilesCheckpoint,
  { name, namedBy }: Pick<SaveFacts, 'name' | 'namedBy'>,
): FilesCheckpoint | undefined {
  if (name === null) return newest
  if (newest.name !== null && newest.name !== name) return undefined
  ledger.transaction(() => {
    ledger.checkpoints.setName(newest.id, name)
    ledger.nameOwners.record(newest.id, namedBy)
  })
  return { ...newest, name }
}
